"""Split composite mentions, such as "breast and ovarian cancer".

The words alone don't show which of them the conjuncts share, so there are several interpretations.
The caller chooses the one whose parts link best.
"""

import re
from collections.abc import Iterable, Iterator, Set
from functools import cache, lru_cache
from itertools import chain, pairwise, zip_longest
from typing import NamedTuple

from ..lang import any_of
from .cleaning import drop_asides
from .words import Words, words_of

# Between the names of the parts of a mention.
PART_SEPARATOR = "|"
_MOST_COMPLETIONS = 3
_CACHED = 65_536
# The stem of a whole word, and a truncated word after it: "HSV-1 2", "HLA-A -B", "IL-1α β". Since
# stems are greedy, only the last letter of a Roman numeral is split off.
_STEMMED = re.compile(
    r"(.*[^\W\d_]-?)(?:\d+|[IVX]) -?(\d+[A-Za-z]?|[IVX]+)"
    r"|(.*[^\W_]-)[A-Z] -([A-Z])|(.*[^\W_]-?)[α-ω] -?([α-ω])"
)
_NUMERAL = r"(?:\d+[A-Za-z]?|[IVX]+[A-Da-d]?)"
_NUMBER = re.compile(rf"{_NUMERAL}(?:-{_NUMERAL})?|[A-Z]")


@lru_cache(_CACHED)
def shape(word: str) -> str:
    """Classify a word by its characters.

    RETURNS (str): "number" (1, IIa, C, II-III), "code" (C6, BRCA1, HIV) or "word".
    """
    if _NUMBER.fullmatch(word):
        return "number"
    is_code = any(map(str.isdigit, word)) or sum(map(str.isupper, word)) > 1
    return "code" if is_code else "word"


def _compile_separator(conjunctions: Iterable[str]) -> re.Pattern[str]:
    """Compile what may stand between conjuncts."""
    single = [word for word in conjunctions if " " not in word]
    several = (f"{one} ?/ ?{other}" for one in single for other in single if one != other)
    joints = "|".join([*sorted(several), *sorted(conjunctions), "&", r"\+"])
    return re.compile(
        rf"(?: ?[,;])? (?P<conjunction>{joints}) "
        r"| ?(?P<comma>[,;]) |(?<=[^\W\d_]{3})(?P<tight>[,;])(?=[^\W\d_]{3})"
        r"|(?<=[\w-]) ?(?P<slash>/) ?(?=-?\w)",
        re.IGNORECASE,
    )


def _with_stem(before: str, cut: str) -> str:
    """Add the stem of the word before to a truncated word.

    RETURNS (str): The completed word; the same word if it is whole.
    """
    match = _STEMMED.fullmatch(f"{before} {cut}")
    if match is None or shape(before) == "number":
        return cut
    return "".join(filter(None, match.groups()))


_MOST_INTERPRETATIONS = 4
_MOST_PARTS = 12
_MOST_WORDS = 12
_MOST_CHARACTERS = 500
_COST_MARGIN = 2

# A word before a number: "types 1 and 2".
_BEFORE_NUMBER = re.compile(r"\b[^\W\d_]+(?= (?:\d|[IVX]+[A-Da-d]?\b|[A-Z]\b))")
_BRACKETS_TO_SPACES = str.maketrans("()[]", "    ")
# Replaces a space inside an idiom; cleaned text has no NUL.
_JOINED = "\x00"


class _Cut(NamedTuple):
    """The number of words that the conjuncts share: the first words of the first one, the last
    words of the last one.
    """

    cost: int
    prefix: int
    suffix: int


def _repeats_word(text: str) -> bool:
    """Check for what no name has: "plasma plasma cell myeloma"."""
    return any(word == other for word, other in pairwise(text.lower().split()))


def _are_greek(*letters: str) -> bool:
    return all("\u03b1" <= letter <= "\u03c9" for letter in letters)


def _products(segments: list[list[str]]) -> Iterator[tuple[str, ...]]:
    """Combine each modifier with each head: "short fingers", "broad fingers", "short toes" and
    "broad toes" from "short, broad fingers and toes".

    YIELDS (Tuple[str, ...]): At most one interpretation.
    """
    longer = [place for place, words in enumerate(segments) if len(words) > 1]
    if len(longer) != 1 or not 0 < longer[0] < len(segments) - 1:
        return
    place = longer[0]
    *last, head = segments[place]
    modifiers = [*(" ".join(words) for words in segments[:place]), " ".join(last)]
    heads = [head, *(" ".join(words) for words in segments[place + 1 :])]
    if len(modifiers) * len(heads) <= _MOST_PARTS:
        yield tuple(f"{modifier} {head}" for head in heads for modifier in modifiers)


def _cost_of_phrases(prefix: int, suffix: int, lead: int, tail: int) -> int:
    """Compute the cost of an interpretation by its prepositional phrases, which are shared unless
    each side has its own.
    """
    if lead and tail:
        return 2 * bool(prefix) + 2 * bool(suffix)
    return 2 * (lead > 0 and not prefix) + (tail > 0 and not suffix)


class CompositeSplitter:
    """Splits the composite mentions of one language."""

    def __init__(self, words: Words) -> None:
        """Compile what separates conjuncts.

        words (Words): Reads the words of the language.
        """
        self._words = words
        self._classes = words.classes
        self._combining_forms = sorted(self._classes.combining_forms, key=len, reverse=True)
        self._compound_heads = sorted(self._classes.compound_heads, key=len, reverse=True)
        self._separator = _compile_separator(self._classes.conjunctions)
        grade = any_of(self._classes.grades)
        self._range = re.compile(
            rf"\b({grade})[ -]{any_of(self._classes.range_words)}[ -](?={grade}\b)", re.IGNORECASE
        )
        # What every composite has.
        self.signs = re.compile(f"{self._separator.pattern}|{self._range.pattern}", re.IGNORECASE)
        # A phrase that is a single conjunct of a longer coordination, with or without commas.
        idioms = any_of(self._classes.idioms).replace(r"\ ", ",? ")
        self._idiom = re.compile(rf"\b{idioms}\b", re.IGNORECASE)

    def restore_words(self, segments: list[list[str]]) -> list[list[list[str]]]:
        """Complete the truncated words of a coordination: "T-" in "T- and B-cell lymphoma", and "2"
        in "HSV-1 and 2" or "BRCA1/2", but not in "III/IV"; "hypo" in "hypo/hyperthyroidism";
        "Kopf-" in "Kopf- und Bauchschmerzen", and "-zysten" in "Nierensteine und -zysten".

        segments (List[List[str]]): The words of each conjunct, at least one each.
        RETURNS (List[List[List[str]]]): Completions of the same shape, best first; just the
            segments if no word is truncated.
        """
        segments = self._complete_ends(segments)
        completions: list[list[list[str]]] = []
        for choice in range(_MOST_COMPLETIONS):
            completed = self._complete_beginnings(segments, choice)
            if completed not in completions:
                completions.append(completed)
        return completions

    def _complete_ends(self, segments: list[list[str]]) -> list[list[str]]:
        completed = [segments[0]]
        for segment in segments[1:]:
            before, cut = completed[-1][-1], segment[0]
            head = self._head_of(before)
            if head and cut.startswith("-"):
                whole = before.removesuffix(head) + cut.removeprefix("-")
            else:
                whole = _with_stem(before, cut)
            completed.append([whole, *segment[1:]])
        return completed

    def _complete_beginnings(self, segments: list[list[str]], choice: int) -> list[list[str]]:
        completed: list[list[str]] = []
        base = ""
        for segment in reversed(segments):
            cut = segment[-1]
            if base and self._is_cut(cut, base):
                whole = self._whole_words(cut.removesuffix("-"), base)
                segment = [*segment[:-1], whole[min(choice, len(whole) - 1)]]
            else:
                base = segment[0]
            completed.append(segment)
        return completed[::-1]

    def _is_cut(self, word: str, base: str) -> bool:
        """Check whether a word before `base` is truncated: "T-", or "hypo" before
        "hyperthyroidism".
        """
        is_form = word.lower() in self._combining_forms
        return (len(word) > 1 and word.endswith("-")) or (is_form and bool(self._form_of(base)))

    def _form_of(self, word: str) -> str:
        """Find the combining form that a longer word starts with.

        RETURNS (str): The form; empty if there is none.
        """
        starts = (form for form in self._combining_forms if word.lower().startswith(form))
        return next((form for form in starts if len(form) < len(word)), "")

    def _head_of(self, word: str) -> str:
        """Find the word of its own that a compound ends with.

        RETURNS (str): The end, as written; empty if there is none.
        """
        ends = (head for head in self._compound_heads if word.lower().endswith(head))
        return next((word[-len(head) :] for head in ends if len(head) < len(word)), "")

    def _whole_words(self, beginning: str, base: str) -> list[str]:
        """Complete "hyper" by "hypothyroidism", in several ways, best first."""
        if "-" in base.strip("-"):
            first, last = base.partition("-")[2], base.rpartition("-")[2]
            return [f"{beginning}-{last}", f"{beginning}-{first}"]
        if head := self._head_of(base):
            return [beginning + head]
        form = self._form_of(base)
        if form:
            return [beginning + base[len(form) :]]
        # "thrombo-" ends with a linking vowel, so "leuko|cytopenia" is split after the same vowel.
        joints = [place for place in range(2, len(base) - 2) if base[place] == beginning[-1]]
        guessed = [beginning + base[place + 1 :] for place in joints[: _MOST_COMPLETIONS - 1]]
        return [*guessed, beginning]

    def split(self, text: str) -> list[tuple[str, ...]]:
        """Split a composite mention into its parts. Shared words are repeated as written, so plural
        heads stay plural ("ovarian cancers"): ontologies have both forms and encoders hardly
        distinguish them; otherwise use the step "plurals". But "types 1 and 2" become "type 1" and
        "type 2".

        text (str): A cleaned text. "Mild to moderate" is "mild and moderate".
        RETURNS (List[Tuple[str, ...]]): At most four interpretations of two to twelve parts, best
            first; empty if the text is not a composite, or too long for a mention.
        """
        if len(text) > _MOST_CHARACTERS:
            return []
        text = self._range.sub(r"\1/", text)
        if not self._separator.search(text):
            return []
        text = _BEFORE_NUMBER.sub(self._without_plural, self._without_asides(text))
        levels = [self._interpretations(segments) for segments in self._segmentations(text)]
        # The best interpretations of all levels come before the second best of any.
        ranked = chain.from_iterable(zip_longest(*levels, fillvalue=()))
        distinct = dict.fromkeys(parts for parts in ranked if parts)
        several = (parts for parts in distinct if len(set(parts)) > 1)
        sound = [parts for parts in several if not any(map(_repeats_word, parts))]
        return sound[:_MOST_INTERPRETATIONS]

    def _without_plural(self, match: re.Match[str]) -> str:
        singular = self._words.orthography.drop_plurals(match[0])
        return singular if singular.lower() in self._classes.numbered else match[0]

    def _without_asides(self, text: str) -> str:
        """Drop bracketed remarks, or only the brackets if the coordination is inside them."""
        bare = drop_asides(text)
        if self._separator.search(bare):
            return bare
        return " ".join(text.translate(_BRACKETS_TO_SPACES).split())

    def _segmentations(self, text: str) -> Iterator[list[list[str]]]:
        """Split at all separators; if there are exactly two conjunctions, also at each of them
        alone.
        """
        separators = self._separators(text)
        if len(separators) > 1:
            text = self._idiom.sub(lambda match: match[0].replace(" ", _JOINED), text)
            separators = self._separators(text)
        yield from self._segmented(text, separators)
        if len(separators) == 2 and all(one["conjunction"] for one in separators):
            for one in separators:
                yield from self._segmented(text, [one])

    def _segmented(self, text: str, separators: list[re.Match[str]]) -> Iterator[list[list[str]]]:
        if not 0 < len(separators) < _MOST_PARTS:
            return
        borders = [0, *chain.from_iterable(match.span() for match in separators), len(text)]
        first, *others = (
            text[start:end].split() for start, end in zip(borders[::2], borders[1::2], strict=True)
        )
        repeated = self._classes.prepositions.intersection(first)
        plain = (self._without_first(words, repeated) for words in others)
        segments = [
            self._without_first(words, self._classes.determiners) for words in (first, *plain)
        ]
        if all(0 < len(segment) <= _MOST_WORDS for segment in segments):
            yield segments

    def _without_first(self, words: list[str], small: Set[str]) -> list[str]:
        """Drop an article, or a preposition that the first conjunct has: "cancer of the breast and
        of the ovary".
        """
        return words[len(words) > 1 and words[0].lower() in small :]

    def _separators(self, text: str) -> list[re.Match[str]]:
        separators = [
            match for match in self._separator.finditer(text) if self._separates(text, match)
        ]
        conjunctions = [place for place, match in enumerate(separators) if match["conjunction"]]
        if not conjunctions:
            return separators if self._is_list(text, separators) else []
        # A comma after the last conjunction starts a qualifier: "breast and ovarian cancer,
        # familial".
        last = conjunctions[-1]
        listed = [
            match for match in separators[: last + 1] if not self._starts_qualifier(text, match)
        ]
        return listed + [match for match in separators[last + 1 :] if match["slash"]]

    def _starts_qualifier(self, text: str, match: re.Match[str]) -> bool:
        """Check whether a comma precedes a qualifier: "diabetes, type 1 and 2"."""
        if not match["comma"]:
            return False
        return text[match.end() :].split()[0].lower() in self._classes.qualifiers

    def _separates(self, text: str, match: re.Match[str]) -> bool:
        """Check whether a slash separates conjuncts, as in "hepatic/renal", "C6/C7", "C6/7", "type
        1/2" and "hepatitis B/C", but not in "a 1/2", "s/p" and "mg/dl".
        """
        if not match["slash"]:
            return True
        *before, left = text[: match.start()].split()
        right = text[match.end() :].split()[0]
        if before and shape(left) == shape(right) == "number":
            kind = self._words.orthography.drop_plurals(before[-1].lower())
            return not left.isdigit() or kind in self._classes.numbered
        if len(left) < 2 or left.isdigit():
            return False
        cut = right.removeprefix("-")
        if cut.isdigit() or len(cut) < 2:
            return shape(left[-1]) == shape(cut) == "number" or _are_greek(left[-1], cut)
        return len(left) > 2 or len(right) > 2 or shape(left) == shape(right) == "code"

    def _is_list(self, text: str, separators: list[re.Match[str]]) -> bool:
        """Check whether commas without a conjunction form a list, that is, none of them precedes a
        qualifier.
        """
        if not any(match["comma"] or match["tight"] for match in separators):
            return True
        borders = [match.end() for match in separators] + [len(text)]
        return not any(self._qualifies(text[start:end]) for start, end in pairwise(borders))

    def _qualifies(self, segment: str) -> bool:
        words = segment.rstrip(" ,;/").split()
        return not words or (
            words[0].lower() in self._classes.qualifiers
            or self._words.is_modifier(words[-1])
            or shape(words[-1]) == "number"
        )

    def _interpretations(self, segments: list[list[str]]) -> list[tuple[str, ...]]:
        by_completion = [
            [self._parts(completed, cut) for cut in self._ranked_cuts(completed)]
            for completed in self.restore_words(segments)
        ]
        ranked = [parts for rank in zip_longest(*by_completion) for parts in rank if parts]
        products = list(_products(segments))
        return [*ranked[: _MOST_INTERPRETATIONS - len(products)], *products]

    def _ranked_cuts(self, segments: list[list[str]]) -> list[_Cut]:
        first, last = segments[0], segments[-1]
        lead, tail = self._lead(first), self._tail(last)
        cuts = []
        for prefix in (0, *range(lead or 1, len(first))):
            for suffix in (0, *range(tail or 1, len(last))):
                cost = _cost_of_phrases(prefix, suffix, lead, tail)
                core = first[lead if prefix else 0 :]
                end = last[: len(last) - tail] if suffix else last
                inner_prefix = prefix - lead if prefix else 0
                inner_suffix = suffix - tail if suffix else 0
                cost += self._cost_of_words(core, end, inner_prefix, inner_suffix)
                cuts.append(_Cut(cost, prefix, suffix))
        # In the first one, nothing is shared.
        uncut, best = cuts[0], min(cuts).cost
        likely = [cut for cut in sorted(cuts) if cut.cost <= best + _COST_MARGIN]
        likely = likely[:_MOST_INTERPRETATIONS]
        if uncut in likely or not (lead or tail) or not self._are_whole(first, last):
            return likely
        return [*likely[: _MOST_INTERPRETATIONS - 1], uncut]

    def _are_whole(self, first: list[str], last: list[str]) -> bool:
        """Check whether conjuncts may share nothing: "shortness of breath and chest pain", but not
        "cancer of the breast and ovary", nor "acute and chronic inflammation of the skin". A name
        with "with" tends to be one concept: "ataxia with apraxia and low albumin".
        """
        if any(word.lower() in self._classes.joining_words for word in [*first, *last]):
            return False
        has_noun = len(last) > 1 or self._words.is_head(last[0])
        return has_noun and shape(last[0]) == "word" and not self._words.is_modifier(first[-1])

    def _lead(self, words: list[str]) -> int:
        """Count the words up to the last preposition and its article: "cancer of the" in "cancer of
        the breast and ovary".
        """
        for place in range(len(words) - 2, 0, -1):
            if words[place].lower() in self._classes.prepositions:
                return len(words) - len(
                    self._without_first(words[place + 1 :], self._classes.determiners)
                )
        return 0

    def _tail(self, words: list[str]) -> int:
        """Count the words from the first preposition on: "of the lip" in "sinuses of the lip"."""
        for place in range(1, len(words) - 1):
            if words[place].lower() in self._classes.prepositions:
                return len(words) - place
        return 0

    def _cost_of_words(self, first: list[str], last: list[str], prefix: int, suffix: int) -> int:
        """Compute the cost of an interpretation by its words: conjuncts have similar lengths and
        shapes; nouns can be alone, modifiers can't.
        """
        head, one, other = first[-1], first[prefix:], last[: len(last) - suffix]
        shares_start = self._words.is_head_first or self._words.is_modifier(first[0])
        cost = abs(len(one) - len(other)) + (prefix > 0 and not shares_start)
        cost += not suffix and len(last) > 1 and not self._words.is_head(head)
        if suffix and (self._words.is_head(head) or head.lower() == last[-1].lower()):
            cost += 3
        if not suffix and self._words.is_modifier(head) and not self._words.is_modifier(last[-1]):
            cost += 3
        for left, right in ((one[0], other[0]), (one[-1], other[-1])):
            if shape(left) != shape(right):
                cost += 3 if "number" in (shape(left), shape(right)) else 1
        return cost

    def _parts(self, segments: list[list[str]], cut: _Cut) -> tuple[str, ...]:
        first, last = segments[0], segments[-1]
        before, behind = first[: cut.prefix], last[len(last) - cut.suffix :]
        conjuncts = [first[cut.prefix :], *segments[1:-1], last[: len(last) - cut.suffix]]
        whole = [self._words.is_head(conjunct[-1]) for conjunct in conjuncts[:-1]]
        parts = []
        for conjunct, stands_alone in zip(conjuncts, [*whole, False], strict=True):
            shared = [] if stands_alone and not all(whole) else behind
            parts.append(" ".join([*before, *conjunct, *shared]).replace(_JOINED, " "))
        return tuple(dict.fromkeys(parts))


@cache
def composite_splitter(code: str) -> CompositeSplitter:
    """Get what splits the composite mentions of a language.

    code (str): ISO 639-1, as in `nlp.lang`.
    RETURNS (CompositeSplitter): The same object for the same language.
    """
    return CompositeSplitter(words_of(code))


def split_composite(text: str, code: str) -> list[tuple[str, ...]]:
    """Split a composite mention into its parts; see `CompositeSplitter.split`.

    text (str): A cleaned text.
    code (str): Its language, as in `nlp.lang`.
    RETURNS (List[Tuple[str, ...]]): At most four interpretations of two to twelve parts, best
        first; empty if the text is not a composite, or too long for a mention.
    """
    return composite_splitter(code).split(text)

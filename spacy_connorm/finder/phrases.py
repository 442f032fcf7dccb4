"""What joins the words of a text: conjunctions, prepositions, line breaks, and the verbs of
statements, which say no more than "is": "liver was not found to be enlarged".
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import chain, pairwise

from ..lang import any_of
from ..text.cleaning import lower_in_place
from ..text.words import MOST_READERS, Words

# A word or a sign.
TOKEN = re.compile(r"\w+|[^\w\s]")
_SIGNS = frozenset("&/")
_COMMA, _COLON = ",", ":"
_PLUS, _AND = " + ", " & "
# Between two parts of a name, "fracture - femur", or two items of a list.
DASH = re.compile(r"\s[-–—]\s")
# Separators of lines and list items. A line that breaks before or after "of" continues.
_BORDER = re.compile(r"\n|\s[-–—#*•]\s")


def tokens_of(text: str) -> list[str]:
    """Split a text into words and signs.

    RETURNS (List[str]): In order, as written.
    """
    return TOKEN.findall(text)


def _in_context(text: str) -> Iterator[tuple[str, str, str]]:
    """YIELDS (Tuple[str, str, str]): What is before a word or sign of a text, the word, and what is
    after it; empty at the ends.
    """
    tokens = ["", *tokens_of(text), ""]
    return zip(tokens, tokens[1:], tokens[2:], strict=False)


class Phrases:
    """Reads what joins the words of a text in one language. `phrases_of` makes one for each."""

    def __init__(self, words: Words) -> None:
        """Compile the words that may stand beside the end of a line, and those of verbs.

        words (Words): Reads the words of the language.
        """
        self.words = words
        self._classes = words.classes
        self._finder = words.language.finder
        self._adverb_endings = tuple(self._finder.adverb_endings)
        self._other_endings = tuple(self._finder.endings_like_adverbs)
        small_words = self._classes.function_words - self._finder.genitives
        # "Infarction with embolism" are two findings.
        self._joining = self._classes.prepositions & small_words
        self._joints = self._finder.joints | _SIGNS
        self._conjunctions = self._finder.pairing_conjunctions | _SIGNS
        small = any_of(self._classes.function_words)
        self._wrap = re.compile(rf"(?i)\b{small}\s*\n|\n\s*{small}\b")
        finder, copulas = self._finder, self._classes.copulas
        showing, denial = any_of(finder.showing_verbs), any_of(finder.statement_denials)
        verbs = any_of(copulas | finder.statement_verbs | finder.showing_verbs)
        adverb = rf"(?:{any_of(finder.adverbs)}|\w{{1,20}}{any_of(finder.adverb_endings)})"
        reports, joints = any_of(finder.reports), any_of(finder.report_joints)
        start = rf"(?:{any_of(finder.relatives)}\s+)?(?:{denial}\s?)?"
        verb = rf"{start}\b{verbs}(?:\s?{denial}\b|\s+{verbs}\b){{0,4}}"
        prepositions = any_of(finder.report_prepositions)
        report = rf"(?:(?:\s+{adverb})?(?:\s+{reports}\s+(?:{prepositions}|{joints})|\s+{joints}))?"
        # In a text in lower case, which takes half the time.
        self._verb = re.compile(rf"(?<=\s)(?:{verb}{report}|{joints})(?=\s)|:(?=[ ])")
        self._stated = re.compile(rf"(?i)\b(?:({any_of(copulas)})|{showing})(?={denial}|\W|$)|:")
        self._shows = min(copulas & finder.showing_verbs, default="")
        denied = rf"(?<!\S)(?:{verbs}|{denial})(?:\s?{denial}(?!\w)|\s+{verbs}\b){{0,4}}"
        self._denied = re.compile(rf"{denied}(?=\s+({any_of(self._denied_words)})(?!\w))")
        self._denial = re.compile(rf"{denial}(?!\w)")

    @cached_property
    def _denied_words(self) -> dict[str, str]:
        """The words that everyday phrases deny: "sleeping" in "not sleeping".

        RETURNS (Dict[str, str]): What denies each, as the phrases write it.
        """
        texts = (text.split() for text in self.words.everyday.values())
        pairs = chain.from_iterable(pairwise(words) for words in texts)
        return {word: denial for denial, word in pairs if denial in self._finder.statement_denials}

    def is_adverb(self, word: str) -> bool:
        """Check for an adverb, mostly by its ending.

        word (str): A word in lower case.
        RETURNS (bool): True if it is one.
        """
        if word in self._finder.adverbs:
            return True
        is_other = word in self._finder.words_like_adverbs or word.endswith(self._other_endings)
        return word.endswith(self._adverb_endings) and not is_other

    @cached_property
    def organs(self) -> frozenset[str]:
        """The nouns that have an adjective with another root: most are organs.

        RETURNS (FrozenSet[str]): The nouns.
        """
        return frozenset(chain.from_iterable(self.words.forms.roots.values()))

    def goes_across_lines(self, text: str) -> bool:
        """Check for the end of a line or of a list item, unless a function word is beside it.

        RETURNS (bool): True if there is one.
        """
        return bool(_BORDER.search(self._wrap.sub(" ", text)))

    def has_conjunction(self, text: str) -> bool:
        """Check for "and", "or" and their signs, also a plus between words.

        RETURNS (bool): True if there is one.
        """
        tokens = set(tokens_of(text.lower().replace(_PLUS, _AND)))
        return not tokens.isdisjoint(self._conjunctions)

    def pairs_numbers(self, text: str) -> bool:
        """Check whether a conjunction joins two numbers: "toes 2 and 3".

        RETURNS (bool): True if it does, and there is no other one.
        """
        return all(
            before.isdigit() and after.isdigit()
            for before, word, after in _in_context(text.lower())
            if word in self._conjunctions
        )

    def has_preposition(self, text: str) -> bool:
        """Check for a preposition between two findings: "infarction with pulmonary embolism", but
        neither "pain in the chest", "anemia due to blood loss", "trouble with swallowing" nor
        "fingers 3 to 5".

        RETURNS (bool): True if there is one.
        """
        determiners = self._classes.determiners
        return any(
            word in self._joining
            and after not in determiners
            and not (before.isdigit() and after.isdigit())
            and not self._is_of(before, word)
            for before, word, after in _in_context(text.lower())
        )

    def has_joint(self, text: str, names: Iterable[str], *, at_place: bool) -> bool:
        """Check for words that go on to another phrase, unless a name has the same ones in this
        order: "folate deficiency in cerebrospinal fluid" for "folate deficiency in CSF".

        text (str): The text.
        names (Iterable[str]): The names that it may stand for.
        at_place (bool): Whether "in the", and "in" before an organ at the end, are not such words.
        RETURNS (bool): True if there is one.
        """
        tokens = tokens_of(text.lower())
        joints = self._joints_of(tokens)
        if any(joints == self._joints_of(tokens_of(name.lower())) for name in names):
            return False
        return any(
            word in joints
            and not (at_place and self._is_at_place(word, after, tokens))
            and not self._is_of(before, word)
            for before, word, after in _in_context(text.lower())
        )

    def _joints_of(self, tokens: Iterable[str]) -> list[str]:
        return [token for token in tokens if token in self._joints]

    def _is_of(self, before: str, word: str) -> bool:
        """Check for a preposition that says no more than "of": "in" in "decrease in visual acuity",
        "with" in "infection with HIV".
        """
        noun = self.words.orthography.drop_plurals(before)
        is_of_change = word in self._finder.places and noun in self.words.forms.changes
        return is_of_change or noun in self._finder.relational_words

    def _is_at_place(self, word: str, after: str, tokens: Sequence[str]) -> bool:
        if word not in self._finder.places:
            return False
        is_owned = after in self._classes.owners or after in self._finder.definite_articles
        is_owned = is_owned or word in self._finder.places_with_article
        # What has a side is a part of the body: "in left ovary".
        is_owned = is_owned or after in self._finder.long_sides
        return is_owned or (after in self.organs and after == tokens[-1])

    def is_of_parts(self, text: str) -> bool:
        """Check for something in an organ or in several parts of the body: "pain in knees", "pain
        in chest", "pain in the knee"; but diseases in humans are not human diseases.

        RETURNS (bool): True for three words such as these, perhaps with an article or a side.
        """
        tokens = tokens_of(text.lower())
        owners = self._finder.definite_articles | self._finder.long_sides
        is_definite = len(tokens) > 3 and owners.issuperset(tokens[2:-1])
        tokens = [*tokens[:2], tokens[-1]] if is_definite else tokens
        if len(tokens) != 3 or tokens[1] not in self._finder.places:
            return False
        head, part = tokens[0], tokens[-1]
        is_definite = is_definite or tokens[1] in self._finder.places_with_article
        singular = self.words.orthography.drop_plurals
        is_part = is_definite or part in self.organs or singular(part) != part
        return is_part and singular(head) not in self._classes.disease_nouns

    def with_moved_place(self, text: str) -> Iterator[list[str]]:
        """Move the place at the end of a text between its other words, as names have it: "elevated
        lactate in CSF" is elevated CSF lactate.

        YIELDS (List[str]): The content words in each order. Two words alone have none, since
            diseases in humans are not human diseases; but see `is_of_parts`.
        """
        tokens = tokens_of(text.lower())
        places = [number for number, word in enumerate(tokens) if word in self._finder.places]
        if not places:
            return
        before, after = tokens[: places[-1]], tokens[places[-1] + 1 :]
        # Names may lack the side: a "mass in left kidney" is a kidney mass.
        unsided = [word for word in after if word not in self._finder.long_sides]
        for part in (after, unsided) if len(unsided) < len(after) else (after,):
            rest, place = (self.words.content(" ".join(some)) for some in (before, part))
            if len(rest) + len(place) > 2 or self.is_of_parts(text):
                for number in range(len(rest)):
                    yield [*rest[:number], *place, *rest[number:]]

    def copulas(self, text: str) -> Iterator[tuple[str, str, str]]:
        """Find the verbs that state something. In capitals, these are short forms.

        YIELDS (Tuple[str, str, str]): The word before it, the verb, and the word after it.
        """
        for context in _in_context(text):
            if context[1] in self._classes.copulas:
                yield context

    def find_verbs(self, text: str) -> Iterator[tuple[int, int]]:
        """Find the verbs of several words, those that show something, and the colons that may stand
        for one: "nose: broad".

        text (str): Any text in lower case.
        YIELDS (Tuple[int, int]): The first character of each, and the one after it.
        """
        for match in self._verb.finditer(text):
            if self._own_copula(match[0]) not in (match[0], ""):
                yield match.span()

    def find_denials(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Find the verbs that deny what an everyday phrase denies: "not sleeping" stands for
        insomnia, as does "isn't sleeping".

        text (str): Any text in lower case.
        YIELDS (Tuple[int, int, str]): The first character of each, the one after it, and what
            denies in the phrase.
        """
        for match in self._denied.finditer(text):
            if self._denial.search(match[0]):
                yield *match.span(), self._denied_words[match[1]]

    def simplify_verbs(self, text: str) -> str:
        """Replace these by one copula: "was" for "was not found to be", "had" for "shows"; or by
        what denies an everyday phrase.

        text (str): The text of a window.
        RETURNS (str): The text.
        """
        for start, end, denial in reversed([*self.find_denials(lower_in_place(text))]):
            text = f"{text[:start]}{denial}{text[end:]}"
        for match in reversed([*self._verb.finditer(lower_in_place(text))]):
            start, end = match.span()
            copula = self._own_copula(text[start:end]) or text[start:end]
            text = f"{text[:start]}{copula}{text[end:]}"
        return text

    def _own_copula(self, verb: str) -> str:
        stated = self._stated.findall(verb)
        if copulas := [*filter(None, stated)]:
            return copulas[-1]
        space = " " if verb == _COLON else ""
        return f"{space}{self._shows}" if stated and self._shows else ""

    def disagrees(self, text: str) -> bool:
        """Check for a verb that is not of the noun before it, "cells is abnormal" in "morphology of
        the cells is abnormal", or that defines, "Fabry disease is an X-linked disease".

        RETURNS (bool): True if there is one.
        """
        articles = self._classes.determiners - self._classes.owners
        parts = (part for part, word, _ in _in_context(text) if word in self._finder.genitives)
        subject = next(parts, "")
        return any(
            after.lower() in articles
            or (verb in self._finder.singular_copulas and self._is_plural(subject or before))
            for before, verb, after in self.copulas(text)
        )

    def _is_plural(self, noun: str) -> bool:
        return self.words.orthography.drop_plurals(noun) != noun


@lru_cache(MOST_READERS)
def phrases_of(words: Words) -> Phrases:
    """Get what reads the phrases of a language.

    words (Words): Reads the words of the language.
    RETURNS (Phrases): The same object for the same words while it is kept.
    """
    return Phrases(words)

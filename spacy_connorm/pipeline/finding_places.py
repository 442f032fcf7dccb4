"""Where a finding would stand in a note, which tells whether a short form means one: "no PE", but
not "PE: lungs clear".
"""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache

from ..lang import NEVER, any_of
from ..lang.short_form_classes import FindingCue
from ..text.expansion import Use
from ..text.statements import begins_item
from ..text.words import Words, words_of

# How far to look for what precedes a finding, in characters.
_REACH = 20
# Before the items of a list: "- OA". Those with a number, "10. OA", or with its sign are findings,
# whatever follows them.
_BULLETS = frozenset("*•-")
_NUMBER_SIGN = "#"
# "No ?PE", "+PE".
_SIGN_BEFORE = r"[?+]\s?"
# "ASA 81. PE: clear" has a heading, "2. PE: on heparin" does not.
_BEFORE_HEADINGS = re.compile(r"(?:^|\n|(?<!\n\d\d)(?<!(?<!\d)\d)[.;][ ])[ ]{0,9}\Z")
_LABEL_AFTER = re.compile(r" *(?:[|\n]|\Z)| \d{4}\b")
_WORD_AFTER = re.compile(r"[ ]([a-z]{3,})")
# The words beside it in a list: "hypertension, OA", "OA, chronic headache".
_ITEM_BEFORE = re.compile(r"(?<![A-Za-z])([A-Za-z]{4,30})\s{0,3}[,;/&]\s{0,3}\Z")
# "L knee", "knee (L)" and "trigger thumb L.", but not "L-dopa", "2 L fluid", "mmol/L" or "Dr L.".
_SIDE = re.compile(
    r"(?<![\w/+-])(?<!\d )\w+(?= [^\W\d_]{3}|\))|(?<=[a-z]{4} )\w+(?=[ ]?(?:[.,;\n]|\Z))"
)
# How many short forms of a list are looked at.
_MOST_BESIDE = 4
_ITEM_AFTER = re.compile(r"\s*[,;/&]\s*(?:[a-z]+ )?([A-Za-z]{4,})(?=\s*(?:[,;/&.\n]|$))")


class FindingPlaces:
    """Tells where findings stand in the notes of one language. `finding_places_of` makes one for
    each.

    certain (FrozenSet[str]): Short forms of one or two letters with the same meaning anywhere.
    """

    def __init__(self, words: Words) -> None:
        """Compile the cues of a language.

        words (Words): Reads the words of the language.
        """
        self._words = words
        self._classes = words.language.short_forms
        self._sides = words.language.sides.keys()
        self.certain = self._classes.certain | self._sides
        self._participles = tuple(words.classes.participle_endings)
        self._no_noun_endings = tuple(self._classes.no_noun_endings)
        copula = any_of(words.language.finder.singular_copulas)
        joints = any_of(words.classes.linking_conjunctions)
        cues = words.language.finding_cues
        side, part = map(any_of, (self._classes.before_body_parts, self._classes.body_parts))
        frame = rf"(?<!\w)(?:{{}}\s+|{{}}|{_SIGN_BEFORE}|{part}\s)\Z"
        self._before = _compile(cues, "before", is_of_findings=True, frame=frame)
        self._after = _compile(
            cues, "after", is_of_findings=True, frame=rf"\s+(?:-\s+|{copula} )?{{}}\b|{{}}"
        )
        self._other_after = _compile(cues, "after", is_of_findings=False, frame=r"[ -]{}\b|{}")
        finder = words.language.finder
        of, article = map(any_of, (finder.genitives, finder.side_articles))
        self._body_part_after = re.compile(
            rf"[ ](?P<of>{of}\s(?:{article}\s)?)?(?P<side>{side}\s)?{part}"
            rf"(?:(?:,|\s?[&/]|\s{joints})\s?(?:{side}\s)?{part}){{0,3}}[ ]?(?:[.;,(\n]|\Z)",
            re.IGNORECASE,
        )
        self._between = frozenset(",;/&+") | words.classes.linking_conjunctions

    def is_heading(self, text: str, use: Use) -> bool:
        """Check whether a short form is a heading: "PE: lungs clear".

        text (str): The text.
        use (Use): A use of a short form.
        RETURNS (bool): True if it is.
        """
        return (
            use.short in self._classes.headings
            and text.startswith(":", use.end)
            and bool(_BEFORE_HEADINGS.search(text, max(0, use.start - _REACH), use.start))
        )

    def is_letter(self, text: str, use: Use) -> bool:
        """Check for the letter of a side that does not stand for it: "L-dopa".

        text (str): The text.
        use (Use): A use of a short form.
        RETURNS (bool): True for one.
        """
        return use.short in self._sides and not _SIDE.match(text, use.start)

    def ends_label(self, text: str, use: Use) -> bool:
        """Check whether a short form ends the label of a classification: "Disorders of kidney NEC"
        are not elsewhere classified.

        text (str): The text.
        use (Use): A use of a short form.
        RETURNS (bool): True if it does.
        """
        if use.short not in self._classes.label_ends or not _LABEL_AFTER.match(text, use.end):
            return False
        *_, word, last = ["", *text[max(0, use.start - _REACH) : use.start].split(" ")]
        is_open = word in self._words.classes.stop_words or word.endswith(self._participles)
        return not last and word[-1:].islower() and not is_open

    def is_other(self, text: str, use: Use) -> bool:
        """Check whether what follows a short form says that it is not a finding: "HIT panel", or
        that it is initials: "HS, 55M".

        text (str): The text.
        use (Use): A use of a short form.
        RETURNS (bool): True if it does.
        """
        return self._other_after.match(text, use.end) is not None

    def has_finding(
        self, text: str, uses: Sequence[Use], number: int, findings: Collection[str]
    ) -> bool:
        """Check whether a short form is where a finding would be: after a word such as "no", before
        one such as "resolved", or in a list beside a finding: a short form that is one, or a word
        such as "hypertension", or after a body part: "hip OA". Before another noun there is none,
        "no CVA tenderness", except for a body part in a list item, "10. OA knees", or with its
        side: "OA R knee".

        text (str): The text.
        uses (Sequence[Use]): The uses of short forms in it, in order.
        number (int): The one to check.
        findings (Collection[str]): The short forms that are findings.
        RETURNS (bool): True if it is.
        """
        use = uses[number]
        # "97% RA" is room air, "PE: no edema" a physical examination.
        if "%" in text[max(0, use.start - 3) : use.start] or text.startswith(":", use.end):
            return False
        if self.is_other(text, use):
            return False
        if self._after.match(text, use.end):
            return True
        before = max(0, use.start - _REACH)
        sign = text[before : use.start].rpartition("\n")[2].strip()
        is_numbered = sign == _NUMBER_SIGN or begins_item(sign)
        is_item = is_numbered or sign in _BULLETS or sign.endswith(":")
        part = self._body_part_after.match(text, use.end)
        if part and (is_item or part["side"] or part["of"]):
            return True
        after = _WORD_AFTER.match(text, use.end)
        if after and self._may_be_noun(after[1]):
            return False
        if is_numbered or self._before.search(text, before, use.start):
            return True
        beside = (_ITEM_BEFORE.search(text, before, use.start), _ITEM_AFTER.match(text, use.end))
        if any(word and self._words.is_head(word[1]) for word in beside):
            return True
        return any(self._has_finding_beside(text, uses, number, step, findings) for step in (-1, 1))

    def _has_finding_beside(
        self, text: str, uses: Sequence[Use], number: int, step: int, findings: Collection[str]
    ) -> bool:
        """Check for a finding in a list of short forms: "HTN; HLD; OSA".

        step (int): 1 for those after a short form, -1 for those before it.
        RETURNS (bool): True if it or one of the next few is one.
        """
        for place in range(number + step, number + step * (_MOST_BESIDE + 1), step):
            if not 0 <= place < len(uses):
                return False
            one, other = sorted((uses[place - step], uses[place]), key=lambda use: use.start)
            if text[one.end : other.start].strip().lower() not in self._between:
                return False
            if not {uses[number].short, uses[place].short}.isdisjoint(findings):
                return True
        return False

    def _may_be_noun(self, word: str) -> bool:
        is_known = word in self._words.classes.stop_words or word in self._classes.no_nouns
        return not is_known and not word.endswith(self._no_noun_endings)


def _compile(
    cues: Iterable[FindingCue], side: str, *, is_of_findings: bool, frame: str
) -> re.Pattern[str]:
    """Make one pattern of the cues on a side.

    frame (str): What is around the words and around the patterns.
    RETURNS (Pattern[str]): The pattern.
    """
    chosen = [cue for cue in cues if (cue.side, cue.is_of_findings) == (side, is_of_findings)]
    patterns = "|".join(cue.pattern for cue in chosen if cue.pattern) or NEVER
    literals = any_of(cue.cue for cue in chosen if not cue.pattern)
    return re.compile(frame.format(literals, f"(?:{patterns})"), re.IGNORECASE)


@cache
def finding_places_of(code: str) -> FindingPlaces:
    """Get what tells where findings stand in a language.

    code (str): ISO 639-1, as in `nlp.lang`.
    RETURNS (FindingPlaces): The same object for the same language.
    """
    return FindingPlaces(words_of(code))

"""The classes of short forms and of the words around them that clinical notes have."""

from dataclasses import dataclass
from typing import NamedTuple

from .word_classes import NONE, Words

USUAL, SAME, RARE, WRONG, SIDE = "usual", "same", "rare", "wrong", "side"


class FindingCue(NamedTuple):
    """A row of `finding_cues.tsv`: what stands beside a finding, or beside something else.

    cue (str): The words, in any case; for a pattern what it stands for.
    pattern (str): A regular expression for all between the cue and the short form; empty if the
        words are the cue.
    side (str): Where the cue stands: "before" or "after" the short form.
    is_of_findings (bool): Whether a finding stands beside it; if not, it is something else.
    example (str): A text with brackets around the short forms that are findings.
    """

    cue: str
    pattern: str
    side: str
    is_of_findings: bool
    example: str


class ShortFormMeaning(NamedTuple):
    """A row of `short_form_meanings.tsv`.

    short (str): A short form.
    long (str): Its long form.
    use (str): "usual"; "same" for what the usual meaning is also called; "rare" if notes rarely
        mean it; "wrong" for a meaning of the library that they do not have; "side" for the letter
        of a side, which only stands for it before a word or in brackets: "L knee", "knee (L)".
    """

    short: str
    long: str
    use: str


@dataclass(frozen=True, eq=False)
class ShortFormClasses:
    """Short forms of notes and words around them, from `short_forms.toml`. A class that a language
    does not have is empty.

    library (Words): The package with short forms of the language in a dictionary `annotations`.
    well_known (Words): Nobody defines these.
    no_findings (Words): Are no findings in notes: who writes them ("MD aware"), headings, drugs,
        devices, laboratory tests.
    headings (Words): Are headings as well as findings: "PE: lungs clear".
    certain (Words): Two letters that mean the finding wherever they stand.
    label_ends (Words): End the labels of classifications: "disorders of kidney NEC".
    body_parts (Words): Follow a finding in an item of a list: "10. OA knees".
    before_body_parts (Words): Stand between a finding and such a part.
    no_nouns (Words): May follow a finding although they look like its noun: "PE today".
    no_noun_endings (Words): Endings of such words: "PE treated".
    no_evidence (Words): Words of long forms that say nothing of the text.
    """

    library: Words = NONE
    well_known: Words = NONE
    no_findings: Words = NONE
    headings: Words = NONE
    certain: Words = NONE
    label_ends: Words = NONE
    body_parts: Words = NONE
    before_body_parts: Words = NONE
    no_nouns: Words = NONE
    no_noun_endings: Words = NONE
    no_evidence: Words = NONE

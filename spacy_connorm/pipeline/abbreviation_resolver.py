"""The component that finds the abbreviations that a document defines, and those of a table."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..documents.abbreviations import register_abbreviation_attributes, set_abbreviations
from ..text.abbreviations import Abbreviation, find_abbreviations
from ..text.expansion import ShortForms, Use
from ..text.words import words_of
from .serialization import SavedComponent
from .settings import ResolverSettings, Settings
from .short_form_files import read_short_forms

_EN = words_of("en")
FUNCTION_WORDS = _EN.classes.stop_words
content_words = _EN.content
is_head = _EN.is_head

# Words that precede and follow findings, and how far to look for them, in characters.
_BEFORE_FINDINGS = re.compile(
    r"(?<!\w)(?:no|nil|not|denies|denied|without|w/o?|mild|mod|moderate|severe|trivial|trace|acute"
    r"|chronic|paroxysmal|permanent|recurrent|remote|persistent|worsening|known|new|likely|possible"
    r"|probable|suspected|(?:pmhx?|problems|assessment|ecg|ekg|ddx):|bg:?|imp(?:ression)?:?"
    r"|\d{1,3} ?(?:y/?o ?)?[mf]"
    r"|r/o|rule out|concern for|(?:pos|neg)(?:itive|ative)? for|reports|endorses|h/o|s/p|c/o"
    r"|hx(?: of)?|history of|has|had|dx:?|diagnos(?:is of|ed with)|due to|secondary to|2/2"
    r"|(?:background|evidence|risk|signs?|symptoms) of|develop(?:s|ed)|die[ds] (?:of|from)"
    r"|(?:admitted|presents|presented|presenting|patient|pt|man|woman|male|female|boy|girl) with"
    r"|(?:admitted|treated) for|on [a-z]{5,20} for)\s+\Z"
    r"|(?<!\w)on [a-z]{5,20} \(\Z|(?<!\w)[?+]\s?\Z|(?:^|\n)\s*(?:\d{1,2}[.)]|\#)\s*\Z",
    re.IGNORECASE,
)
_AFTER_FINDINGS = re.compile(
    r"\s+(?:-\s+|is |was )?(?:(?:(?:highly|less|more|very)\s)?(?:un)?likely|suspected|excluded"
    r"|ruled out|resolved|closed|improved|worsened|mild|moderate|severe|trivial|trace|with RVR"
    r"|(?:stage|grade) \w+|s/p|c/b|on (?!admission|arrival|exam|room)[a-z]{5,})\b",
    re.IGNORECASE,
)
# A list item of its own, "10. OA knees", "- OA left hip".
_ITEM = re.compile(r"(?:^|\n)[^\S\n]*(?:\d{1,2}[.)]|[#*\u2022-])[^\S\n]*\Z")
_BODY_PARTS = """
abdomen ankle ankles arm arms back chest elbow elbows face feet finger fingers foot hand hands head
hip hips jaw knee knees leg legs neck shoulder shoulders spine thigh thighs thumb thumbs toe toes
wrist wrists
"""
_PART = (
    r"(?:(?:both|bilateral|b/l|left|right|l|r|the)\s)?"
    rf"(?:{'|'.join(_BODY_PARTS.split())})"
)
_BODY_PART_AFTER = re.compile(
    rf"[ ]{_PART}(?:(?:,|\s?[&/]|\sand)\s?{_PART}){{0,3}}[ ]?(?:[.;,(\n]|\Z)", re.IGNORECASE
)
# "HIT panel", "TB screening" and "PE test" are no findings, nor are the initials in "HS, 55M".
_NO_FINDING_AFTER = re.compile(
    r"[ -](?:panel|test|screen|tit(?:er|re)|culture|gene|mutation|variant)(?:s|ing)?\b"
    r"|[ -]series\b|(?<=(?<!\w)\w\w),? \d{1,3} ?(?-i:[MF])\b",
    re.IGNORECASE,
)
_WORD_AFTER = re.compile(r"[ ]([a-z]{3,})")
# What may follow a finding that is no noun: "PE treated", "AF today", "DM type 2", "UC flare".
_NO_NOUN = re.compile(
    r".+ed|.+ing|today|yesterday|type|stage|grade|class|flares?|exacerbations?|ago"
)
# "Disorders of kidney NEC" are not elsewhere classified.
_LABEL_END = re.compile(
    r"(?<=[a-z])(?<!\bwith)(?<!\band|\bfor)(?<!\bof|ed) NEC(?: *(?:[|\n]|\Z)| \d{4}\b)"
)
# Headings that are also short forms of findings: "PE: lungs clear" is a physical examination, even
# if the note has a "r/o PE". In "2. PE: on heparin" it is a finding; "ASA 81. PE: clear" has none.
_HEADINGS = frozenset(["CC", "DD", "ID", "MS", "PC", "PE"])
_BEFORE_HEADINGS = re.compile(r"(?:^|\n|(?<!\n\d\d)(?<!(?<!\d)\d)[.;][ ])[ ]{0,9}\Z")
_REACH = 20
# What follows "CKD 3", but not "AF 3 days"; and an item of a list in one line.
_WHOLE_AFTER = re.compile(
    rf"[,;:)](?!\d)|\.(?!\d)| ?(?:\n|\Z)| [(&]| (?:{'|'.join(FUNCTION_WORDS)}|[a-z]+(?:ed|ing))\b"
)
_MARKER = re.compile(r"(?<!\S)\d{1,2}[.)] ")
# In characters, so that the time is linear in the length of a text without line breaks.
_LONGEST_LINE = 1000
_NUMBERS = frozenset(["1", "2", "3", "4", "5", "II", "III", "IV", "V"])
# "RD consulted", "MM intact": other findings of two letters need words beside them that say so.
_SURE = frozenset(["HF", "MI", "Sz", "sz"])
# Words of long forms that say nothing of the text.
_NO_EVIDENCE = frozenset(["acute", "chronic", "disease", "disorder", "syndrome"])
# The words beside it in a list: "hypertension, OA", "OA, chronic headache".
_WORD_BEFORE = re.compile(r"(?<![A-Za-z])([A-Za-z]{4,30})\s{0,3}[,;/&]\s{0,3}\Z")
_WORD_BEHIND = re.compile(r"\s*[,;/&]\s*(?:[a-z]+ )?([A-Za-z]{4,})(?=\s*(?:[,;/&.\n]|$))")
_IN_LIST = re.compile(r"\s*(?:[,;/&+]|and|or)\s*", re.IGNORECASE)


class AbbreviationResolver(SavedComponent):
    """Stores the abbreviations of documents, for concept normalizers and for
    `doc._.abbreviations` and `span._.long_form`.
    """

    def __init__(self, name: str = "abbreviation_resolver", **settings: Any) -> None:
        """Store the settings and register the attributes.

        name (str): The component's name.
        **settings: What `to_disk` saves; see `ResolverSettings`.
        RAISES (ConnormError): CN006 for an invalid setting.
        """
        self.name = name
        self.cfg = Settings(ResolverSettings, settings)
        self._read: tuple[Settings, dict[str, str], ShortForms, frozenset[str]] | None = None
        register_abbreviation_attributes()

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        short_forms: str | Path | None = None,
    ) -> None:
        """Add the short forms of a table to the settings.

        get_examples (Callable[[], Iterable[Example]]): Not used.
        nlp (Optional[Language]): Not used.
        short_forms (Optional[Union[str, Path]]): A table, see `read_short_forms`.
        RAISES (ConnormError): The errors of `read_short_forms`.
        """
        if short_forms is not None:
            self.cfg["short_forms"] = {**self.cfg["short_forms"], **read_short_forms(short_forms)}

    def __call__(self, doc: Doc) -> Doc:
        """Find the abbreviations of a document.

        doc (Doc): The document.
        RETURNS (Doc): The same document.
        """
        text = doc.text  # looked up once: spaCy joins the tokens again each time
        defined = find_abbreviations(text, doc.lang_)
        used = self._used(text, {each.short for each in defined})
        set_abbreviations(doc, sorted([*defined, *used], key=lambda each: each.start))
        return doc

    def _used(self, text: str, defined: set[str]) -> Iterator[Abbreviation]:
        """Find where the table's short forms that the text does not define begin to stand for
        something: at their first use, as headings for themselves, and after these again. The long
        form has no position in the text.

        YIELDS (Abbreviation): The short forms.
        """
        table, shorts, named = self._tables()
        uses = [_counted(text, use, table) for use in shorts.find(text)]
        longs = {use.short: table[use.short] for use in uses}
        undecided = [short for short, long in longs.items() if not long]
        if undecided:
            words = {*content_words(" ".join([text, *longs.values()]))} - _NO_EVIDENCE
            longs |= {short: _with_words(self.cfg["meanings"][short], words) for short in undecided}
            uses = [use for use in uses if longs[use.short]]
        headings = {use.start for use in uses if _is_heading(text, use)}
        others = [use for use in uses if use.start not in headings]
        expanded = self._expanded(text, others, named) - defined
        meant: dict[str, str] = {}
        for use in uses:
            long = use.short if use.start in headings else longs[use.short]
            if use.short in expanded and meant.get(use.short) != long:
                meant[use.short] = long
                place = (use.start, use.end)
                yield Abbreviation(use.short, long, *place, *place)

    def _expanded(self, text: str, uses: Sequence[Use], named: Collection[str]) -> set[str]:
        """Select the short forms that a text uses for their long forms. Names of the ontology are
        kept if one stands where a finding would.

        RETURNS (Set[str]): The short forms.
        """
        used = {use.short for use in uses}
        known = used.intersection(self.cfg["short_forms"])
        findings = known.intersection(named)
        certain = {each for each in known if len(each) > 2 or each in _SURE or each not in findings}
        own = used.intersection(self.cfg["own_names"])
        expanded, kept = set[str](), set[str]()
        for number, use in enumerate(uses):
            if use.short in findings and _NO_FINDING_AFTER.match(text, use.end):
                continue
            if use.short in own and _is_finding(text, uses, number, findings):
                kept.add(use.short)
                findings.add(use.short)
            if use.short not in certain or _LABEL_END.match(text, use.start - 1):
                if not _is_finding(text, uses, number, findings):
                    continue
                certain.add(use.short)
                findings.add(use.short)
            expanded.add(use.short)
        return expanded - kept

    def _tables(self) -> tuple[dict[str, str], ShortForms, frozenset[str]]:
        """Combine the tables in the settings, once for all documents.

        RETURNS (Tuple[Dict[str, str], ShortForms, FrozenSet[str]]): The long form of each short
            form, empty if its document decides; what finds them; and those that are findings.
        """
        if self._read is None or self._read[0] != self.cfg:
            several = self.cfg["meanings"].items()
            table = {short: longs[0] if len(longs) == 1 else "" for short, longs in several}
            table |= self.cfg["short_forms"]
            findings = self.cfg["findings"]
            named = frozenset(self.cfg["short_forms"] if findings is None else findings)
            self._read = Settings(ResolverSettings, self.cfg), table, ShortForms(table), named
        return self._read[1:]


def _with_words(longs: Sequence[str], words: Collection[str]) -> str:
    """Choose the long form that has most words in common with a text.

    RETURNS (str): The long form; empty if none has any, or several have as many.
    """
    counts = [sum(word in words for word in content_words(long)) for long in longs]
    best = max(counts, default=0)
    return longs[counts.index(best)] if best and counts.count(best) == 1 else ""


def _counted(text: str, use: Use, table: Collection[str]) -> Use:
    """Leave the number off a use of "CKD 3" that counts what follows, or items: "1. CKD 2. HTN"."""
    short, _, number = use.short.partition(" ")
    if number not in _NUMBERS or short not in table:
        return use
    first = max(0, use.start - _LONGEST_LINE)
    first = max(first, text.rfind("\n", first, use.start) + 1)
    is_item = text.startswith((". ", ") "), use.end) and _MARKER.search(text, first, use.start)
    is_whole = _WHOLE_AFTER.match(text, use.end) and not is_item
    return use if is_whole else Use(short, use.start, use.start + len(short))


def _is_heading(text: str, use: Use) -> bool:
    """Check whether a short form is a heading: "PE: lungs clear"."""
    return (
        use.short in _HEADINGS
        and text.startswith(":", use.end)
        and bool(_BEFORE_HEADINGS.search(text, max(0, use.start - _REACH), use.start))
    )


def _is_finding(text: str, uses: Sequence[Use], number: int, findings: Collection[str]) -> bool:
    """Check whether a short form is where a finding would be: behind a word such as "no", before
    one such as "resolved", or in a list beside a finding: a short form that is one, or a word such
    as "hypertension". Before another noun it is none, "no CVA tenderness", except for a body part
    in a list item: "10. OA knees".
    """
    start, end = uses[number][1:]
    # "97% RA" is room air, "PE: no edema" a physical examination.
    if "%" in text[max(0, start - 3) : start] or text.startswith(":", end):
        return False
    if _NO_FINDING_AFTER.match(text, end):
        return False
    if _AFTER_FINDINGS.match(text, end):
        return True
    before = max(0, start - _REACH)
    if _BODY_PART_AFTER.match(text, end) and _ITEM.search(text, before, start):
        return True
    after = _WORD_AFTER.match(text, end)
    if after and after[1] not in FUNCTION_WORDS and not _NO_NOUN.fullmatch(after[1]):
        return False
    if _BEFORE_FINDINGS.search(text, before, start):
        return True
    beside = (_WORD_BEFORE.search(text, before, start), _WORD_BEHIND.match(text, end))
    if any(found and is_head(found[1]) for found in beside):
        return True
    return any(
        _IN_LIST.fullmatch(text, one.end, other.start)
        and (one.short in findings or other.short in findings)
        for one, other in pairwise(uses[max(0, number - 1) : number + 2])
    )

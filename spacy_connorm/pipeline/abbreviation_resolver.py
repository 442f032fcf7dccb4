"""The component that finds the abbreviations that a document defines, and those of a table."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..documents.abbreviations import register_abbreviation_attributes, set_abbreviations
from ..text.abbreviations import Abbreviation, find_abbreviations
from ..text.expansion import ShortForms, Use
from ..text.numbered_forms import numbered_forms_of
from ..text.words import Words, words_of
from .finding_places import FindingPlaces, finding_places_of
from .serialization import SavedComponent
from .settings import ResolverSettings, Settings
from .short_form_files import read_short_forms

# Shorter short forms need words beside them that say so: "RD consulted", "MM intact".
_LONG_ENOUGH = 3


class AbbreviationResolver(SavedComponent):
    """Stores the abbreviations of documents, for concept normalizers and for
    `doc._.abbreviations` and `span._.long_form`.
    """

    def __init__(
        self, name: str = "abbreviation_resolver", *, lang: str = "en", **settings: Any
    ) -> None:
        """Store the settings and register the attributes.

        name (str): The component's name.
        lang (str): The language of the tables that `initialize` reads, as in `nlp.lang`.
        **settings: What `to_disk` saves; see `ResolverSettings`.
        RAISES (ConnormError): CN006 for an invalid setting.
        """
        self.name, self._lang = name, lang
        self.cfg = Settings(ResolverSettings, settings)
        self._read: tuple[Settings, dict[str, str], ShortForms, frozenset[str]] | None = None
        register_abbreviation_attributes()

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]] | None = None,
        *,
        nlp: Language | None = None,
        short_forms: str | Path | None = None,
    ) -> None:
        """Add the short forms of a table to the settings.

        get_examples (Optional[Callable[[], Iterable[Example]]]): Not used.
        nlp (Optional[Language]): Not used.
        short_forms (Optional[Union[str, Path]]): A table, see `read_short_forms`.
        RAISES (ConnormError): The errors of `read_short_forms`.
        """
        if short_forms is not None:
            read = read_short_forms(short_forms, self._lang)
            self.cfg["short_forms"] = {**self.cfg["short_forms"], **read}

    def __call__(self, doc: Doc) -> Doc:
        """Find the abbreviations of a document.

        doc (Doc): The document.
        RETURNS (Doc): The same document.
        """
        text = doc.text  # looked up once: spaCy joins the tokens again each time
        defined = find_abbreviations(text, doc.lang_)
        used = self._used(text, {abbreviation.short for abbreviation in defined}, doc.lang_)
        set_abbreviations(doc, sorted([*defined, *used], key=attrgetter("start")))
        return doc

    def _used(self, text: str, defined: set[str], language: str) -> Iterator[Abbreviation]:
        """Find where the table's short forms that the text does not define begin to stand for
        something: at their first use, as headings, numbers and letters for themselves, and
        after these again. The long form has no position in the text.

        YIELDS (Abbreviation): The short forms.
        """
        table, shorts, named = self._tables()
        places = finding_places_of(language)
        numbered = numbered_forms_of(language)
        uses = [numbered.without_count(text, use, table) for use in shorts.find(text)]
        longs = {use.short: table[use.short] for use in uses}
        undecided = [short for short, long in longs.items() if not long]
        if undecided:
            words = words_of(language)
            shown = {*words.content(" ".join([text, *longs.values()]))}
            shown -= words.language.short_forms.no_evidence
            longs |= {
                short: _choose_long(self.cfg["meanings"][short], shown, words)
                for short in undecided
            }
            uses = [use for use in uses if longs[use.short]]
        themselves = {
            use.start
            for use in uses
            if places.is_heading(text, use)
            or places.is_letter(text, use)
            or numbered.is_number(text, use)
        }
        others = [use for use in uses if use.start not in themselves]
        expanded = self._expanded(text, others, named, places) - defined
        meant: dict[str, str] = {}
        for use in uses:
            long = use.short if use.start in themselves else longs[use.short]
            if use.short in expanded and meant.get(use.short) != long:
                meant[use.short] = long
                place = (use.start, use.end)
                yield Abbreviation(use.short, long, *place, *place)

    def _expanded(
        self, text: str, uses: Sequence[Use], named: Collection[str], places: FindingPlaces
    ) -> set[str]:
        """Select the short forms that a text uses for their long forms. Names of the ontology are
        kept if one stands where a finding would.

        RETURNS (Set[str]): The short forms.
        """
        used = {use.short for use in uses}
        known = used.intersection(self.cfg["short_forms"])
        findings = known.intersection(named)
        certain = {
            short
            for short in known
            if len(short) >= _LONG_ENOUGH or short in places.certain or short not in findings
        }
        names = used.intersection(self.cfg["own_names"])
        expanded, kept = set[str](), set[str]()
        for number, use in enumerate(uses):
            if use.short in findings and places.is_other(text, use):
                continue
            if use.short in names and places.has_finding(text, uses, number, findings):
                kept.add(use.short)
                findings.add(use.short)
            if use.short not in certain or places.ends_label(text, use):
                if not places.has_finding(text, uses, number, findings):
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


def read_alone(nlp: Language, texts: Iterable[str]) -> list[Span]:
    """Read texts that stand alone, such as a mention to search for, with the abbreviation resolvers
    of a pipeline: its short forms mean there what they mean in documents.

    nlp (Language): The pipeline.
    texts (Iterable[str]): b texts.
    RETURNS (List[Span]): b spans, each a whole document.
    """
    docs = map(nlp.make_doc, texts)
    for _, component in nlp.pipeline:
        if isinstance(component, AbbreviationResolver):
            docs = map(component, docs)
    return [doc[:] for doc in docs]


def _choose_long(longs: Sequence[str], shown: Collection[str], words: Words) -> str:
    """Choose the long form that has most words in common with a text.

    RETURNS (str): The long form; empty if none has any, or several have as many.
    """
    counts = [sum(word in shown for word in words.content(long)) for long in longs]
    best = max(counts, default=0)
    return longs[counts.index(best)] if best and counts.count(best) == 1 else ""

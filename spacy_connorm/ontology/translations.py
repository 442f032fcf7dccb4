"""Names of an ontology in other languages, from tables beside it: Babelon, the format of HPO's
translations, and tables of synonyms.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from ..concepts import SCOPES, Concept
from ..concepts.concept import ALL_SCOPES, EXACT
from ..errors import Errors, quote_id, require_choice, unreadable
from ..files.odd_lines import OddLines
from ..files.package_data import read_toml
from ..files.tables import read_rows, require_distinct_columns, require_width
from ..text.cleaning import clean
from ..text.words import words_of
from .report import ReadReport
from .synonyms import names_by_scope
from .word_translations import WordTranslations

_TABLE = read_toml(__package__, "translations.toml")
_FIELDS = {
    predicate.lower(): field
    for field, predicates in _TABLE["predicates"].items()
    for predicate in predicates
}
_NAME, _DEFINITION = "name", "definition"
_ROBOT_ID = _TABLE["robot"]["id"]
_TEMPLATE = re.compile(_TABLE["robot"]["template"])
_MISSING = frozenset(_TABLE["statuses"]["missing"])
_REQUIRED = ("id", "text")
# The language of an ontology whose tables do not tell it.
_USUAL_LANGUAGE = "en"
_FORMAT = "a table of translations"
# The minimum likeness of a label and its translation if they are of the same root.
_ALIKE = 0.5
# It stands between several synonyms in one field.
_BETWEEN = "|"


class Translation(NamedTuple):
    """A row of a table.

    concept_id (str): The concept.
    field (str): "name", "definition", or the scope of a synonym.
    text (str): The text.
    language (str): Its language.
    source (str): What it translates; empty if the table does not tell it.
    """

    concept_id: str
    field: str
    text: str
    language: str
    source: str = ""


@dataclass(frozen=True, kw_only=True)
class Translations:
    """Options of everything that reads the names of an ontology in other languages.

    translations (Sequence[Union[str, Path]]): Tables with the names of the ontology in other
        languages, in the format Babelon, and tables of synonyms beside them.
    language (Sequence[str]): The languages of the names, best first: fr. For translations, and for
        the format rdf, which has English names by default.
    translation_status (Sequence[str]): The statuses of the translations to read, such as OFFICIAL;
        all but NOT_TRANSLATED if not given.
    keep_untranslated (bool): Keep concepts without a name in these languages, with their own names.
        They are left out otherwise: the words of another language would be found by mistake.
    shown_language (str): The language of the names that results show, if it is another one.
    RAISES (ConnormError): CN733 for translations without a language, and for their options without
        them.
    """

    translations: Sequence[str | Path] = ()
    language: Sequence[str] = ()
    translation_status: Sequence[str] = ()
    keep_untranslated: bool = False
    shown_language: str = ""

    def __post_init__(self) -> None:
        if self.translations and not self.language:
            self._refuse("translations", "`--language`, the languages of the names")
        for field in () if self.translations else fields(self):
            if field.name != "language" and getattr(self, field.name):
                self._refuse(field.name, "`--translations`")

    def _refuse(self, option: str, needed: str) -> NoReturn:
        option = f"--{option.replace('_', '-')}"
        raise Errors.CN733(option=option, needed=needed)

    @classmethod
    def split(cls, options: Mapping[str, Any]) -> "tuple[Translations, dict[str, Any]]":
        """Separate these options from those of a format.

        options (Mapping[str, Any]): All options.
        RETURNS (Tuple[Translations, Dict[str, Any]]): These, and the others. The language is among
            the others if there are no translations: a format may have several languages.
        """
        known = {field.name for field in fields(cls)}
        settings = cls(**{name: value for name, value in options.items() if name in known})
        rest = {name: value for name, value in options.items() if name not in known}
        if settings.language and not settings.translations:
            rest["language"] = tuple(settings.language)
        return settings, rest


class Translator:
    """Gives the concepts of an ontology their names in other languages."""

    def __init__(
        self, rows: Iterable[Translation], settings: Translations, source_language: str
    ) -> None:
        """Sort the rows by concept.

        rows (Iterable[Translation]): The rows.
        settings (Translations): The languages, and what is kept. The first language with a name
            gives the preferred name. With all statuses, synonyms are translated word by word, too.
        source_language (str): The language of the ontology itself.
        """
        self._settings = settings
        self._source_language = source_language
        self._rows: dict[str, list[Translation]] = defaultdict(list)
        self._anomalies: dict[tuple[str, tuple[str, ...]], str] = {}
        for row in rows:
            self._rows[row.concept_id].append(row)
            if row.field == _NAME:
                self._anomalies.update(_anomalies(row))

    def translate(self, concepts: Iterable[Concept], report: ReadReport) -> list[Concept]:
        """Give concepts their names in the languages. Concepts without one are left out, unless
        they are kept; the concepts below them get their parents.

        concepts (Iterable[Concept]): The concepts of the ontology.
        report (ReadReport): Counts names by language, and what is left out.
        RETURNS (List[Concept]): The concepts.
        """
        originals, known = list(concepts), set[str]()
        translated = list[Concept | None]()
        for concept in originals:
            ids = (concept.concept_id, *concept.alt_ids)
            known.update(ids)
            rows = [row for concept_id in ids for row in self._rows.get(concept_id, ())]
            translated.append(self._translated(concept, rows, report))
        for concept_id in self._rows.keys() - known:
            report.leave_out("a translation of a concept that is not here", quote_id(concept_id))
        translated = _with_distinct_labels(originals, translated)
        languages = self._settings.language
        for language in () if self._settings.translation_status else languages:
            if language != self._source_language:
                translated = self._with_made_names(originals, translated, language, report)
        return _left(originals, translated, languages, report)

    def _with_made_names(
        self,
        originals: Sequence[Concept],
        translated: Sequence[Concept | None],
        language: str,
        report: ReadReport,
    ) -> list[Concept | None]:
        """Add names that are translated word by word, each to the one concept that it fits best,
        also to concepts without another name in the language.
        """
        words, others = words_of(self._source_language), words_of(language)
        labels = {concept.concept_id: concept.canonical_name for concept in originals}
        firsts = (next(iter(_rows_in(rows, language)), None) for rows in self._rows.values())
        pairs = ((row.source or labels.get(row.concept_id, ""), row.text) for row in firsts if row)
        translations = WordTranslations(list(filter(all, pairs)), words, others)
        known = {others.bag(name) for concept in translated if concept for name in concept.names}
        best: dict[tuple[str, ...], tuple[float, int, str, str]] = {}
        for number, concept in enumerate(originals):
            for name in concept.names:
                for bag, text, certainty in translations.phrases(name):
                    made = (certainty, -number, text, name)
                    if bag not in known and made > best.get(bag, (0.0,)):
                        best[bag] = made
        made_of = defaultdict[int, list[tuple[str, str]]](list)
        for _, number, text, name in best.values():
            made_of[-number].append((text, name))
        report.languages[f"{language}, made word by word"] = len(best)
        return [
            _with_names(concept, original, made_of[number], language)
            for number, (concept, original) in enumerate(zip(translated, originals, strict=True))
        ]

    def _translated(
        self, concept: Concept, rows: Sequence[Translation], report: ReadReport
    ) -> Concept | None:
        """Give a concept its names; None if it has none in the languages."""
        rows = self._without_copies(concept, rows, report)
        names: dict[str, str] = {}
        for language in self._settings.language:
            is_own = language == self._source_language
            for text in concept.names if is_own else _names(rows, language):
                names.setdefault(text, language)
        if not names and not self._settings.keep_untranslated:
            return None
        names = names or dict.fromkeys(concept.names, self._source_language)
        first, *others = names
        scopes, definitions = _scopes(concept), dict[str, str]()
        for row in reversed(rows):
            if row.field in ALL_SCOPES:
                scopes[row.text] = row.field
            elif row.field == _DEFINITION:
                definitions[row.language] = row.text
        synonyms = [(text, scopes.get(text, EXACT)) for text in others]
        report.languages.update(names.values())
        if concept.definition:
            definitions[self._source_language] = concept.definition
        order = (*self._settings.language, self._source_language)
        return replace(
            concept,
            canonical_name=first,
            definition=next(filter(None, map(definitions.get, order)), ""),
            languages=tuple(names.items()),
            shown_name=self._shown(concept, rows, names[first]),
            **names_by_scope(synonyms, ALL_SCOPES, concept.concept_id, ReadReport()),
        )

    def _without_copies(
        self, concept: Concept, rows: Sequence[Translation], report: ReadReport
    ) -> list[Translation]:
        """Leave out synonyms that are the concept's own names, since they were not translated,
        whatever their status says; and those that only say what the concept is an anomaly of.
        """
        names = {name.casefold() for name in concept.names}
        translated = []
        for row in rows:
            if row.field in ALL_SCOPES and row.text.casefold() in names:
                report.leave_out("a synonym that was not translated", row.concept_id)
            elif row.field in ALL_SCOPES and self._is_no_finding(row):
                report.leave_out("a synonym that names no finding", row.concept_id)
            else:
                translated.append(row)
        return translated

    def _is_no_finding(self, synonym: Translation) -> bool:
        """Check whether a synonym only says what is abnormal: "Orteil"."""
        label = self._anomalies.get((synonym.language, _bag(synonym)), "")
        # "Parodontite" is not "Anomalie du parodonte", although their stems are the same.
        return synonym.text.casefold() in label

    def _shown(self, concept: Concept, rows: Sequence[Translation], language: str) -> str:
        shown = self._settings.shown_language
        if shown in ("", language):
            return ""
        if shown == self._source_language:
            return concept.canonical_name
        return next(iter(_names(rows, shown)), "")


def _bag(row: Translation) -> tuple[str, ...]:
    return words_of(row.language).bag(row.text)


def _anomalies(label: Translation) -> Iterator[tuple[tuple[str, tuple[str, ...]], str]]:
    """YIELDS (Tuple): The language and the words of what a label says that something is wrong
    with, such as the toes for "Anomalie des orteils"; and the label.
    """
    bag = _bag(label)
    malformations = words_of(label.language).classes.malformations
    rest = tuple(word for word in bag if word not in malformations)
    if 0 < len(rest) < len(bag):
        yield (label.language, rest), label.text.casefold()


def _names(rows: Iterable[Translation], language: str) -> list[str]:
    """List the names in a language, the label first."""
    return [row.text for row in _rows_in(rows, language)]


def _rows_in(rows: Iterable[Translation], language: str) -> list[Translation]:
    chosen = [row for row in rows if row.language == language and row.field != _DEFINITION]
    return sorted(chosen, key=lambda row: row.field != _NAME)


def _left(
    originals: Sequence[Concept],
    translated: Sequence[Concept | None],
    languages: Sequence[str],
    report: ReadReport,
) -> list[Concept]:
    """Leave out concepts without a name; those below them get their parents."""
    concepts, parents_of = list[Concept](), dict[str, tuple[str, ...]]()
    for original, concept in zip(originals, translated, strict=True):
        if concept is None:
            reason = f"a concept without a name in {', '.join(languages)}"
            report.leave_out(reason, original.concept_id)
            parents_of[original.concept_id] = original.parents
        else:
            concepts.append(concept)
    return [_with_parents(concept, parents_of) for concept in concepts] if parents_of else concepts


def _with_distinct_labels(
    originals: Sequence[Concept], translated: Sequence[Concept | None]
) -> list[Concept | None]:
    """Give a label of several concepts to the one whose own label is most alike, if it is
    ("microcéphalie" is "microcephaly"). The others have it as a synonym, and as a label with their
    own in brackets.
    """
    owners, distinct = defaultdict[str, dict[int, Concept]](dict), list(translated)
    for number, concept in enumerate(translated):
        if concept is not None:
            owners[concept.canonical_name.casefold()][number] = concept
    for label, concepts in owners.items():
        labels = {number: originals[number].canonical_name for number in concepts}
        likeness, first = max((_likeness(label, text), number) for number, text in labels.items())
        for number, concept in concepts.items() if likeness >= _ALIKE else ():
            if number != first and labels[number].casefold() != label:
                distinct[number] = _with_label(concept, labels[number])
    return distinct


def _with_label(concept: Concept, original: str) -> Concept:
    """Add the label of the ontology in brackets."""
    label = concept.canonical_name
    longer, language = f"{label} ({original})", dict(concept.languages)[label]
    languages, aliases = ((longer, language), *concept.languages), (label, *concept.aliases)
    return replace(concept, canonical_name=longer, aliases=aliases, languages=languages)


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other.casefold()).ratio()


def _with_names(
    concept: Concept | None, original: Concept, made: Sequence[tuple[str, str]], language: str
) -> Concept | None:
    """Add names of the same scopes as those that they translate. A concept that has no others shows
    its own label.
    """
    if not made:
        return concept
    if concept is None:
        (label, _), *made = made
        bare: dict[str, Any] = dict.fromkeys(("aliases", *SCOPES), ())
        bare |= {"canonical_name": label, "shown_name": original.canonical_name}
        concept = replace(original, languages=((label, language),), **bare)
    scopes = _scopes(original)
    synonyms = [(text, scopes.get(name, EXACT)) for text, name in made]
    added = names_by_scope(synonyms, ALL_SCOPES, concept.concept_id, ReadReport())
    languages = (*concept.languages, *((text, language) for text, _ in synonyms))
    lists: dict[str, Any] = {
        field: (*getattr(concept, field), *texts) for field, texts in added.items()
    }
    return replace(concept, languages=languages, **lists)


def _scopes(concept: Concept) -> dict[str, str]:
    return {name: scope.upper() for scope in SCOPES for name in getattr(concept, scope)}


def _with_parents(concept: Concept, parents_of: Mapping[str, Sequence[str]]) -> Concept:
    """Replace parents that were left out by theirs. They may form cycles."""
    if not any(parent in parents_of for parent in concept.parents):
        return concept
    parents, waiting, seen = list[str](), list(concept.parents), set[str]()
    while waiting:
        parent = waiting.pop(0)
        if parent in seen:
            continue
        seen.add(parent)
        if parent in parents_of:
            waiting += parents_of[parent]
        elif parent != concept.concept_id:
            parents.append(parent)
    return replace(concept, parents=tuple(parents))


def read_translations(settings: Translations, report: ReadReport) -> Translator:
    """Read tables of translations. A table without a column for the language, and without a row
    for ROBOT that names it, is in the first of the languages.

    settings (Translations): The tables, and what is read of them.
    report (ReadReport): Counts what is left out.
    RETURNS (Translator): The texts by concept.
    RAISES (ConnormError): CN128 for a missing column, CN125 for two of its name, CN115 for a row
        with more fields than columns or an unknown predicate, CN118 for a language or a status
        that no table has, and the errors of `read_rows`.
    """
    languages, shown = settings.language, settings.shown_language
    tables = [_Table(path, languages[0], report.odd) for path in settings.translations]
    sources = {table.source_language for table in tables if table.source_language}
    source_language = min(sources, default=_USUAL_LANGUAGE)
    wanted_languages = {*languages, shown} - {"", source_language}
    wanted_statuses = frozenset(status.upper() for status in settings.translation_status)
    rows, found, found_statuses = list[Translation](), set[str](), set[str]()
    for table in tables:
        for number, status, row in table:
            found.add(row.language)
            found_statuses.add(status)
            if row.language not in wanted_languages:
                report.leave_out("a translation into another language", row.concept_id)
            elif (status not in wanted_statuses) if wanted_statuses else (status in _MISSING):
                reason = f"a translation with the status {status or 'none'}"
                report.leave_out(reason, row.concept_id)
            elif not row.text:
                report.odd.skip(unreadable(table.path, number, _FORMAT, "it has no text"))
            else:
                rows.append(row)
    for language in sorted(wanted_languages):
        require_choice("language", language, sorted({*found, source_language}))
    for status in sorted(wanted_statuses):
        require_choice("translation_status", status, sorted(found_statuses))
    return Translator(rows, settings, source_language)


class _Table:
    """The rows of a table of translations."""

    def __init__(self, path: str | Path, language: str, odd: OddLines) -> None:
        """Find the columns.

        path (Union[str, Path]): The file.
        language (str): Its language if it does not tell it.
        odd (OddLines): Counts odd rows.
        """
        self.path, self._odd = Path(path), odd
        self._rows = list(read_rows(path, odd=odd))
        header = [column.strip().lower() for column in self._rows[0][1]] if self._rows else []
        require_distinct_columns(path, header)
        self._places = {
            name: header.index(usual)
            for name, columns in _TABLE["columns"].items()
            for usual in reversed(columns)
            if usual in header
        }
        for name in _REQUIRED:
            if name not in self._places:
                column = _TABLE["columns"][name][0]
                raise Errors.CN128(path=path, column=column)
        self._width = len(header)
        self._language, self._field = language, EXACT
        told = (self._cell(row, "source_language") for _, row in self._rows[1:])
        self.source_language = next(told, "")

    def __iter__(self) -> Iterator[tuple[int, str, Translation]]:
        """Read the rows.

        YIELDS (Tuple[int, str, Translation]): The line, the status in capitals, and what is told.
        """
        for number, row in require_width(self._rows[1:], self.path, self._width, odd=self._odd):
            concept_id = clean(self._cell(row, "id"))
            if concept_id == _ROBOT_ID:
                self._read_template(number, row)
                continue
            with self._odd.skip_errors():
                if not concept_id:
                    raise unreadable(self.path, number, _FORMAT, "it names no concept")
                predicate = self._cell(row, "predicate")
                field = self._field_of(number, predicate) if predicate else self._field
                language = self._cell(row, "language") or self._language
                text = clean(self._cell(row, "text"))
                status = self._cell(row, "status").upper()
                source = self._cell(row, "source")
                for part in text.split(_BETWEEN) if field in ALL_SCOPES else [text]:
                    translation = Translation(concept_id, field, part.strip(), language, source)
                    yield number, status, translation

    def _cell(self, row: Sequence[str], name: str) -> str:
        place = self._places.get(name)
        return row[place].strip() if place is not None and place < len(row) else ""

    def _read_template(self, number: int, row: Sequence[str]) -> None:
        template = _TEMPLATE.fullmatch(self._cell(row, "text"))
        if template is None:
            raise unreadable(self.path, number, _FORMAT, "its template for ROBOT has no predicate")
        self._field = self._field_of(number, template["predicate"])
        self._language = template["language"] or self._language

    def _field_of(self, number: int, predicate: str) -> str:
        if (field := _FIELDS.get(predicate.lower())) is None:
            known = ", ".join(name for names in _TABLE["predicates"].values() for name in names)
            reason = f"unknown predicate '{predicate}'; use one of {known}"
            raise unreadable(self.path, number, _FORMAT, reason)
        return field

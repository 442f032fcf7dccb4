"""What each row of the tables of English, and each rule of the mention finder, is worth: F1 of the
ids of documents on dev sets with it, less F1 without it.

A row is left out on the documents that have words it is about: those that are read in another way
without it, and those whose words are in names that are. All others stay as they are.

Examples: python benchmarks/ablation.py --rules
python benchmarks/ablation.py --rules --table meanings plurals --dataset hpo-notes ncbi --write
"""

from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _common.builders import NGRAMS
from _common.cli import begin, clear_errors, fail, finish, make_parser
from _common.datasets import Data
from _common.held_out import HELD_OUT, gold_of, hold_out, whole_spans
from _common.ontology_finder import CHOSEN_ON, TYPES, build_finder, found_spans, gold_spans
from _common.sentences import SETS as SENTENCES
from _common.sentences import ask, marked_spans
from spacy.language import Language
from spacy.tokens import Doc

import spacy_connorm.lang
from spacy_connorm.concepts import Ontology
from spacy_connorm.evaluation.end_to_end import MEASURES, DocumentSpans, LinkedSpan
from spacy_connorm.evaluation.report import Row
from spacy_connorm.files.progress import progress_bar
from spacy_connorm.finder.coordinations import coordination_joiner
from spacy_connorm.finder.phrases import phrases_of
from spacy_connorm.finder.rules import RULES, Judge, Rule
from spacy_connorm.index.word_bags import WordBags, language_table
from spacy_connorm.lang import LanguageData, load_language
from spacy_connorm.text.abbreviations import abbreviation_finder
from spacy_connorm.text.bag_hashes import hash_bags, hash_word
from spacy_connorm.text.composites import composite_splitter
from spacy_connorm.text.words import Words, words_of

SETS = (*CHOSEN_ON, "hpo-omim", *HELD_OUT, *SENTENCES)
RULES_TABLE = "rules"
# Tables of rows, and files of classes of words.
TABLES = ("meanings", "derivations", "plurals", "spellings", "other_meanings")
CLASSES = ("words", "finder")
# Of these, the first two columns name a row.
KEYS = ("meanings", "other_meanings")
_ENGLISH = "en"
_FOLDER = Path(spacy_connorm.lang.__file__).parent / _ENGLISH
_WORTH = "worth"
# A smaller difference is none.
_LEAST = 0.05
Found = Callable[[Doc, Ontology], list[LinkedSpan]]
_DOCUMENT = MEASURES.index("document")
_RIGHT, _FOUND, _GOLD = 0, 1, 3
# Classes that are not of spaCy, and that names are read with.
_OF_SPACY = "stop_words"
_OF_NAMES = {
    "function_words",
    "inflected_endings",
    "possessives",
    "semantic_tags",
    "tag_beginnings",
    "tag_endings",
}
# Rows of these matter only to words that become others, or others that are in names.
_OF_FORMS = {"derivations", "plurals", "spellings"}
# Both sides of a row replace each other.
_MUTUAL = {"root", "alike"}


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    if not arguments.rules:
        fail("Name what to leave out: --rules.")
    with clear_errors():
        rows = measure(arguments)
    if arguments.write:
        write_worth(rows, _FOLDER)
    finish(rows, arguments.json)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    add = parser.add_argument
    add("--rules", action="store_true", help="leave out rows of tables, and rules of the finder")
    add("--dataset", choices=SETS, nargs="+", default=SETS, help="[all of them]")
    tables = (*TABLES, *CLASSES, RULES_TABLE)
    add("--table", choices=tables, nargs="+", default=tables, help="[all of them]")
    add("--write", action="store_true", help="write the column `worth` of the tables")
    return parser


class LeftOut(NamedTuple):
    """A row or a rule to leave out.

    table (str): The table, or "rules".
    row (str): The row, as its first columns have it, or the name of the rule.
    kind (str): Rows with the same one can be left out together; see `groups_of`.
    part (Any): What the language or the list of rules has of it: the row's number or key, a class
        and its word, or the rule.
    is_about (Callable[[str], bool]): Whether a word, in lower case, is read in another way.
    reads_names (bool): Whether the words of names are read in another way, too.
    """

    table: str
    row: str
    kind: str
    part: Any
    is_about: Callable[[str], bool]
    reads_names: bool = False


def all_left_out(language: LanguageData, tables: Collection[str]) -> Iterator[LeftOut]:
    """YIELDS (LeftOut): Each row of some tables, and each rule."""
    for table in TABLES:
        if table in tables:
            yield from _rows_of(language, table)
    for name in CLASSES:
        if name in tables:
            yield from _words_of(language, name)
    if RULES_TABLE in tables:
        for rule in RULES:
            yield LeftOut(RULES_TABLE, rule.name, "", rule, lambda word: True)


def _rows_of(language: LanguageData, table: str) -> Iterator[LeftOut]:
    if table == "spellings":
        for part in language.spellings:
            yield LeftOut(table, part, part, part, partial(_has, part.strip("^$")), True)
        return
    for number, row in enumerate(getattr(language, table)):
        name = "/".join(row[:2]) if table in KEYS else row[0]
        kind = row.kind if table == "meanings" else name
        yield LeftOut(table, name, kind, number, _about(table, row), table == "plurals")


def groups_of(left_outs: Iterable[LeftOut]) -> list[list[LeftOut]]:
    """RETURNS (List[List[LeftOut]]): Rows and rules that do not keep each other from acting, as
    "us" keeps the plural "s" from "mucus": those of one class or kind; each by itself in tables
    whose longest rows come first.
    """
    groups = defaultdict[Hashable, list[LeftOut]](list)
    for left_out in left_outs:
        groups[left_out.table, left_out.kind].append(left_out)
    return [*groups.values()]


def rest_of(
    language: LanguageData, group: Sequence[LeftOut]
) -> tuple[LanguageData, tuple[Rule, ...]]:
    """Leave out rows of one table, or rules.

    language (LanguageData): The whole language.
    group (Sequence[LeftOut]): The rows or rules; at least one.
    RETURNS (Tuple[LanguageData, Tuple[Rule, ...]]): The language and the rules without them.
    """
    table, parts = group[0].table, {left_out.part for left_out in group}
    if table == RULES_TABLE:
        return language, tuple(rule for rule in RULES if rule not in parts)
    rows = getattr(language, table)
    rest: Any
    if table in CLASSES:
        rest = replace(rows, **_rest_of_classes(rows, parts))
    elif table == "spellings":
        rest = {part: text for part, text in rows.items() if part not in parts}
    else:
        rest = tuple(row for number, row in enumerate(rows) if number not in parts)
    return replace(language, **{table: rest}), RULES


def _rest_of_classes(classes: Any, parts: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """RETURNS (Dict[str, FrozenSet[str]]): The classes that some words are in, without them."""
    left_out = defaultdict[str, set[str]](set)
    for name, word in parts:
        left_out[name].add(word)
    return {name: getattr(classes, name) - words for name, words in left_out.items()}


def _about(table: str, row: Any) -> Callable[[str], bool]:
    """RETURNS (Callable[[str], bool]): Whether a row may be about a word."""
    if table == "plurals":
        return partial(_has, row.plural)
    if table == "derivations":
        nouns = row.noun_endings if row.is_of_nouns else ()
        return partial(_ends, (row.ending, *nouns))
    if table == "meanings":
        if row.kind == "ending":
            return partial(_ends, (row.word[1:],))
        others = row.stands_for if row.kind in _MUTUAL else ()
        return {row.word, *others}.__contains__
    return partial(_has, _longest_word(row.word))


def _words_of(language: LanguageData, name: str) -> Iterator[LeftOut]:
    classes = getattr(language, name)
    for field in fields(classes):
        words = getattr(classes, field.name)
        for word in sorted(words) if field.name != _OF_SPACY else ():
            about = partial(_has, _longest_word(word.lower()))
            is_of_names = field.name in _OF_NAMES
            yield LeftOut(
                name, f"{field.name}/{word}", field.name, (field.name, word), about, is_of_names
            )


def _longest_word(text: str) -> str:
    return max(text.split() or [""], key=len)


def _has(part: str, word: str) -> bool:
    return part in word


def _ends(endings: tuple[str, ...], word: str) -> bool:
    return word.endswith(endings)


class DevSet:
    """A dev set, its finder, and what is found with all rows and rules."""

    def __init__(
        self,
        ontology: Ontology,
        nlp: Language,
        gold: Mapping[Doc, Sequence[LinkedSpan]],
        found: Found,
    ) -> None:
        """ontology (Ontology): What is found.
        nlp (Language): Its finder.
        gold (Mapping[Doc, Sequence[LinkedSpan]]): The documents, and the mentions of each.
        found (Callable[[Doc, Ontology], List[LinkedSpan]]): Reads what was found.
        """
        self.ontology = ontology
        self.nlp = nlp
        self.finder = self.nlp.get_pipe("mention_finder")
        self.lookup = self.nlp.get_pipe("concept_normalizer").lookup
        self.index = self.lookup.index
        self.bags = self.index.word_bags
        self._docs = [*gold]
        self._gold = [*gold.values()]
        self._found = found
        self._read_words()
        self._read_names()
        self._spans = self._read(range(len(self._docs)))
        self._counts = np.array([self._count(*row) for row in self._spans.items()])
        self.score = _score(self._counts)

    def _read_words(self) -> None:
        """Find the documents of each token, and those of each word that is known."""
        self._tokens = defaultdict[str, set[int]](set)
        for number, doc in enumerate(self._docs):
            for token in doc:
                self._tokens[token.lower_].add(number)
        self._words = {token: self.index.words.normalized(token) for token in self._tokens}
        self._forms = {token: self._forms_of(token) for token in self._tokens}
        self._documents = defaultdict[int, set[int]](set)
        for token, values in self._forms.items():
            for value in values:
                self._documents[value] |= self._tokens[token]

    def _forms_of(self, token: str) -> frozenset[int]:
        """RETURNS (FrozenSet[int]): The hashes of its words and of what they may stand for."""
        words = self.index.words
        normalized = words.normalized(token)
        return frozenset(
            [
                *map(hash_word, normalized),
                *(value for word in normalized for value in words.forms.of(word).hashes.tolist()),
            ]
        )

    def _read_names(self) -> None:
        rows = self.index.members.row_numbers()
        texts = self.index.store.texts(range(len(rows)))
        self._names = [texts[number] for number in range(len(rows))]
        self._lowered = [name.lower() for name in self._names]
        self._rows = rows
        self._name_bags = list(map(self.index.words.bag, self._names))
        self._values = hash_bags(self._name_bags)

    def worths(self, group: Sequence[LeftOut]) -> Iterator[tuple[LeftOut, float, int]]:
        """Leave out a group of rows or rules one by one: first all together, then each half of
        them on the documents that have changed, and so on.

        group (Sequence[LeftOut]): See `groups_of`.
        YIELDS (Tuple[LeftOut, float, int]): Each, what it adds to F1, in points, and the number of
            documents that change without it.
        """
        about = {left_out.part: self._tokens_about(left_out) for left_out in group}
        yield from self._divide(group, about, {*range(len(self._docs))})

    def _divide(
        self,
        group: Sequence[LeftOut],
        about: Mapping[Hashable, Sequence[str]],
        documents: Collection[int],
    ) -> Iterator[tuple[LeftOut, float, int]]:
        changed = self._changed_without(group, about, documents) if documents else {}
        if changed and len(group) > 1:
            middle = len(group) // 2
            for half in (group[:middle], group[middle:]):
                yield from self._divide(half, about, changed.keys())
            return
        counts = self._counts.copy()
        for number, spans in changed.items():
            counts[number] = self._count(number, spans)
        for left_out in group:
            yield left_out, self.score - _score(counts), len(changed)

    def _tokens_about(self, left_out: LeftOut) -> list[str]:
        return [
            token
            for token, words in self._words.items()
            if left_out.is_about(token) or any(map(left_out.is_about, words))
        ]

    def _changed_without(
        self,
        group: Sequence[LeftOut],
        about: Mapping[Hashable, Sequence[str]],
        documents: Collection[int],
    ) -> dict[int, list[LinkedSpan]]:
        """Read documents without some rows of a table, or without some rules.

        RETURNS (Dict[int, List[LinkedSpan]]): What is found in those that change.
        """
        tokens = {token for left_out in group for token in about[left_out.part]}
        names = {
            number
            for left_out in group
            if left_out.reads_names
            for number, name in enumerate(self._lowered)
            if left_out.is_about(name)
        }
        if not tokens and not names:
            return {}
        self._use(*rest_of(load_language(_ENGLISH), group))
        read = set[int]()
        for token in tokens:
            if group[0].table not in _OF_FORMS or self._is_read_anew(token):
                read |= self._tokens[token]
        read |= self._with_names(names)
        spans = self._read(sorted(read.intersection(documents)))
        return {number: own for number, own in spans.items() if own != self._spans[number]}

    def _is_read_anew(self, token: str) -> bool:
        """RETURNS (bool): Whether a token has or had another word that is in names."""
        changed = self._forms[token] ^ self._forms_of(token)
        values = np.fromiter(changed, "uint64", len(changed))
        bags = (self.bags.known_words, self.bags.known_bags)
        return any(some.contain(values).any() for some in bags)

    def _with_names(self, names: Iterable[int]) -> set[int]:
        """Read names anew, without the row.

        names (Iterable[int]): Their numbers.
        RETURNS (Set[int]): The documents with words that a name has or had only then.
        """
        bags = {number: self.index.words.bag(self._names[number]) for number in names}
        changed = {number: bag for number, bag in bags.items() if bag != self._name_bags[number]}
        if not changed:
            return set()
        self.index.word_bags = self._with_bags(changed)
        words = {
            word for number, bag in changed.items() for word in {*bag} ^ {*self._name_bags[number]}
        }
        return set().union(*(self._documents.get(hash_word(word), set()) for word in words))

    def _with_bags(self, bags: Mapping[int, tuple[str, ...]]) -> WordBags:
        """RETURNS (WordBags): Those of all names, some of which have other words. Words that no
        name has any more are kept.

        bags (Mapping[int, Tuple[str, ...]]): The words of names, by number.
        """
        values = self._values.copy()
        values[list(bags)] = hash_bags(bags.values())
        named = np.flatnonzero(values)
        values, rows = np.unique(
            np.stack([values[named], self._rows[named].astype("uint64")]), axis=1
        )
        words = {hash_word(word) for bag in bags.values() for word in bag}
        return WordBags(
            values,
            rows.astype("int32"),
            np.union1d(self.bags.words, np.fromiter(words, "uint64", len(words))),
            max(self.bags.longest, *map(len, bags.values())),
        )

    def _read(self, numbers: Sequence[int]) -> dict[int, list[LinkedSpan]]:
        """RETURNS (Dict[int, List[LinkedSpan]]): What is found in some documents."""
        docs = self.nlp.pipe(self._docs[number].text for number in numbers)
        found = (self._found(doc, self.ontology) for doc in docs)
        return dict(zip(numbers, found, strict=True))

    def _count(self, number: int, spans: Sequence[LinkedSpan]) -> list[int]:
        return DocumentSpans(self._gold[number], spans).counts()[_DOCUMENT]

    def _use(self, language: LanguageData, rules: tuple[Rule, ...]) -> None:
        """Read texts and names with another language and other rules. Nothing is kept of what was
        read before.
        """
        for words in (words_of(_ENGLISH), self.index.words):
            endings = words.endings
            vars(words).clear()
            vars(words).update(vars(Words(language, endings)))
        for known in (
            abbreviation_finder,
            composite_splitter,
            coordination_joiner,
            language_table,
            phrases_of,
        ):
            known.cache_clear()
        self.index.word_bags = self.bags
        self.lookup._retriever = replace(self.lookup.retriever)
        self.finder._finder = None
        self.finder._name_finder()._judge = Judge(rules)

    def restore(self) -> None:
        """Read with the whole language and all rules again."""
        self._use(load_language(_ENGLISH), RULES)


def _score(counts: np.ndarray) -> float:
    """RETURNS (float): F1 of the ids of documents, in percent."""
    right, found, gold = (counts[:, column].sum() for column in (_RIGHT, _FOUND, _GOLD))
    return float(200 * right / max(1, found + gold))


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row a row or rule, those that are worth most first."""
    groups = groups_of(all_left_out(load_language(_ENGLISH), arguments.table))
    rows: dict[LeftOut, Row] = {
        left_out: {"table": left_out.table, "row": left_out.row, "documents": 0}
        for group in groups
        for left_out in group
    }
    for name in arguments.dataset:
        dev = read_set(name, arguments.data)
        bar = progress_bar(total=len(rows), unit="rows", description=name)
        try:
            for group in groups:
                for left_out, worth, documents in dev.worths(group):
                    rows[left_out][name] = round(worth, 2)
                    rows[left_out]["documents"] += documents
                    bar.update()
        finally:
            dev.restore()
    for row in rows.values():
        row["total"] = round(sum(row[name] for name in arguments.dataset), 2)
    return sorted(rows.values(), key=lambda row: -row["total"])


def read_set(name: str, folder: Path) -> DevSet:
    """RETURNS (DevSet): A dev set, names that are held out of an ontology, or plain sentences.

    name (str): One of `SETS`.
    folder (Path): The data folder.
    """
    if name in HELD_OUT:
        ontology, names = hold_out(name, folder)
        return DevSet(ontology, build_finder(ontology, NGRAMS), gold_of(names), whole_spans)
    if name in SENTENCES:
        asked = ask(name, folder)
        return DevSet(asked.ontology, asked.finder(), asked.gold(), marked_spans)
    data = Data(name, folder, part="dev")
    data.concept_types = TYPES.get(name, [])
    gold = {doc: gold_spans(doc, data.ontology) for doc in data.scored_docs}
    return DevSet(data.ontology, build_finder(data.ontology, NGRAMS), gold, found_spans)


def write_worth(rows: Iterable[Row], folder: Path) -> None:
    """Write what rows are worth into their tables.

    rows (Iterable[Dict[str, Any]]): From `measure`.
    folder (Path): The folder of the language.
    """
    by_table = defaultdict[str, dict[str, str]](dict)
    for row in rows:
        by_table[row["table"]][row["row"]] = describe(row)
    for table in TABLES:
        if table in by_table:
            _write_table(folder / f"{table}.tsv", by_table[table])


def describe(row: Mapping[str, Any]) -> str:
    """RETURNS (str): The sets on which a row changes F1, the most first: "hpo-notes +0.3"."""
    worth = {name: row[name] for name in SETS if abs(row.get(name, 0)) >= _LEAST}
    named = sorted(worth, key=lambda name: -abs(worth[name]))
    return ", ".join(f"{name} {worth[name]:+.1f}" for name in named) or "0"


def _write_table(path: Path, worth: Mapping[str, str]) -> None:
    header, *lines = path.read_text(encoding="utf8").splitlines()
    columns = header.split("\t")
    written = [header]
    for line in lines:
        values = line.split("\t")
        key = "/".join(values[:2]) if "/" in next(iter(worth)) else values[0]
        # Rows that were added since then have none.
        values[columns.index(_WORTH)] = worth.get(key, values[columns.index(_WORTH)])
        written.append("\t".join(values))
    path.write_text("".join(f"{line}\n" for line in written), encoding="utf8")


if __name__ == "__main__":
    main()

"""When do words mean the concept whose name is nearest to them, and when a word the only concept
whose names have it? Fits the weights of `spacy_connorm/finder/paraphrases.toml` to texts that were
written with small ontologies, and to plain sentences without a finding, each set scored by what the
others fit. Sets that nobody had read are not fitted to.

Example: python benchmarks/paraphrases.py --weights
"""

import random
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _common.cli import begin, clear_errors, finish, make_parser
from _common.sentences import plain_sentences
from _common.written_texts import SETS, UNREAD, WrittenTexts, marks_by_id
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from spacy.language import Language

from spacy_connorm.evaluation.report import Row, percent
from spacy_connorm.finder.distinctive_words import WordFeatures
from spacy_connorm.finder.found_mentions import FoundWindows, choose_mentions
from spacy_connorm.finder.paraphrases import Paraphrase, ParaphraseFeatures, choose_paraphrases

Weights = dict[type[Any], np.ndarray]

ENGLISH = tuple(name for name, language in SETS.items() if language == "en")
ENCODERS = ("ngrams", "accurate")
WHOLE, PART, PLAIN = "its texts", "half of its concepts", "sentences without a finding"
LARGER = "among six times as many concepts"
# The tables of their weights.
TABLES = {ParaphraseFeatures: "paraphrases", WordFeatures: "words"}
# The number of concepts of a part of an ontology, and of ontologies in a larger one.
_PART, _TOGETHER = 80, 6
_SEED = 1


class ReadDoc(NamedTuple):
    """A document without paraphrases, and what may be one.

    tokens (int): Its length.
    gold (Set[str]): The ids of its concepts.
    found (Set[str]): The ids that were found.
    paraphrases (List[Paraphrase]): All that comes near a name.
    """

    tokens: int
    gold: set[str]
    found: set[str]
    paraphrases: list[Paraphrase]

    def of(self, ids: set[str]) -> "ReadDoc":
        """RETURNS (ReadDoc): Only what concerns these concepts: of the others, the gold ids are not
        known.
        """
        near = [near for near in self.paraphrases if near.concept_id in ids]
        return self._replace(found=self.found & ids, paraphrases=near)


class Part(NamedTuple):
    """Documents that are read with one index.

    name (str): The set.
    encoder (str): One of `ENCODERS`.
    kind (str): What of it.
    docs (List[ReadDoc]): The documents.
    """

    name: str
    encoder: str
    kind: str
    docs: list[ReadDoc]


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    with clear_errors():
        rows = list(measure(arguments))
    finish(rows, arguments.json)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    add = parser.add_argument
    add("--set", choices=ENGLISH, nargs="+", default=[*ENGLISH], help="[all English ones]")
    add("--encoder", choices=ENCODERS, nargs="+", default=[*ENCODERS], help="[both]")
    add("--cut", type=float, nargs="+", default=[0.3, 0.5, 0.7], help="probabilities [%(default)s]")
    add("--weights", action="store_true", help="print those for the package")
    return parser


def measure(arguments: Namespace) -> Iterator[Row]:
    """YIELDS (Dict[str, Any]): One row a part and cut, with the paraphrases that are added to what
    is found.
    """
    parts = list(read_parts(arguments))
    fitted = [part for part in parts if part.name not in UNREAD]
    if arguments.weights:
        for kind, numbers in fit(fitted).items():
            names = ("intercept", *kind._fields)
            rows = [f"{name} = {number:.2f}" for name, number in zip(names, numbers, strict=True)]
            print("\n".join([f"[{TABLES[kind]}]", *rows]))
    weights = {
        name: fit([part for part in fitted if part.name != name] or fitted)
        for name in arguments.set
    }
    for part in parts:
        for cut in arguments.cut:
            yield score(part, weights[part.name], cut)


def read_parts(arguments: Namespace) -> Iterator[Part]:
    """YIELDS (Part): What is fitted to and scored."""
    for name in arguments.set:
        texts = WrittenTexts(name)
        for encoder in arguments.encoder:
            folder = arguments.work / "texts" / encoder
            nlp = texts.finder(folder / name, encoder)
            gold = [set(text.statuses) for text in texts.texts]
            docs = [text.text for text in texts.texts]
            yield Part(name, encoder, WHOLE, list(read_docs(nlp, docs, gold)))
            sentences = plain_sentences()
            nothing = [set[str]() for _ in sentences]
            yield Part(name, encoder, PLAIN, list(read_docs(nlp, sentences, nothing)))
            kept, smaller = _part_of(texts.ontology, arguments.work / f"{name}-{_PART}.csv")
            nlp = texts.finder(folder / smaller.stem, encoder, smaller)
            yield Part(
                name, encoder, PART, list(read_docs(nlp, docs, [kept & own for own in gold]))
            )
            own, larger = _with_others(name, arguments.work / f"{name}-{_TOGETHER}.csv")
            nlp = texts.finder(folder / larger.stem, encoder, larger)
            read = (doc.of(own) for doc in read_docs(nlp, docs, gold))
            yield Part(name, encoder, LARGER, list(read))


def read_docs(nlp: Language, texts: Sequence[str], gold: Sequence[set[str]]) -> Iterator[ReadDoc]:
    """YIELDS (ReadDoc): Each text, read with a pipeline without paraphrases."""
    component = nlp.get_pipe("mention_finder")
    component.cfg["min_paraphrase"] = 1.0
    query = nlp.get_pipe("concept_normalizer").query()
    for doc, ids in zip(nlp.pipe(texts), gold, strict=True):
        finder = component.name_finder()
        (windows,) = finder.find([doc])
        beside = FoundWindows(choose_mentions(windows.mentions), windows.refused)
        (near,) = finder.list_paraphrases([doc], [beside], query)
        yield ReadDoc(len(doc), ids, set(marks_by_id(doc)), near)


def _part_of(ontology: Path, path: Path) -> tuple[set[str], Path]:
    """Write a part of an ontology.

    RETURNS (Tuple[Set[str], Path]): The ids of its concepts, and the file.
    """
    header, *lines = ontology.read_text(encoding="utf8").splitlines()
    kept = random.Random(_SEED).sample(lines, _PART)
    path.write_text("\n".join([header, *kept, ""]), encoding="utf8")
    return {line.split(",")[0] for line in kept}, path


def _with_others(name: str, path: Path) -> tuple[set[str], Path]:
    """Write an ontology together with those of the next sets.

    RETURNS (Tuple[Set[str], Path]): The ids of its own concepts, and the file.
    """
    first = ENGLISH.index(name)
    header, *lines = WrittenTexts(name).ontology.read_text(encoding="utf8").splitlines()
    ids = {line.split(",")[0] for line in lines}
    for number in range(1, _TOGETHER):
        other = ENGLISH[(first + number) % len(ENGLISH)]
        _, *others = WrittenTexts(other).ontology.read_text(encoding="utf8").splitlines()
        lines += [f"{other}-{line.rpartition(',')[0]}," for line in others]
    path.write_text("\n".join([header, *lines, ""]), encoding="utf8")
    return ids, path


def fit(parts: Sequence[Part]) -> Weights:
    """RETURNS (Weights): For each kind of features, float64: the intercept and their weights."""
    return {kind: _fit(parts, kind) for kind in TABLES}


def _fit(parts: Iterable[Part], kind: type[Any]) -> np.ndarray:
    pairs = [
        (paraphrase.features, paraphrase.concept_id in doc.gold)
        for part in parts
        for doc in part.docs
        for paraphrase in doc.paraphrases
        if paraphrase.concept_id not in doc.found and isinstance(paraphrase.features, kind)
    ]
    features, are_right = (np.array(column, "float64") for column in zip(*pairs, strict=True))
    scaler = StandardScaler().fit(features)
    model = LogisticRegression(max_iter=3000).fit(scaler.transform(features), are_right > 0)
    weights = model.coef_[0] / scaler.scale_
    return np.array([model.intercept_[0] - weights @ scaler.mean_, *weights])


def score(part: Part, weights: Weights, cut: float) -> Row:
    """RETURNS (Dict[str, Any]): What the paraphrases from a probability on add."""
    added, right, known, ids = 0, 0, 0, 0
    for doc in part.docs:
        new = chosen_ids(doc, weights, cut) - doc.found
        added += len(new)
        right += len(new & doc.gold)
        known += len(doc.found & doc.gold)
        ids += len(doc.found) + len(doc.gold)
    tokens = sum(doc.tokens for doc in part.docs)
    has_gold = any(doc.gold for doc in part.docs)
    return {
        **{"set": part.name, "encoder": part.encoder, "of": part.kind, "from": cut},
        "added": added,
        "right": right,
        "wrong in 1,000 words": round(1000 * (added - right) / tokens, 2),
        "f1 before": percent(2 * known / ids) if has_gold else None,
        "f1": percent(2 * (known + right) / (ids + added)) if has_gold else None,
    }


def chosen_ids(doc: ReadDoc, weights: Weights, cut: float) -> set[str]:
    """RETURNS (Set[str]): The concepts of the most probable of overlapping paraphrases."""
    weighed = [
        paraphrase._replace(features=_Weighed(paraphrase.features, weights))
        for paraphrase in doc.paraphrases
    ]
    return {paraphrase.concept_id for paraphrase in choose_paraphrases(weighed, cut)}


class _Weighed:
    """Features with other weights than those of the package."""

    def __init__(self, features: Any, weights: Weights) -> None:
        intercept, *others = weights[type(features)]
        self.probability = float(expit(intercept + np.dot(others, features)))


if __name__ == "__main__":
    main()

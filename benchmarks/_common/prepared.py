"""How the papers read a data set, for comparison with their numbers only: it looks at gold."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from math import prod
from statistics import mean
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from spacy.tokens import Doc, Span

from _common.datasets import Data, blank_english, read_long_forms
from _common.scoring import read_standard
from spacy_connorm.concepts import Candidate, Concept, Ontology
from spacy_connorm.concepts.concept import by_part
from spacy_connorm.documents.mentions import Mention, annotated_mentions
from spacy_connorm.evaluation import Gold, Prediction
from spacy_connorm.evaluation.queries import biosyn_ids, biosyn_texts, join_parts
from spacy_connorm.linker.decision import written_id
from spacy_connorm.text.composites import split_composite


class PreparedData(Data):
    """A data set whose names are lower-cased, without punctuation, and whose D is made of the texts
    that `biosyn_texts` makes of its mentions, each as a document of its own.
    """

    def digest(self, *, with_data: bool) -> str:
        return f"biosyn{super().digest(with_data=with_data)}"

    @cached_property
    def ontology(self) -> Ontology:
        """RETURNS (Ontology): O."""
        read = super().ontology
        return Ontology(map(_prepared, read), source=read.source)

    @cached_property
    def docs(self) -> list[Doc]:
        """RETURNS (List[Doc]): The texts of D that have concepts."""
        docs = super().docs
        mentions = [mention for doc in docs for mention in annotated_mentions(doc)]
        return [
            part
            for mention, long_form in zip(mentions, read_long_forms(docs), strict=True)
            for part in _as_documents(
                mention,
                prepared_texts(mention, long_form),
                biosyn_ids(mention.concept_ids),
                self.ontology,
            )
        ]


class SplitData(Data):
    """A data set whose D is made of mentions as written, each as a document of its own; composites
    are split by gold.
    """

    def digest(self, *, with_data: bool) -> str:
        return f"{'split' * with_data}{super().digest(with_data=with_data)}"

    @cached_property
    def docs(self) -> list[Doc]:
        """RETURNS (List[Doc]): The texts of D that have concepts."""
        return [
            part
            for doc in super().docs
            for mention in annotated_mentions(doc)
            for part in _as_documents(mention, _parts(mention), mention.concept_ids, self.ontology)
        ]


def prepared_texts(mention: Mention, long_form: str) -> tuple[str, ...]:
    """RETURNS (Tuple[str, ...]): The texts to search for a mention, or to learn.

    mention (Mention): The mention.
    long_form (str): What it stands for in its document; may be empty.
    """
    long_forms = {mention.text: long_form} if long_form else {}
    return biosyn_texts(mention.text, biosyn_ids(mention.concept_ids), long_forms, "en")


class SearchedMentions(NamedTuple):
    """The m mentions to score, and the t texts that are searched for them.

    gold (List[Gold]): (m,) The gold ids.
    texts (List[str]): (t,) What is searched.
    counts (List[int]): (m,) How many of these texts each mention has.
    """

    gold: list[Gold]
    texts: list[str]
    counts: list[int]

    def predict(self, found: Sequence[Sequence[Candidate]]) -> list[Prediction]:
        """RETURNS (List[Prediction]): (m,) The predictions of a pipeline that finds these
        candidates for the texts.
        """
        answers = join_parts(found, self.counts)
        return [Prediction(answer, written_id(answer, None)) for answer in answers]


def read_as_written(data: Data) -> SearchedMentions:
    """RETURNS (SearchedMentions): The mentions of a data set, each searched as it is."""
    texts = [mention.text for mention in data.mentions]
    return SearchedMentions(read_standard(data), texts, [1] * len(texts))


def read_prepared(data: Data) -> SearchedMentions:
    """RETURNS (SearchedMentions): The mentions of a `PreparedData` with BioSyn's preprocessing."""
    texts = [
        prepared_texts(mention, long_form)
        for mention, long_form in zip(data.mentions, data.long_forms, strict=True)
    ]
    known = {text for text, _ in data.synonyms}
    gold = [
        each._replace(
            concept_ids=frozenset(map(data.ontology.primary_id, biosyn_ids(mention.concept_ids))),
            seen=known.issuperset(own),
        )
        for each, mention, own in zip(read_standard(data), data.mentions, texts, strict=True)
    ]
    return SearchedMentions(gold, [*chain.from_iterable(texts)], [*map(len, texts)])


def read_split(data: Data) -> SearchedMentions:
    """RETURNS (SearchedMentions): The mentions of a data set as Xu and Bethard (2021) search them:
    composites are split where that gives as many parts as gold ids, nothing else is changed.
    """
    texts = [_parts(mention) for mention in data.mentions]
    return SearchedMentions(read_standard(data), [*chain.from_iterable(texts)], [*map(len, texts)])


def _parts(mention: Mention) -> tuple[str, ...]:
    count = len(mention.concept_ids)
    ways = split_composite(mention.text, "en") if count > 1 else []
    return next((tuple(way) for way in ways if len(way) == count), (mention.text,))


def expected_accuracy(gold: Gold, prediction: Prediction) -> float:
    """RETURNS (float): The chance that a mention is right if one of the candidates with the best
    score is drawn, for each part of a split mention: all must be right.
    """
    chances = []
    for part in by_part(prediction.candidates):
        tied = [each for each in part if each.score == part[0].score]
        chances.append(mean(candidate.concept_id in gold.concept_ids for candidate in tied))
    return prod(chances) if chances else 0.0


def _prepared(concept: Concept) -> Concept:
    name, *aliases = (biosyn_texts(name, (), {}, "en")[0] for name in concept.names)
    others = tuple(dict.fromkeys(alias for alias in aliases if alias != name))
    return replace(concept, canonical_name=name, aliases=others)


def _as_documents(
    mention: Mention, texts: Sequence[str], ids: Sequence[str], ontology: Ontology
) -> Iterator[Doc]:
    """YIELDS (Doc): Each text of a mention. If there are as many as gold ids, each has its own;
    otherwise it has all of them, and is not trained on. Nothing without gold ids.
    """
    if not ids:
        return
    owners = _own_ids(texts, ids, ontology)
    for text, owner in zip(texts, owners, strict=True):
        doc = blank_english().make_doc(text)
        doc.ents = [Span(doc, 0, len(doc), mention.label, kb_id=owner)]
        yield doc


def _own_ids(texts: Sequence[str], ids: Sequence[str], ontology: Ontology) -> Sequence[str]:
    if len(texts) != len(ids):
        return ["|".join(ids)] * len(texts)
    names = [
        {name.lower() for name in ontology[concept_id].names} if concept_id in ontology else ()
        for concept_id in ids
    ]
    known = np.array([[text.lower() in own for own in names] for text in texts], dtype=float)
    # Corpora name most ids in the order of the parts, but not all: a part that O knows comes first.
    _, places = linear_sum_assignment(known + np.eye(len(ids)) / (2 * len(ids)), maximize=True)
    return [ids[place] for place in places]

"""The component that ranks the candidates of mentions again, trained on annotated documents. spaCy
imports this module whenever it creates a pipeline, so it must stay light.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc, Span
from spacy.training import Example, validate_examples
from spacy.vocab import Vocab
from thinc.api import Config, Model, Optimizer, set_dropout_rate

from ..concepts import NIL, Candidate
from ..documents.mentions import Mention, annotated_mentions
from ..documents.spans import get_candidates, get_kb_id, set_kb_ids, set_span_attributes
from ..errors import ConnormError, Errors, quote
from ..reranking.model import (
    MentionBatch,
    RankingInput,
    Reranker,
    is_initialized,
    mention_numbers,
    reads_sentences,
)
from ..reranking.ranking import is_ranked, rank_again
from .concept_normalizer import ConceptNormalizer
from .normalizer_link import NormalizerLink
from .reranker_examples import RankedMentions, read_ranked
from .visits import normalizers_of

if TYPE_CHECKING:
    from ..linker.retriever import Retriever
    from ..reranking.annotated_counts import AnnotatedCounts

DEFAULT_CONFIG = """
[candidate_reranker]
normalizer = null
held_out = true

[candidate_reranker.model]
@architectures = "spacy-connorm.CandidateReranker.v1"
tok2vec = null
hidden_width = 32
context_width = 16
"""
# A text and its annotated mentions.
_Document: TypeAlias = tuple[str, tuple[Mention, ...]]
# Documents that show the model what it will read.
_SAMPLE = 10


@Language.factory(
    "candidate_reranker",
    requires=["span._.candidates"],
    assigns=["token.ent_kb_id", "span._.candidates", "span._.kb_ents", "span._.kb_id"],
    default_config=Config().from_str(DEFAULT_CONFIG)["candidate_reranker"],
)
def make_candidate_reranker(
    nlp: Language, name: str, model: Model, normalizer: str | None, held_out: bool
) -> "CandidateReranker":
    return CandidateReranker(nlp, model, name, normalizer=normalizer, held_out=held_out)


class CandidateReranker(TrainablePipe):
    """Ranks the candidates that a concept normalizer has found, and writes the ids again. Scores
    and probabilities stay what they are: those of the first candidate may be lower than those of
    the next, and lower than the normalizer's `nil_threshold`. Mentions without a concept stay
    without one.
    """

    def __init__(
        self,
        nlp: Language,
        model: Reranker,
        name: str = "candidate_reranker",
        *,
        normalizer: str | None = None,
        held_out: bool = True,
    ) -> None:
        """Store the parts. The normalizer is looked for when the first document comes.

        nlp (Language): The pipeline, which has or will have a concept normalizer.
        model (Reranker): `CandidateReranker.v1`.
        name (str): The component's name.
        normalizer (Optional[str]): Which concept normalizer, if there are several.
        held_out (bool): Whether the annotated data (D) of the normalizer has the documents of the
            training corpus, so that each is left out while its mentions are searched.
        """
        vocab: Vocab = nlp.vocab
        super().__init__(vocab, model, name, normalizer=normalizer, held_out=held_out)
        self._link = NormalizerLink(nlp, name)
        self._prepared: dict[_Document, RankedMentions] = {}
        self._counted: tuple[Retriever, AnnotatedCounts] | None = None

    @property
    def normalizer(self) -> ConceptNormalizer:
        """RETURNS (ConceptNormalizer): The component whose candidates are ranked.
        RAISES (ConnormError): CN015 if the pipeline has none.
        """
        return self._link.require(self.cfg["normalizer"], Errors.CN015)

    def predict(self, docs: Iterable[Doc]) -> list[list[list[Candidate]]]:
        """Rank the candidates of all mentions, without writing them.

        docs (Iterable[Doc]): Documents that the concept normalizer has processed.
        RETURNS (List[List[List[Candidate]]]): Candidates by document and span, best first.
        RAISES (ConnormError): CN015 without a normalizer, CN016 for a document that it has not
            processed, CN017 before training, CN422 if its scores are inner products.
        WARNS (ConnormWarning): CNW004, once, if another pipeline's has processed a document.
        """
        from ..reranking.mention_batches import describe_mentions

        docs = list(docs)
        for doc in docs:
            self._link.warn_of_others(normalizers_of(doc))
        read = [self._read(doc) for doc in docs]
        if not is_initialized(self.model):
            raise ConnormError(Errors.CN017.format(name=self.name))
        retriever, counts = self._counts()
        batches = [
            describe_mentions(spans, candidates, retriever, counts) for spans, candidates in read
        ]
        found = [candidates for _, candidates in read]
        sizes = [len(batch.mention) for batch in batches]
        if not any(sizes):
            return found
        scores = self.model.ops.to_numpy(self.model.predict(self._input(docs, batches)))
        by_doc = np.split(scores, np.cumsum(sizes)[:-1])
        return list(map(rank_again, found, by_doc))

    def set_annotations(
        self, docs: Iterable[Doc], scores: Sequence[Sequence[list[Candidate]]]
    ) -> None:
        """Write candidates in their new order, and the ids of the first ones.

        docs (Iterable[Doc]): The documents.
        scores (Sequence[Sequence[List[Candidate]]]): What `predict` returned for them.
        """
        cfg = self.normalizer.cfg
        prefix = cfg["attribute_prefix"]
        for doc, by_span in zip(docs, scores, strict=True):
            spans = self.normalizer.spans(doc) if by_span else []
            ids = [
                _new_id(get_kb_id(span, prefix), ranked)
                for span, ranked in zip(spans, by_span, strict=True)
            ]
            set_span_attributes(doc, spans, ids, by_span, prefix=prefix)
            if not prefix:
                set_kb_ids(doc, spans, ids, spans_key=cfg["spans_key"])

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
    ) -> None:
        """Give the model its shape. Examples need annotated mentions with gold ids.

        get_examples (Callable[[], Iterable[Example]]): Annotated documents.
        nlp (Optional[Language]): The pipeline, whose normalizer is used from now on.
        RAISES (ConnormError): CN015 without a normalizer, CN001 before it is initialized, CN014 if
            sentences are read and its vectors are sparse, CN018 if no example has a mention with
            several candidates, CN422 if scores are inner products.
        """
        if nlp is not None:
            self._link.move(nlp)
        self._counted = None
        self._prepared = {}
        read = ((each.predicted, self._prepare(each)) for each in get_examples())
        sample = list(islice((each for each in read if len(each[1].right)), _SAMPLE))
        if not sample:
            raise ConnormError(Errors.CN018)
        docs, prepared = zip(*sample, strict=True)
        self.model.initialize(X=self._input(docs, [each.batch for each in prepared]))
        # Components that annotate, such as abbreviations, have not run yet.
        self._prepared = {}

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from annotated documents. Candidates are looked for once for each document, in the
        first epoch.

        examples (Iterable[Example]): Their references have mentions with gold ids.
        drop (float): The share of numbers that are dropped.
        sgd (Optional[Optimizer]): Changes the weights; gradients are kept if None.
        losses (Optional[Dict[str, float]]): Where the loss is added.
        RETURNS (Dict[str, float]): The losses by component.
        RAISES (ConnormError): CN015 without a normalizer, CN001 before it is initialized, CN422 if
            scores are inner products.
        """
        from ..reranking.ranking_loss import ranking_loss

        examples = list(examples)
        validate_examples(examples, "CandidateReranker.update")
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        prepared = list(map(self._prepare, examples))
        batches = [each.batch for each in prepared]
        right = np.concatenate([np.zeros(0, dtype=bool), *(each.right for each in prepared)])
        if not right.any() and not reads_sentences(self.model):
            return losses
        set_dropout_rate(self.model, drop)
        docs = [each.predicted for each in examples]
        scores, backprop = self.model.begin_update(self._input(docs, batches))
        loss, gradient = 0.0, np.zeros(len(right), dtype="float32")
        if right.any():
            found = self.model.ops.to_numpy(scores)
            loss, gradient = ranking_loss(found, mention_numbers(batches), right)
        # Even if nothing is right: a listener to a shared layer must backpropagate each batch.
        backprop(self.model.ops.asarray1f(gradient))
        if sgd not in (None, False):
            self.finish_update(sgd)
        losses[self.name] += loss
        return losses

    def _counts(self) -> "tuple[Retriever, AnnotatedCounts]":
        from ..reranking.annotated_counts import AnnotatedCounts

        normalizer = self.normalizer
        retriever = normalizer.lookup.retriever
        if not retriever.has_cosines:
            mend = 'Set `metric = "cosine"`, or remove the reranker.'
            message = Errors.CN422.format(what="A reranker", name=normalizer.name, mend=mend)
            raise ConnormError(message)
        if self._counted is None or self._counted[0] is not retriever:
            self._prepared = {}
            counts = AnnotatedCounts.beside(retriever.index, retriever.overlay)
            self._counted = retriever, counts
        return self._counted

    def _input(self, docs: Sequence[Doc], batches: Sequence[MentionBatch]) -> RankingInput:
        from ..reranking.name_vectors import name_vectors

        names = list(chain.from_iterable(each.names for each in batches))
        if not reads_sentences(self.model):
            return RankingInput(docs, batches, np.empty((len(names), 0), dtype="float32"))
        return RankingInput(docs, batches, name_vectors(names, self._counts()[0]))

    def _read(self, doc: Doc) -> tuple[list[Span], list[list[Candidate]]]:
        normalizer = self.normalizer
        prefix = normalizer.cfg["attribute_prefix"]
        spans = normalizer.spans(doc)
        found = []
        for span in spans:
            candidates = get_candidates(span, prefix)
            if candidates is None:
                raise ConnormError(Errors.CN016.format(name=self.name, text=quote(span.text)))
            found.append(candidates)
        return spans, found

    def _prepare(self, example: Example) -> RankedMentions:
        """RETURNS (RankedMentions): What is learned from an example; candidates are looked for in
        the first epoch only.
        """
        reference = example.reference
        spans_key = self.normalizer.cfg["spans_key"]
        key = reference.text, tuple(annotated_mentions(reference, spans_key=spans_key))
        # First, since changed synonyms change the candidates.
        _, counts = self._counts()
        if key not in self._prepared:
            held_out = self.cfg["held_out"]
            self._prepared[key] = read_ranked(example, self.normalizer, counts, held_out=held_out)
        return self._prepared[key]


def _new_id(old: str, candidates: Sequence[Candidate]) -> str:
    return candidates[0].concept_id if old != NIL and is_ranked(candidates) else old

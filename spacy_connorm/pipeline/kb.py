"""A bridge to spaCy's `entity_linker`, which disambiguates our candidates by their context."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from spacy.kb import Candidate as KBCandidate
from spacy.kb import InMemoryLookupKB, KnowledgeBase
from spacy.tokens import Span
from spacy.vocab import Vocab

from ..documents.spans import get_candidates, is_normalized
from ..errors import ConnormError, Errors, quote

if TYPE_CHECKING:
    from ..index.concept_index import ConceptIndex


def create_candidate_generator(
    attribute_prefix: str = "",
) -> Callable[[KnowledgeBase, Span], Iterable[KBCandidate]]:
    """Create a `get_candidates` for the entity linker, `spacy-connorm.CandidateGenerator.v1`. It
    returns the candidates that a concept normalizer earlier in the pipeline found for the span.

    attribute_prefix (str): The normalizer's prefix.
    RETURNS (Callable): From knowledge base and span to spaCy candidates. Their prior probability is
        the score, 0 to 1. Concepts that the knowledge base lacks are left out. An entity that was
        set after the normalizer ran, such as a gold entity that your NER does not find, has no
        candidates; the linker learns nothing from it.
    RAISES (ConnormError): CN007 for a document that no normalizer has processed.
    """

    def generate(kb: KnowledgeBase, mention: Span) -> Iterable[KBCandidate]:
        candidates = get_candidates(mention, attribute_prefix)
        if candidates is None and not is_normalized(mention.doc, attribute_prefix):
            start, end = mention.start_char, mention.end_char
            text = quote(mention.text)
            raise ConnormError(Errors.CN007.format(start=start, end=end, text=text))
        strings = kb.vocab.strings
        return [
            KBCandidate(
                kb,
                entity_hash=strings.add(candidate.concept_id),
                entity_freq=0,
                entity_vector=kb.get_vector(candidate.concept_id),
                alias_hash=strings.add(candidate.text),
                prior_prob=min(max(candidate.score, 0.0), 1.0),
            )
            for candidate in candidates or ()
            if kb.contains_entity(candidate.concept_id)
        ]

    return generate


def create_kb_loader(path: Path) -> Callable[[Vocab], InMemoryLookupKB]:
    """Create a `kb_loader` for the entity linker's `initialize`, `spacy-connorm.KnowledgeBase.v1`.

    path (Path): A folder written by a concept normalizer's `to_disk`: `OUT/concept_normalizer` of
        `connorm index`.
    RETURNS (Callable): From vocab to knowledge base. It raises the errors of `ConceptIndex` and
        `build_knowledge_base`.
    """

    def load(vocab: Vocab) -> InMemoryLookupKB:
        from ..index.backends.exact import ExactIndex
        from ..index.concept_index import ConceptIndex

        index = ConceptIndex(Path(path) / "index", ExactIndex())
        return build_knowledge_base(index, vocab)

    return load


def build_knowledge_base(index: "ConceptIndex", vocab: Vocab) -> InMemoryLookupKB:
    """Fill spaCy's knowledge base with the concepts of an index. The vector of a concept is the
    mean of its texts' vectors (OD-C; for a hybrid encoder, the dense ones), its frequency is how
    often it occurs in D.

    index (ConceptIndex): The index.
    vocab (Vocab): The pipeline's.
    RETURNS (InMemoryLookupKB): The knowledge base; the entity linker saves it.
    RAISES (ConnormError): CN008 if the index has sparse vectors.
    """
    from ..encoders.protocol import stack
    from ..index.builder import concept_means
    from ..index.concept_index import D, O
    from ..index.vectors import HybridVectors, SparseVectors

    vectors = index.vectors.dense if isinstance(index.vectors, HybridVectors) else index.vectors
    if isinstance(vectors, SparseVectors):
        raise ConnormError(Errors.CN008)
    numbers, blocks = concept_means(vectors, index.members, O | D, len(index.store))
    counts = np.bincount(
        index.members.concept, weights=index.members.count, minlength=len(index.store)
    )
    labels = index.store.labels(numbers)
    ids = [labels[number][0] for number in numbers.tolist()]
    kb = InMemoryLookupKB(vocab, entity_vector_length=vectors.width)
    kb.set_entities(entity_list=ids, freq_list=counts[numbers], vector_list=stack(blocks))
    return kb

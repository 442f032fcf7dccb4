"""A bridge to spacy-llm: its entity linker chooses among our candidates with any language model."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from spacy.tokens import Span
from spacy.vocab import Vocab

from ..concepts import NIL, Concept
from ..documents.abbreviations import find_long_forms
from ..errors import Errors, require_range
from .concept_normalizer import ConceptNormalizer
from .loading import load_normalizer

if TYPE_CHECKING:
    from spacy_llm.tasks.entity_linker.ty import Entity

_NO_CONCEPT = "None of the concepts."
_SYNONYMS = 5


class IndexCandidateSelector:
    """Gives spacy-llm's `EntityLinker` task the candidates of a concept normalizer."""

    def __init__(self, path: str | Path, *, top_k: int, component: str | None) -> None:
        """Store the arguments. The index is loaded by `initialize`, which the task calls.

        path (Union[str, Path]): A pipeline's folder, or an installed package.
        top_k (int): The maximum number of candidates for a mention; for a composite, for each part.
        component (Optional[str]): The concept normalizer to use, if there are several.
        RAISES (ConnormError): CN006 for a `top_k` below 1.
        """
        require_range(least=1, top_k=top_k)
        self._path = path
        self._top_k = top_k
        self._component = component
        self._normalizer: ConceptNormalizer | None = None

    def initialize(self, vocab: Vocab) -> None:
        """Load the index.

        vocab (Vocab): The pipeline's.
        RAISES (ConnormError): CN700 to CN704, as for `load_normalizer`.
        """
        self._normalizer = load_normalizer(self._path, component=self._component)

    def __call__(self, mentions: Iterable[Span]) -> "list[list[Entity]]":
        """Find the candidates of mentions. As in any pipeline, abbreviations are expanded if a
        component has found their definitions.

        mentions (Iterable[Span]): b mentions of one document.
        RETURNS (List[List[Entity]]): b lists, best first; only NIL if nothing is found.
        RAISES (ConnormError): CN001 before `initialize`.
        """
        from spacy_llm.tasks.entity_linker.ty import Entity

        spans, normalizer = list(mentions), self._loaded()
        long_forms = find_long_forms(spans[0].doc, spans) if spans else []
        texts = [span.text for span in spans]
        answers = normalizer.candidates(texts, long_forms=long_forms, top_k=self._top_k)
        return [
            [
                Entity(id=concept_id, description=self.get_entity_description(concept_id))
                for concept_id in dict.fromkeys(candidate.concept_id for candidate in candidates)
            ]
            or [Entity(id=NIL, description=_NO_CONCEPT)]
            for candidates in answers
        ]

    def get_entity_description(self, entity_id: str) -> str:
        """Describe a concept to a model.

        entity_id (str): Its id.
        RETURNS (str): Its preferred name, some synonyms, its definition and its parents' names.
        RAISES (ConnormError): CN001 before `initialize`, CN411 for an unknown id.
        """
        if entity_id == NIL:
            return _NO_CONCEPT
        normalizer = self._loaded()
        concept = normalizer.concept(entity_id)
        parents = [normalizer.concept(parent).canonical_name for parent in concept.parents]
        return _description(concept, parents)

    def _loaded(self) -> ConceptNormalizer:
        if self._normalizer is None:
            raise Errors.CN001()
        return self._normalizer


def _description(concept: Concept, parents: Sequence[str]) -> str:
    facts = [concept.canonical_name]
    if concept.aliases:
        facts.append(f"also called {', '.join(concept.aliases[:_SYNONYMS])}")
    if parents:
        facts.append(f"a kind of {', '.join(parents)}")
    if concept.definition:
        facts.append(concept.definition)
    # One line per concept, as prompts list them.
    return " ".join("; ".join(facts).split())


def create_candidate_selector(
    path: Path, top_k: int = 5, component: str | None = None
) -> IndexCandidateSelector:
    """Create a candidate selector for spacy-llm's `EntityLinker` task, registered as
    `spacy-connorm.CandidateSelector.v1`. Needs the extra `[llm]`.

    path (Path): A pipeline's folder, such as one written by `connorm index`.
    top_k (int): The maximum number of candidates for a mention.
    component (Optional[str]): The concept normalizer to use, if there are several.
    RETURNS (IndexCandidateSelector): Finds candidates once its task is initialized.
    RAISES (ConnormError): CN006 for a `top_k` below 1.
    """
    return IndexCandidateSelector(path, top_k=top_k, component=component)

"""Which components have set the mentions of a document and linked them: a pipeline whose normalizer
links the names of another one, or gets no mentions at all, is warned of.
"""

from collections.abc import Iterable
from itertools import takewhile
from multiprocessing import parent_process
from typing import Any
from weakref import WeakKeyDictionary, WeakSet, ref

from spacy.language import Language
from spacy.tokens import Doc

from ..errors import Warnings
from ..text.composites import PART_SEPARATOR

# Not stored on the document: the entry disappears with it, and other processes do not see it.
_FINDERS: WeakKeyDictionary[Doc, WeakSet[Any]] = WeakKeyDictionary()
_RETRIEVERS: WeakKeyDictionary[Doc, Any] = WeakKeyDictionary()
_NORMALIZERS: WeakKeyDictionary[Doc, WeakSet[Any]] = WeakKeyDictionary()
_PIPELINES: WeakKeyDictionary[Any, ref[Language]] = WeakKeyDictionary()
# The normalizers that have warned of their place in a pipeline.
_WARNED: WeakSet[Any] = WeakSet()


def record_finder(docs: Iterable[Doc], finder: Any) -> None:
    """Record which component set the mentions of documents.

    docs (Iterable[Doc]): The documents.
    finder (MentionFinder): The component, which uses the names of a normalizer.
    """
    for doc in docs:
        _FINDERS.setdefault(doc, WeakSet()).add(finder)


def record_retriever(docs: Iterable[Doc], retriever: Any) -> None:
    """Record the snapshot whose names were found in documents.

    docs (Iterable[Doc]): The documents.
    retriever (Retriever): The snapshot.
    """
    for doc in docs:
        _RETRIEVERS[doc] = retriever


def choose_retriever(doc: Doc, names: Iterable[str], current: Any) -> Any:
    """Choose the snapshot that answers for a document: the one whose names were found in it if some
    of them have been removed in the meantime, since the nearest other name would be wrong.

    doc (Doc): The document.
    names (Iterable[str]): The names that a finder matched; empty for other mentions.
    current (Retriever): The normalizer's snapshot.
    RETURNS (Retriever): The finder's snapshot or the current one.
    """
    found_by = _RETRIEVERS.get(doc, current)
    if found_by is current or found_by.index is not current.index:
        return current
    parts = {part for name in names for part in name.split(PART_SEPARATOR) if part}
    gone = parts - current.find_known_texts(parts, "OD")
    return found_by if gone else current


def record_normalizer(doc: Doc, normalizer: Any) -> None:
    """Record that a concept normalizer has read a document.

    doc (Doc): The document.
    normalizer (ConceptNormalizer): The component.
    WARNS (ConnormWarning): CNW004, once, if the mentions are names from another pipeline.
    """
    normalizers = _NORMALIZERS.setdefault(doc, WeakSet())
    normalizers.add(normalizer)
    for finder in _FINDERS.get(doc, ()):
        finder.warn_of_others(list(normalizers))


def record_pipeline(normalizer: Any, nlp: Language) -> None:
    """Record which pipeline a concept normalizer was made for.

    normalizer (ConceptNormalizer): The component.
    nlp (Language): The pipeline.
    """
    _PIPELINES[normalizer] = ref(nlp)


def recorded_pipeline(normalizer: Any) -> Language | None:
    """Get the pipeline that a concept normalizer was made for.

    normalizer (ConceptNormalizer): The component.
    RETURNS (Optional[Language]): The pipeline, as long as it exists.
    """
    reference = _PIPELINES.get(normalizer)
    return reference() if reference else None


def warn_without_entities(normalizer: Any, docs: Iterable[Doc]) -> None:
    """Warn if nothing has set entities on documents, not even that there are none, and no component
    before a normalizer does.

    normalizer (ConceptNormalizer): The component.
    docs (Iterable[Doc]): The documents.
    WARNS (ConnormWarning): CNW006, once.
    """
    nlp = recorded_pipeline(normalizer)
    is_unset = [not doc.has_annotation("ENT_IOB") for doc in docs if len(doc)]
    # Each of many processes would warn.
    if not nlp or normalizer in _WARNED or parent_process() or not is_unset or not all(is_unset):
        return
    before = takewhile(lambda component: component[1] is not normalizer, nlp.pipeline)
    if not any(_may_set_entities(nlp, name) for name, _ in before):
        _WARNED.add(normalizer)
        Warnings.CNW006.warn(name=normalizer.name, components=", ".join(nlp.pipe_names))


def _may_set_entities(nlp: Language, name: str) -> bool:
    # Many components that are not spaCy's declare nothing.
    assigned = nlp.get_pipe_meta(name).assigns
    is_silent = not assigned and not nlp.get_pipe(name).__module__.startswith("spacy.")
    return is_silent or "doc.ents" in assigned

"""How a component finds the concept normalizer of its pipeline. It must stay light."""

from collections.abc import Iterable, Sequence
from typing import Any

from spacy.language import Language

from ..errors import ConnormError, Warnings, warn
from .concept_normalizer import ConceptNormalizer


class NormalizerLink:
    """The concept normalizers of the pipeline that a component is in. They are looked for when they
    are needed, since they may be added later.
    """

    def __init__(self, nlp: Language, name: str = "") -> None:
        """Store both.

        nlp (Language): The pipeline, which has or will have a concept normalizer.
        name (str): The component's name, for warnings.
        """
        # Strong: a component that another pipeline takes over (`source`) outlives its own.
        # A worker gets the pipeline, too: spaCy pickles it with its components.
        self._nlp = nlp
        self._name = name
        self._has_warned = False
        self._was_loaded = False

    def move(self, nlp: Language) -> None:
        """Look in another pipeline from now on.

        nlp (Language): The pipeline.
        """
        self._nlp = nlp
        self._has_warned = False

    def require(self, wanted: str | None, message: str) -> ConceptNormalizer:
        """Find a concept normalizer.

        wanted (Optional[str]): Its name; None for the first one.
        message (str): The error, with places for the `component` that is missing and the
            `known` ones.
        RETURNS (ConceptNormalizer): The normalizer.
        RAISES (ConnormError): That error if the pipeline lacks it.
        """
        found = self._find()
        name = next(iter(found), None) if wanted is None else wanted
        if name not in found:
            named = "concept normalizer" if wanted is None else f"concept normalizer '{wanted}'"
            raise ConnormError(message.format(component=named, known=", ".join(found) or "none"))
        return found[name]

    def note_loading(self) -> None:
        """Note that the component was loaded: its normalizer may be loaded after it."""
        self._was_loaded = True

    def is_waiting_for(self, normalizer: ConceptNormalizer) -> bool:
        """Tell whether a pipeline is being loaded. An `entity_ruler` reads its patterns then, with
        the components before it.

        normalizer (ConceptNormalizer): The component to wait for. One that never gets an index
            raises CN001 by itself.
        RETURNS (bool): Whether it has not been loaded yet.
        """
        return self._was_loaded and not normalizer.lookup.is_ready

    def warn_if_too_late(self, component: Any) -> None:
        """Warn if the mentions that a component finds come too late for any concept normalizer.

        component (Any): A component of the pipeline.
        WARNS (ConnormWarning): CNW003.
        """
        pipeline = self._nlp.pipeline
        place = next((at for at, (_, pipe) in enumerate(pipeline) if pipe is component), 0)
        normalizers = [
            (at, name)
            for at, (name, pipe) in enumerate(pipeline)
            if isinstance(pipe, ConceptNormalizer)
        ]
        if normalizers and all(at < place for at, _ in normalizers):
            _, last = normalizers[-1]
            warn(Warnings.CNW003.format(name=component.name, component=last))

    def warn_of_others(self, normalizers: Sequence[ConceptNormalizer]) -> None:
        """Warn, once, if a document was read by concept normalizers of another pipeline alone.
        Copies of a normalizer count as the same.

        normalizers (Sequence[ConceptNormalizer]): Those that have read it.
        WARNS (ConnormWarning): CNW004.
        """
        if self._has_warned or not normalizers:
            return
        own = list(self._find().values())
        if any(each in own for each in normalizers) or _builds(own) & _builds(normalizers):
            return
        self._has_warned = True
        warn(Warnings.CNW004.format(name=self._name, component=normalizers[0].name))

    def _find(self) -> dict[str, ConceptNormalizer]:
        components = self._nlp.components
        return {name: pipe for name, pipe in components if isinstance(pipe, ConceptNormalizer)}


def _builds(normalizers: Iterable[ConceptNormalizer]) -> set[int]:
    """RETURNS (Set[int]): The checksums of their indexes."""
    return {each.lookup.index.checksum for each in normalizers if each.lookup.is_ready}

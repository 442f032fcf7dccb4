"""Two encoders: a fast one answers where it is certain, a better one answers the rest."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from thinc.api import Model

from ..concepts import Candidate, Concept
from ..encoders.encoding import Encoding, encode_here
from ..errors import ConnormError, Errors, refuse
from ..index.backends.protocol import Backend
from ..index.metrics import COSINE, metric_of
from ..text.substitutions import Substitution
from .calibration import Calibration, read_calibration
from .changing import changing
from .choice import SAME_TEXT
from .interpretations import Fallback, MentionInterpreter
from .lookup import ConceptLookup
from .sieve import Sieve
from .synonyms import ChangedSynonym


@dataclass(frozen=True, eq=False)
class Cascade:
    """`spacy-connorm.Cascade.v1`: the second encoder, with an index of its own.

    encoder (Model[List[str], Floats2d]): Slower and better than the component's encoder.
    index (Backend): How its vectors are searched.
    sieve (Sieve): Which searches answer, with thresholds for its cosines.
    min_probability (float): Mentions whose first candidate is less likely right go to it, 0 to 1.
    calibration (Optional[Mapping[str, float]]): Turns its scores into probabilities.
    """

    encoder: Model
    index: Backend
    sieve: Sieve
    min_probability: float = 0.5
    calibration: Mapping[str, float] | None = None
    fitted: Calibration | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """RAISES (ConnormError): CN006 for an invalid probability or calibration."""
        if not 0 <= self.min_probability <= 1:
            refuse("cascade.min_probability", self.min_probability, "a number from 0 to 1")
        object.__setattr__(self, "fitted", read_calibration(self.calibration))

    def is_certain(self, candidates: Sequence[Candidate]) -> bool:
        """RETURNS (bool): Whether the second encoder is not needed.

        candidates (Sequence[Candidate]): Those of a text, best first, with probabilities.
        """
        if not candidates:
            return False
        first = candidates[0]
        # A text of the index: both encoders find the same concepts for it.
        return first.score >= SAME_TEXT or (first.probability or 0.0) >= self.min_probability


class CascadeLookup(ConceptLookup):
    """A lookup of the first encoder beside another one, `second`. Both have the same concepts and
    synonyms, whatever is added or removed. Only the first has a memo after `memoize`: it is certain
    of the texts of the index.
    """

    def __init__(
        self,
        encoder: Model,
        sieve: Sieve,
        backend: Backend,
        *,
        cascade: Cascade,
        normalization: Sequence[str] = (),
    ) -> None:
        """Store the parts; nothing is loaded.

        encoder, sieve, backend, normalization: As for `ConceptLookup`.
        cascade (Cascade): The second encoder.
        RAISES (ConnormError): CN920 for an unknown step of normalization, CN421 if one of the two
            is searched by inner product.
        """
        for metric in map(metric_of, (backend, cascade.index)):
            if metric != COSINE:
                raise ConnormError(Errors.CN421.format(metric=metric, settings="`cascade = null`"))
        super().__init__(encoder, sieve, backend, normalization=normalization)
        self.cascade = cascade
        self.second = ConceptLookup(
            cascade.encoder, cascade.sieve, cascade.index, normalization=normalization
        )
        self._calibration: Calibration | None = None

    @property
    def lookups(self) -> tuple[ConceptLookup, ...]:
        """RETURNS (Tuple[ConceptLookup, ...]): This one and the second."""
        return self, self.second

    def tune(self, settings: Mapping[str, Any]) -> None:
        """Change the settings of both, and the calibration of the first encoder.

        settings (Mapping[str, Any]): As for `ConceptLookup`, and `calibration`.
        RAISES (ConnormError): CN006 without a calibration.
        """
        calibration = settings.get("calibration")
        if calibration is None:
            refuse("calibration", None, "fitted on dev data, if there is a `cascade`")
        super().tune(settings)
        self.second.tune(settings)
        self._calibration = read_calibration(calibration)

    def build(
        self,
        concepts: Iterable[Concept],
        synonyms: Iterable[tuple[str, str]] = (),
        *,
        substitutions: Iterable[Substitution] = (),
        **options: Any,
    ) -> None:
        """Index an ontology with both encoders; see `ConceptLookup.build`. The concepts are kept in
        memory meanwhile.
        """
        concepts, synonyms, substitutions = list(concepts), list(synonyms), list(substitutions)
        self._change(
            lambda lookup: ConceptLookup.build(
                lookup, concepts, synonyms, substitutions=substitutions, **options
            )
        )

    def prepare_build(
        self, *, reused: ConceptLookup | None = None, encoding: Encoding = encode_here
    ) -> None:
        """Let the next `build` copy vectors of another lookup, or of both encoders of another
        cascade; see `ConceptLookup.prepare_build`.
        """
        super().prepare_build(reused=reused, encoding=encoding)
        last = None if reused is None else reused.lookups[-1]
        self.second.prepare_build(reused=last, encoding=encoding)

    def candidates(
        self,
        mentions: Sequence[str],
        *,
        top_k: int,
        search: str | None = None,
        **limits: Any,
    ) -> list[list[Candidate]]:
        """Answer mentions with the sieves of both encoders, text by text; see `ConceptLookup`. A
        single search is the first encoder's.
        """
        if search is not None:
            return super().candidates(mentions, top_k=top_k, search=search, **limits)
        interpreter = make_interpreter(
            self, calibration=self._calibration, top_k=top_k, split_composites=False, **limits
        )
        return interpreter.candidates(mentions, [""] * len(mentions))

    def add_synonyms(self, synonyms: Iterable[tuple[str, str]], *, count: int = 1) -> None:
        """Add synonyms to both; see `ConceptLookup.add_synonyms`."""
        pairs = list(synonyms)
        self._change(lambda lookup: ConceptLookup.add_synonyms(lookup, pairs, count=count))

    def remove_synonyms(self, synonyms: Iterable[tuple[str, str]]) -> None:
        """Remove synonyms from both; see `ConceptLookup.remove_synonyms`."""
        pairs = list(synonyms)
        self._change(lambda lookup: ConceptLookup.remove_synonyms(lookup, pairs))

    def change_synonyms(self, changes: Iterable[ChangedSynonym]) -> None:
        """Replace the changed synonyms of both; see `ConceptLookup.change_synonyms`."""
        changed = list(changes)
        self._change(lambda lookup: ConceptLookup.change_synonyms(lookup, changed))

    def _change(self, change: Callable[[ConceptLookup], None]) -> None:
        """Change both lookups, or none if one of them can't be."""
        with changing(self):
            change(self.second)
            change(self)


def make_interpreter(
    lookup: ConceptLookup,
    *,
    calibration: Calibration | None,
    search: str | None = None,
    **options: Any,
) -> MentionInterpreter:
    """Make an interpreter. A cascade's second encoder rereads the mentions of which the first is
    not certain; a single search is the first encoder's.

    lookup (ConceptLookup): A lookup or a cascade.
    calibration (Optional[Calibration]): Of the lookup's own scores.
    search, **options: As for `MentionInterpreter`.
    RETURNS (MentionInterpreter): It.
    RAISES (ConnormError): As `MentionInterpreter`.
    """
    fallback = None
    if isinstance(lookup, CascadeLookup) and search is None:
        cascade = lookup.cascade
        second = MentionInterpreter(lookup.second, calibration=cascade.fitted, **options)
        fallback = Fallback(second, cascade.is_certain)
    return MentionInterpreter(
        lookup, search=search, calibration=calibration, fallback=fallback, **options
    )

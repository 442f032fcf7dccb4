"""The questions that a concept normalizer answers, and the synonyms that it searches."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from spacy.tokens import Doc, Span

from ..concepts import Candidate, Concept
from ..concepts.curies import PREFIXES
from ..documents.abbreviations import find_long_forms
from ..documents.spans import choose_spans, written_id
from ..errors import refuse, refuse_text
from ..index.metrics import metric_of
from .settings import Limits, check_labels, check_nil_threshold, choose_limits, known_id
from .synonym_files import read_synonyms, write_synonyms

if TYPE_CHECKING:
    from ..linker.explanation import Explanation
    from ..linker.interpretations import MentionInterpreter
    from ..linker.lookup import ConceptLookup


class ConceptSearch:
    """What a concept normalizer can do besides annotating documents.

    lookup (ConceptLookup): Answers.
    cfg (Dict[str, Any]): The settings.
    """

    lookup: "ConceptLookup"
    cfg: dict[str, Any]
    _calibration: Any

    def spans(self, doc: Doc) -> list[Span]:
        """RETURNS (List[Span]): The spans of a document to normalize.
        RAISES (ConnormError): CN006 for `labels` in `cfg` that are no list of texts.
        """
        check_labels(self.cfg["labels"])
        return choose_spans(doc, spans_key=self.cfg["spans_key"], labels=self.cfg["labels"])

    def long_forms(self, doc: Doc, spans: Sequence[Span]) -> list[str]:
        """RETURNS (List[str]): The long forms of spans; empty if undefined or not expanded."""
        expand = self.cfg["expand_abbreviations"]
        return find_long_forms(doc, spans) if expand else [""] * len(spans)

    def candidates(
        self,
        mentions: Sequence[str],
        *,
        long_forms: Sequence[str] | None = None,
        documents: Sequence[int] | None = None,
        search: str | None = None,
        code_systems: Sequence[str] | None = None,
        held_out: Iterable[tuple[str, str]] = (),
        **limits: Unpack[Limits],
    ) -> list[list[Candidate]]:
        """Find the candidates of texts, as if they were mentions.

        mentions (Sequence[str]): b texts; an empty one has no candidates.
        long_forms (Optional[Sequence[str]]): What they stand for; empty where that is not known.
        documents (Optional[Sequence[int]]): Which document each is in, for `document_context`.
        search (Optional[str]): Answer with one search alone, e.g. "O-T", instead of the sieve.
        code_systems (Optional[Sequence[str]]): As in `with_codes`.
        held_out (Iterable[Tuple[str, str]]): Texts and concept ids of annotated mentions, once an
            occurrence: search as if D did not have them. What O or other mentions say stays.
        **limits (Limits): `top_k`, `types` and `branches` instead of the settings.
        RETURNS (List[List[Candidate]]): b lists, best first; those of a composite part by part.
        RAISES (ConnormError): CN006 for anything else, and the errors of `interpreter`,
            `MentionInterpreter.read` and `with_codes`.
        """
        known = [""] * len(mentions) if long_forms is None else long_forms
        interpreter = self.interpreter(search, held_out=held_out, **limits)
        found = interpreter.candidates(mentions, known, documents)
        return self.with_codes(found, code_systems)

    def with_codes(
        self, found: list[list[Candidate]], code_systems: Sequence[str] | None = None
    ) -> list[list[Candidate]]:
        """Add the codes that candidates have in other vocabularies.

        found (List[List[Candidate]]): b lists.
        code_systems (Optional[Sequence[str]]): The vocabularies, by their prefixes; the setting if
            None.
        RETURNS (List[List[Candidate]]): The same candidates, with `codes` if there are any systems.
        RAISES (ConnormError): CN413 for a vocabulary in which no concept has a code, CN414 for an
            index that an older version built, CN006 for one vocabulary in no list.
        """
        from ..linker.codes import require_systems, with_codes

        systems = self.cfg["code_systems"] if code_systems is None else code_systems
        if isinstance(systems, str):
            refuse("code_systems", systems, "a list of texts")
        if not systems:
            return found
        prefixes = PREFIXES.extended(self.cfg["prefixes"])
        require_systems(self.lookup.index, systems, prefixes)
        return with_codes(found, self.lookup.index, systems, prefixes)

    def explain(
        self,
        mention: str | Span,
        *,
        code_systems: Sequence[str] | None = None,
        **limits: Unpack[Limits],
    ) -> "Explanation":
        """Explain how a mention is read, and what each search of the sieve finds for it.

        mention (Union[str, Span]): A text, or a span, whose document may define its long form.
        code_systems (Optional[Sequence[str]]): As in `with_codes`.
        **limits (Limits): `top_k`, `types` and `branches`, as in `candidates`.
        RETURNS (Explanation): The interpretations, and one step per search.
        RAISES (ConnormError): Those of `interpreter`, `MentionInterpreter.read` and `with_codes`.
        """
        interpreter = self.interpreter(**limits)
        if not isinstance(mention, (str, Span)):
            refuse_text("mention", mention, "a text or a span")
        if isinstance(mention, str):
            texts, known = [mention], [""]
        else:
            spans = [mention, *self.spans(mention.doc)]
            texts, known = [span.text for span in spans], self.long_forms(mention.doc, spans)
        explanation = interpreter.explain(texts, known)
        return explanation.with_codes(lambda found: self.with_codes(found, code_systems))

    def interpreter(
        self,
        search: str | None = None,
        *,
        held_out: Iterable[tuple[str, str]] = (),
        split_composites: bool | None = None,
        **limits: Unpack[Limits],
    ) -> "MentionInterpreter":
        """Make what reads mentions.

        search, held_out, **limits: As in `candidates`.
        split_composites (Optional[bool]): The setting if None.
        RETURNS (MentionInterpreter): With the second encoder of a cascade.
        RAISES (ConnormError): CN001 without an index, CN006 for invalid limits, a `nil_threshold`
            in `cfg` that is no score, and anything but pairs in `held_out`, CN500 for an unknown
            search.
        """
        from ..linker.cascade import make_interpreter
        from ..linker.held_out import hold_out

        how = {key: self.cfg[key] for key in ("split_composites", "document_context")}
        how |= choose_limits(self.cfg, limits)
        check_nil_threshold(self.cfg["nil_threshold"], metric=metric_of(self.lookup.backend))
        if split_composites is not None:
            how["split_composites"] = split_composites
        left_out = self._known_ids(held_out)
        lookup = hold_out(self.lookup, left_out) if left_out else self.lookup
        return make_interpreter(lookup, calibration=self._calibration, search=search, **how)

    def concept(self, concept_id: str) -> Concept:
        """RETURNS (Concept): What the index has of a concept, by its id or an alternate id, with or
        without the prefix of its vocabulary.
        RAISES (ConnormError): CN411 for an unknown id.
        """
        return self.lookup.index.concept(known_id(concept_id, self.cfg))

    def canonical_id(self, concept_id: str) -> str:
        """RETURNS (str): The id of the concept that an id or alternate id stands for; the same if
        the index lacks it.
        """
        store = self.lookup.index.store
        number = store.number(known_id(concept_id, self.cfg))
        return concept_id if number is None else store.labels([number])[number][0]

    def add_synonyms(self, synonyms: Iterable[tuple[str, str]], *, count: int = 1) -> None:
        """Add synonyms; see `ConceptLookup.add_synonyms`."""
        self.lookup.add_synonyms(self._known_ids(synonyms), count=count)

    def remove_synonyms(self, synonyms: Iterable[tuple[str, str]]) -> None:
        """Remove synonyms; see `ConceptLookup.remove_synonyms`."""
        self.lookup.remove_synonyms(self._known_ids(synonyms))

    def save_synonyms(self, path: str | Path) -> None:
        """Save the synonyms added and removed since the index was built; see `write_synonyms`."""
        write_synonyms(path, self.lookup.changed_synonyms())

    def load_synonyms(self, path: str | Path) -> None:
        """Read what `save_synonyms` wrote, of this or another index, instead of all such synonyms.
        If it fails, nothing changes.

        path (Union[str, Path]): The file.
        RAISES (ConnormError): Those of `read_synonyms` and `ConceptLookup.add_synonyms`.
        """
        self.lookup.change_synonyms(
            each._replace(concept_id=known_id(each.concept_id, self.cfg))
            for each in read_synonyms(path)
        )

    def _known_ids(self, synonyms: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        from ..linker.synonyms import as_pairs

        return [(text, known_id(each, self.cfg)) for text, each in as_pairs(synonyms)]

    def decide(self, candidates: Sequence[Candidate]) -> str:
        """RETURNS (str): The id that is written for candidates; see `spans.written_id`."""
        return written_id(candidates, self.cfg["nil_threshold"])

"""The pipeline component: spans in, concept ids and candidates on the spans."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, Unpack

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Model

from ..concepts import AnyOntology, Candidate
from ..documents.spans import register_span_attributes, set_kb_ids, set_span_attributes
from ..errors import refuse
from ..index.metrics import metric_of
from ..linker.calibration import read_calibration
from ..linker.changing import changing
from ..text.substitutions import Substitution
from . import serialization
from .batched_pipe import BatchedPipe
from .concept_search import ConceptSearch
from .initialization import Given, build_lookup, make_lookup, read_annotated
from .requirements import require_extras
from .settings import DEFAULTS, Settings, check_arguments, check_settings
from .visits import read_by


class ConceptNormalizer(ConceptSearch, BatchedPipe):
    """Attaches concept ids to entity spans."""

    def __init__(
        self,
        vocab: Vocab,
        name: str = "concept_normalizer",
        *,
        encoder: Model,
        index: Any,
        sieve: Any,
        normalization: Sequence[str] = (),
        cascade: Any = None,
        scorer: Callable | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        """Store the settings. Nothing is loaded before `initialize` or `from_disk`.

        vocab (Vocab): The pipeline's.
        name (str): The component's name.
        encoder (Model[List[str], Floats2d]): A registered architecture, see `encoders`.
        index (Backend): `AnnoyIndex.v1`, `IvfIndex.v1` or `ExactIndex.v1`.
        sieve (Sieve): `Sieve.v1`: the searches and their thresholds.
        normalization (Sequence[str]): Steps that names and mentions go through, in order, before
            they are encoded; see `text.normalization`.
        cascade (Optional[Cascade]): `Cascade.v1`: a second encoder, for uncertain mentions.
        scorer (Optional[Callable]): Scores examples.
        **settings (Settings): What `to_disk` saves; see `settings.Settings`.
        RAISES (ConnormError): CN005 if a span attribute is taken, CN006 for an invalid setting,
            CN421 for settings that make no sense with the metric of the index.
        """
        check_arguments(index=index, sieve=sieve, cascade=cascade, settings=settings)
        self.vocab = vocab
        self.name = name
        self.scorer = scorer
        self.lookup = make_lookup(encoder, sieve, index, normalization, cascade)
        self.cfg: dict[str, Any] = dict(DEFAULTS)
        self._accept(settings)

    @property
    def labels(self) -> tuple[str, ...]:
        """RETURNS (Tuple[str, ...]): Labels of the spans to normalize; empty for all."""
        return tuple(self.cfg["labels"] or ())

    @property
    def displacy_options(self) -> dict[str, Any]:
        """RETURNS (Dict[str, Any]): Links for `displacy.render(doc, style="ent", options=...)`."""
        template = self.cfg["kb_url_template"]
        return {} if template is None else {"kb_url_template": template}

    def predict(self, docs: Sequence[Doc]) -> list[list[list[Candidate]]]:
        """Find the candidates of all spans, without writing them.

        docs (Sequence[Doc]): The documents.
        RETURNS (List[List[List[Candidate]]]): Candidates by document and span.
        RAISES (ConnormError): CN001 before `initialize`, CN006 for what was set in `cfg` since and
            is no such setting.
        """
        spans = [self.spans(doc) for doc in docs]
        long_forms = list(chain.from_iterable(map(self.long_forms, docs, spans)))
        mentions = [span.text for span in chain.from_iterable(spans)]
        documents = [number for number, each in enumerate(spans) for _ in each]
        found = iter(self.candidates(mentions, long_forms=long_forms, documents=documents))
        return [list(islice(found, len(each))) for each in spans]

    def set_annotations(
        self, docs: Sequence[Doc], predictions: Sequence[Sequence[list[Candidate]]]
    ) -> None:
        """Write concept ids and candidates onto spans.

        docs (Sequence[Doc]): The documents.
        predictions (Sequence[Sequence[List[Candidate]]]): What `predict` returned for them.
        WARNS (ConnormWarning): CNW004, once, if a mention finder found another pipeline's names.
        """
        prefix = self.cfg["attribute_prefix"]
        for doc, by_span in zip(docs, predictions, strict=True):
            read_by(doc, self)
            spans = self.spans(doc) if by_span else []
            kb_ids = [self.decide(each) for each in by_span]
            set_span_attributes(doc, spans, kb_ids, by_span, prefix=prefix)
            if not prefix:
                set_kb_ids(doc, spans, kb_ids, spans_key=self.cfg["spans_key"])

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        ontology: Given[AnyOntology] | None = None,
        corpus: Callable[[Language], Iterable[Example]] | None = None,
        synonyms: Iterable[tuple[str, str]] | None = None,
        substitutions: Given[Iterable[Substitution]] | None = None,
        index: str | Path | None = None,
    ) -> None:
        """Load the encoder and index an ontology, or read both from a folder. A second call without
        any of the five sources keeps the index.

        get_examples (Callable[[], Iterable[Example]]): Their references' mentions become D.
        nlp (Optional[Language]): The pipeline.
        ontology (Optional[Union[Ontology, Callable]]): O, or a function that reads it.
        corpus (Optional[Callable]): More annotated data for D, such as `spacy.Corpus.v1`.
        synonyms (Optional[Iterable[Tuple[str, str]]]): More of D: texts and concept ids.
        substitutions (Optional[Union[Iterable, Callable]]): Words for others, or what reads them.
        index (Optional[Union[str, Path]]): What `to_disk` wrote: the component's folder in a
            saved pipeline, such as one of `connorm index`. The others must be missing then.
        RAISES (ConnormError): CN004 if there is nothing to index, CN006 for an `index` beside
            other sources, CN406 and CN407 for unknown types and branches, and theirs.
        """
        from ..linker.synonyms import as_pairs

        synonyms = as_pairs(synonyms or ())
        others = any(each is not None for each in (ontology, corpus, substitutions)) or synonyms
        if index is not None:
            if others:
                refuse("index", str(index), "the only source")
            self.from_disk(index, exclude=["cfg"])
        elif others or not self.lookup.is_ready:
            examples = chain(get_examples(), corpus(nlp or Language(self.vocab)) if corpus else ())
            annotated = chain(read_annotated(examples, self.cfg), self._known_ids(synonyms))
            build_lookup(self.lookup, ontology, annotated, substitutions, self.cfg, self.name)
        self.candidates(())  # reports unknown types and branches now, not at the first document
        if nlp is not None:
            require_extras(nlp)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """RETURNS (Dict[str, Any]): What the `scorer` says of examples. Alternate ids count as the
        concepts that they stand for.
        """
        return super().score(examples, canonical_id=self.canonical_id, **kwargs)

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write everything that the component needs, whole or not at all.

        path (Union[str, Path]): The folder to make or replace.
        exclude (Iterable[str]): Any of "cfg", "encoder", "index".
        RAISES (ConnormError): CN001 before `initialize`, CN006 for a setting in `cfg` that was
            changed to one that could not be loaded, CN405 if it cannot be written.
        """
        check_settings(self.cfg, metric=metric_of(self.lookup.backend))
        serialization.save(Path(path), self.cfg, self.lookup, exclude=list(exclude))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "ConceptNormalizer":
        """Read what `to_disk` wrote; the index is mapped, not loaded. If it fails, the component
        stays as it was.

        path (Union[str, Path]): The folder.
        exclude (Iterable[str]): Any of "cfg", "encoder", "index".
        RETURNS (ConceptNormalizer): The component.
        RAISES (ConnormError): CN400 to CN402 for a damaged folder, CN410 for another encoder's,
            CN005, CN006 and CN421 for settings as in a config.
        """
        with changing(self.lookup):
            self._accept(serialization.load(Path(path), self.lookup, exclude=list(exclude)))
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """RETURNS (bytes): What `to_disk` writes, in memory.
        RAISES (ConnormError): CN001 and CN006 as `to_disk`.
        """
        check_settings(self.cfg, metric=metric_of(self.lookup.backend))
        return serialization.dump(self.cfg, self.lookup, exclude=list(exclude))

    def from_bytes(self, content: bytes, *, exclude: Iterable[str] = ()) -> "ConceptNormalizer":
        """RETURNS (ConceptNormalizer): The component, with what `to_bytes` returned.
        RAISES (ConnormError): CN402 for damaged bytes, and those of `from_disk`.
        """
        with changing(self.lookup):
            self._accept(serialization.parse(content, self.lookup, exclude=list(exclude)))
        return self

    def _accept(self, settings: Mapping[str, Any]) -> None:
        merged = {**self.cfg, **settings}
        check_settings(merged, metric=metric_of(self.lookup.backend))
        calibration = read_calibration(merged["calibration"])
        register_span_attributes(merged["attribute_prefix"])
        self.lookup.tune(merged)
        self._calibration, self.cfg = calibration, merged

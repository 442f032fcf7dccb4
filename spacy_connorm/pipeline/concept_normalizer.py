"""The component that writes concept ids and candidates onto spans."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain, groupby, islice, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import registry
from spacy.vocab import Vocab
from thinc.api import Model

from ..concepts import AnyOntology, Candidate, Concept
from ..concepts.curies import PREFIXES
from ..concepts.ontology import Given, read_given
from ..documents.abbreviations import find_long_forms
from ..documents.mentions import ALL_MENTIONS_KEY, annotated_synonyms, split_ids
from ..documents.spans import (
    choose_spans,
    get_matched_name,
    register_matched_name,
    register_span_attributes,
    set_kb_ids,
    set_span_attributes,
)
from ..documents.written_ids import ids_beside
from ..encoders import required_extra
from ..encoders.saving import open_encoder, store_encoder
from ..errors import Errors, refuse, refuse_text
from ..files.atomic import TemporaryFolder
from ..index.concept_index import ConceptIndex
from ..index.filter import Filter
from ..index.overlay import read_overlay, write_overlay
from ..index.search import COSINE, metric_of
from ..linker.calibration import Calibration
from ..linker.codes import CodeSystems
from ..linker.decision import prefer, written_id
from ..linker.linking import candidates_of, link
from ..linker.lookup import ConceptLookup
from ..linker.query import Query
from ..linker.rescoring import COMPARE_WORDS
from ..linker.synonym_changes import as_pairs, read_synonyms, write_synonyms
from ..text.cleaning import clean
from .batched_pipe import BatchedPipe
from .limits import Limits
from .mention_sources import (
    choose_retriever,
    record_normalizer,
    recorded_pipeline,
    warn_without_entities,
)
from .serialization import INDEX, SavedComponent, require_extras
from .settings import NormalizerSettings, Settings

if TYPE_CHECKING:
    from ..linker.explanation import Explanation

_ENCODER = "encoder"
# A running pipeline has no readers of ontologies; only this function loads one.
_READER = "spacy-connorm.Ontology.v1"


def _opened(ontology: str | Path | Given[AnyOntology]) -> AnyOntology:
    if isinstance(ontology, (str, Path)):
        return read_given(registry.get("readers", _READER)(Path(ontology)).stream)
    return read_given(ontology)


class ConceptNormalizer(SavedComponent, BatchedPipe):
    """Attaches concept ids to entity spans."""

    def __init__(
        self,
        vocab: Vocab,
        name: str = "concept_normalizer",
        *,
        encoder: Model,
        index: Any,
        sieve: Any,
        scorer: Callable | None = None,
        **settings: Any,
    ) -> None:
        """Store the settings. Nothing is loaded before `initialize` or `from_disk`.

        vocab (Vocab): The pipeline's.
        name (str): The component's name.
        encoder (Model[List[str], Floats2d]): A registered architecture, see `encoders`.
        index (Backend): `AutoIndex.v1`, `ExactIndex.v1`, `IvfIndex.v1` or `AnnoyIndex.v1`.
        sieve (Sieve): `Sieve.v1`: the searches and their thresholds.
        scorer (Optional[Callable]): Scores examples.
        **settings: What `to_disk` saves; see `NormalizerSettings`.
        RAISES (ConnormError): CN005 if a span attribute is taken, CN006 for an invalid setting,
            CN421 for settings that are incompatible with the metric of the index.
        """
        # The validation of configs accepts any object here.
        if not hasattr(index, "build") or not hasattr(index, "open"):
            refuse("index", index, 'an index, e.g. {"@misc": "spacy-connorm.ExactIndex.v1"}')
        if not hasattr(sieve, "searches") or not hasattr(sieve, "thresholds"):
            refuse("sieve", sieve, 'a sieve, e.g. {"@misc": "spacy-connorm.Sieve.v1"}')
        self.vocab = vocab
        self.name = name
        self.scorer = scorer
        self.lookup = ConceptLookup(encoder, sieve, index, language=vocab.lang)
        self.accept(Settings(NormalizerSettings, settings))

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the spans to normalize.

        RETURNS (Tuple[str, ...]): Empty for all.
        """
        return tuple(self.cfg["labels"] or ())

    @property
    def calibration(self) -> Calibration | None:
        """The model that turns scores into probabilities: that of the settings, or else the one
        that was fitted to the names of the index.

        RETURNS (Optional[Calibration]): None if there is neither.
        """
        fitted = self.cfg["calibration"]
        if fitted is not None:
            return Calibration(**fitted)
        return self.lookup.retriever.calibration if self.lookup.is_ready else None

    @property
    def displacy_options(self) -> dict[str, Any]:
        """Options that make displaCy show ids as links.

        RETURNS (Dict[str, Any]): For `displacy.render(doc, style="ent", options=...)`.
        """
        template = self.cfg["kb_url_template"]
        return {} if template is None else {"kb_url_template": template}

    def predict(self, docs: Sequence[Doc]) -> list[list[list[Candidate]]]:
        """Find the candidates of all spans, without writing them.

        docs (Sequence[Doc]): The documents.
        RETURNS (List[List[List[Candidate]]]): Candidates by document and span: first the entities,
            or the spans of `spans_key`, then `doc.spans["mentions_all"]` if a mention finder found
            nested mentions.
        RAISES (ConnormError): CN001 before `initialize`.
        WARNS (ConnormWarning): CNW006, once, if no component before it sets entities.
        """
        spans = [list(chain.from_iterable(self._groups(doc).values())) for doc in docs]
        if self.cfg["spans_key"] is None and not any(spans):
            warn_without_entities(self, docs)
        query, current = self.query(), self.lookup.retriever
        names = [list(map(get_matched_name, own)) for own in spans]
        answering = map(choose_retriever, docs, names, repeat(current))
        predictions: list[list[list[Candidate]]] = []
        rows = zip(answering, docs, spans, names, strict=True)
        # Nearly always one snapshot for all documents.
        for _, group in groupby(rows, key=lambda row: id(row[0])):
            (retriever, *_), read, of_docs, matched = zip(*group, strict=True)
            own = list(chain.from_iterable(of_docs))
            ways = link(
                retriever,
                [span.text for span in own],
                query,
                long_forms=list(chain.from_iterable(map(find_long_forms, read, of_docs))),
                matched_names=list(chain.from_iterable(matched)),
            )
            answers = iter([interpretations[0].candidates for interpretations in ways])
            predictions += [list(islice(answers, len(some))) for some in of_docs]
        tokens_of = cache(lambda doc: [*map(str, doc)])
        for candidates, span in zip(chain(*predictions), chain(*spans), strict=True):
            # The mention may be an id; it or one beside it decides between concepts of one name.
            if len(candidates) > 1 and candidates[0].score == candidates[1].score:
                ids = ids_beside(tokens_of(span.doc), span.start, span.end)
                prefer(candidates, ids.values(), current.index)
        return predictions

    def set_annotations(
        self, docs: Sequence[Doc], predictions: Sequence[Sequence[list[Candidate]]]
    ) -> None:
        """Write concept ids and candidates onto spans.

        docs (Sequence[Doc]): The documents.
        predictions (Sequence[Sequence[List[Candidate]]]): What `predict` returned for them.
        WARNS (ConnormWarning): CNW004, once, if a mention finder used the names of another
            pipeline.
        """
        prefix = self.cfg["attribute_prefix"]
        for doc, by_span in zip(docs, predictions, strict=True):
            record_normalizer(doc, self)
            groups = self._groups(doc) if by_span else {}
            spans = list(chain.from_iterable(groups.values()))
            kb_ids = list(map(written_id, by_span, repeat(self.cfg["nil_threshold"])))
            set_span_attributes(doc, spans, kb_ids, by_span, prefix=prefix)
            if not prefix:
                written = iter(kb_ids)
                for key, group in groups.items():
                    set_kb_ids(doc, group, list(islice(written, len(group))), spans_key=key)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]] | None = None,
        *,
        nlp: Language | None = None,
        ontology: str | Path | Given[AnyOntology] | None = None,
        corpus: Callable[[Language], Iterable[Example]] | None = None,
        synonyms: Iterable[tuple[str, str]] | None = None,
        substitutions: Given[Iterable[Any]] | None = None,
        background: str | Path | Given[AnyOntology] | None = None,
        index: str | Path | None = None,
        reused: Any = None,
    ) -> None:
        """Load the encoder and index an ontology, or read both from a folder. A second call without
        any of the sources keeps the index.

        get_examples (Optional[Callable[[], Iterable[Example]]]): The mentions of the reference
            documents are added to D.
        nlp (Optional[Language]): The pipeline; the one that the component was added to if None.
        ontology (Optional[Union[str, Path, Ontology, Callable]]): O: a file in any format, an
            ontology, or a function that reads it.
        corpus (Optional[Callable]): More annotated data for D, such as `spacy.Corpus.v1`.
        synonyms (Optional[Iterable[Tuple[str, str]]]): More texts and concept ids for D.
        substitutions (Optional[Union[Iterable, Callable]]): Words and their replacements, or a
            function that reads them; learned from the ontology's own names if None.
        background (Optional[Union[str, Path, Ontology, Callable]]): Another vocabulary, in the
            same forms. Its names are not found, but `mention_finder` finds no name inside them:
            "tumor" in "tumor necrosis factor".
        index (Optional[Union[str, Path]]): A folder written by `to_disk`: the component's folder in
            a saved pipeline, such as one from `connorm index`. The other sources must be missing
            then.
        reused (Optional[ConceptIndex]): An older index, whose vectors are copied if encoder and
            text are the same; by default the current one.
        RAISES (ConnormError): CN004 if there is nothing to index, CN006 for an `index` together
            with other sources and a `get_examples` that is not a function, CN406 for unknown types
            and branches, CN400 for an `index` that is a whole pipeline, and the errors of the
            sources.
        """
        if get_examples is not None and not callable(get_examples):
            refuse("get_examples", get_examples, "a function; an ontology is `ontology=...`")
        nlp = nlp or recorded_pipeline(self)
        synonyms = as_pairs(synonyms or ())
        sources = (ontology, corpus, substitutions, background)
        others = any(source is not None for source in sources) or synonyms
        if index is not None:
            if others:
                refuse("index", str(index), "the only source")
            self.from_disk(index, exclude=["cfg"])
        elif others or not self.lookup.is_ready:
            examples = chain(
                get_examples() if get_examples else (),
                corpus(nlp or Language(self.vocab)) if corpus else (),
            )
            annotated = annotated_synonyms(
                (example.reference for example in examples),
                self.cfg["labels"],
                spans_key=self.cfg["spans_key"],
                long_forms=True,
            )
            pairs = self._known_ids(chain(annotated, synonyms))
            # D has no mentions without a concept, such as `NIL` and `CUI-less`.
            linked = [pair for pair in pairs if split_ids(pair[1])]
            if ontology is None and not linked:
                raise Errors.CN004(name=self.name)
            read = None if ontology is None else _opened(ontology)
            self.lookup.build(
                read or (),
                linked,
                source=read.source if read else None,
                substitutions=substitutions() if callable(substitutions) else substitutions,
                background=() if background is None else _opened(background),
                reused=reused,
                calibrated_for=self._query(self.cfg),
            )
        self.candidates(())  # reports unknown types and branches now, not with the first document
        if nlp is not None:
            require_extras(nlp)

    def _groups(self, doc: Doc) -> dict[str | None, list[Span]]:
        """Select the spans to normalize: those of the settings, and those of a mention finder with
        `nested_mentions`.

        RETURNS (Dict[Optional[str], List[Span]]): Spans by the key of their group.
        """
        key, labels = self.cfg["spans_key"], self.cfg["labels"]
        groups = {key: choose_spans(doc, spans_key=key, labels=labels)}
        if ALL_MENTIONS_KEY in doc.spans:
            groups[ALL_MENTIONS_KEY] = choose_spans(doc, spans_key=ALL_MENTIONS_KEY, labels=labels)
        return groups

    def candidates(
        self,
        mentions: Sequence[str],
        *,
        long_forms: Sequence[str] | None = None,
        matched_names: Sequence[str] | None = None,
        search: str | None = None,
        **limits: Unpack[Limits],
    ) -> list[list[Candidate]]:
        """Find the candidates of texts, as if they were mentions.

        mentions (Sequence[str]): b texts; an empty one has no candidates.
        long_forms (Optional[Sequence[str]]): Their long forms; empty if unknown.
        matched_names (Optional[Sequence[str]]): The names in this index that a finder matched;
            empty if there are none.
        search (Optional[str]): A single search to use instead of the sieve, e.g. "O-T".
        **limits (Limits): Values that override settings.
        RETURNS (List[List[Candidate]]): b lists, best first; for a composite, part by part.
        RAISES (ConnormError): CN006 for anything else, and the errors of `query` and `link`.
        """
        return candidates_of(
            self.lookup.retriever,
            mentions,
            self.query(search, **limits),
            long_forms=long_forms,
            matched_names=matched_names,
        )

    def explain(self, mention: str | Span, **limits: Unpack[Limits]) -> "Explanation":
        """Explain how a mention is interpreted, and what each search of the sieve finds for it.

        mention (Union[str, Span]): A text, or a span, whose document may define its long form.
        **limits (Limits): As in `candidates`.
        RETURNS (Explanation): The interpretations, and a step for each search.
        RAISES (ConnormError): As `candidates`.
        """
        from ..linker.explanation import explain_mention

        if isinstance(mention, Span):
            text, name = mention.text, get_matched_name(mention)
            (long_form,) = find_long_forms(mention.doc, [mention])
        elif isinstance(mention, str):
            text, name, long_form = mention, "", ""
        else:
            refuse_text("mention", mention, "a text or a span")
        query = self.query(**limits)
        return explain_mention(
            self.lookup.retriever, text, query, long_form=long_form, matched_name=name
        )

    def query(self, search: str | None = None, **limits: Unpack[Limits]) -> Query:
        """Combine the settings with the values that override them.

        search, **limits: As in `candidates`.
        RETURNS (Query): How to search for mentions.
        RAISES (ConnormError): CN001 without an index, CN006 for invalid limits, CN413 for a
            vocabulary in which no concept has a code, CN118 for an unknown search.
        """
        cfg = self._limited(limits) if limits else self.cfg
        query = self._query(cfg)._replace(calibration=self.calibration)
        if cfg["types"] or cfg["branches"] or cfg["excluded_branches"]:
            query = query._replace(filter=self.filter(cfg))
        if cfg["code_systems"]:
            prefixes = PREFIXES.extended(cfg["prefixes"])
            codes = CodeSystems.of(cfg["code_systems"], prefixes, self.lookup.index)
            query = query._replace(codes=codes)
        return query if search is None else query.alone(search)

    def _query(self, cfg: Mapping[str, Any]) -> Query:
        """Make a query from settings, except for what refers to concepts."""
        return Query(
            self.lookup.sieve,
            cfg["top_k"],
            rescorers=COMPARE_WORDS if cfg["compare_words"] else (),
            split_composites=cfg["split_composites"],
            read_initials=cfg["read_initials"] and cfg["compare_words"],
            nil_threshold=cfg["nil_threshold"],
            cache_size=cfg["cache_size"],
        )

    def filter(self, cfg: Mapping[str, Any] | None = None) -> Filter:
        """The filter given by settings.

        cfg (Optional[Mapping[str, Any]]): The settings; the component's if None.
        RETURNS (Filter): Which concepts may be found.
        """
        cfg = self.cfg if cfg is None else cfg
        return Filter(
            types=tuple(map(clean, cfg["types"])),
            branches=tuple(map(clean, map(self.own_id, cfg["branches"]))),
            excluded=tuple(map(clean, map(self.own_id, cfg["excluded_branches"]))),
        )

    def own_id(self, concept_id: str) -> str:
        """Replace a prefix that the user has defined by one that the index knows. Indexes know all
        other spellings.

        concept_id (str): Any id.
        RETURNS (str): The id with the known prefix.
        """
        prefixes = self.cfg["prefixes"]
        return (prefixes and PREFIXES.extended(prefixes).curie(concept_id)) or concept_id

    def concept(self, concept_id: str) -> Concept:
        """Read a concept from the index, by its id or an alternate id, with or without a prefix.

        RETURNS (Concept): The concept, without added or removed synonyms.
        RAISES (ConnormError): CN411 for an unknown id.
        """
        return self.lookup.index.concept(self.own_id(concept_id))

    def canonical_id(self, concept_id: str) -> str:
        """Find the id of the concept that an id or alternate id stands for.

        RETURNS (str): The concept's id; the given id if it is not in the index.
        """
        store = self.lookup.index.store
        number = store.number(self.own_id(concept_id))
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
        """Read a file written by `save_synonyms`, of this or another index, and replace all added
        and removed synonyms. If it fails, nothing changes.

        path (Union[str, Path]): The file.
        RAISES (ConnormError): The errors of `read_synonyms` and `ConceptLookup.add_synonyms`.
        """
        self.lookup.change_synonyms(
            synonym._replace(concept_id=self.own_id(synonym.concept_id))
            for synonym in read_synonyms(path)
        )

    def _known_ids(self, synonyms: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        return [(text, self.own_id(concept_id)) for text, concept_id in as_pairs(synonyms)]

    def decide(self, candidates: Sequence[Candidate]) -> str:
        """Choose the id to write for a span with these candidates.

        RETURNS (str): The id; see `linker.written_id`.
        """
        return written_id(candidates, self.cfg["nil_threshold"])

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Score predicted documents with the `scorer`. Alternate ids count as the concepts that
        they stand for.

        RETURNS (Dict[str, Any]): The scores by name.
        """
        return super().score(examples, canonical_id=self.canonical_id, **kwargs)

    @property
    def extras(self) -> set[str]:
        """The extras of spacy-connorm that the encoder and the index need; see `SavedComponent`."""
        # Several extras are separated by commas. A backend from another package may have none.
        backend = getattr(self.lookup.backend, "extra", "")
        return {*f"{required_extra(self.lookup.encoder)},{backend}".split(",")} - {""}

    def write_parts(self, folder: Path, exclude: Collection[str]) -> None:
        """Write the encoder, the index and the synonyms beside it; see `SavedComponent`.

        folder (Path): A folder that is moved into place later.
        exclude (Collection[str]): "encoder", "index", or both.
        RAISES (ConnormError): CN001 if there is no index.
        """
        encoder = self.lookup.encoder
        if INDEX not in exclude:
            retriever = self.lookup.retriever
            encoder = retriever.encoder
            retriever.index.write(folder / INDEX)
            write_overlay(retriever.overlay, folder)
        if _ENCODER not in exclude:
            store_encoder(encoder, folder / _ENCODER)

    def read_parts(
        self, folder: Path, exclude: Collection[str], owner: TemporaryFolder | None
    ) -> None:
        """Read the folder that `write_parts` wrote; the index is mapped, not loaded.

        folder (Path): The folder.
        exclude (Collection[str]): "encoder", "index", or both.
        owner (Optional[TemporaryFolder]): If given, it owns the folder, and is kept as long as the
            index.
        RAISES (ConnormError): CN402 for a damaged folder, CN430 if its index is from another build,
            and the errors of `ConceptLookup.use`.
        """
        lookup, encoder = self.lookup, self.lookup.encoder
        if _ENCODER not in exclude:
            encoder = open_encoder(encoder, folder / _ENCODER)
        if INDEX in exclude:
            lookup.use(encoder)
        else:
            index = ConceptIndex(folder / INDEX, lookup.backend, owner=owner)
            lookup.use(encoder, index, read_overlay(folder, index))

    def read_folder(
        self, path: Path, exclude: Collection[str], owner: TemporaryFolder | None = None
    ) -> None:
        """Read all parts or none; see `SavedComponent`."""
        with self.lookup.changing():
            super().read_folder(path, exclude, owner)

    def accept(self, cfg: Settings) -> None:
        """Use settings, and register the span attributes that they name.

        cfg (Settings): All settings, checked.
        RAISES (ConnormError): CN005 if a span attribute is taken, CN421 for settings that are
            incompatible with the metric of the index.
        """
        register_span_attributes(cfg["attribute_prefix"])
        register_matched_name()
        if metric_of(self.lookup.backend) != COSINE:
            self._query(cfg).refuse_comparisons(metric_of(self.lookup.backend))
        self.cfg = cfg

    def _limited(self, limits: Limits) -> Settings:
        """Override settings for a call.

        RETURNS (Settings): The settings with these limits.
        """
        for name in limits:
            if name not in Limits.__annotations__:
                refuse("limits", name, f"one of {', '.join(Limits.__annotations__)}")
        given = {name: value for name, value in limits.items() if value is not None}
        return self.cfg.changed(given) if given else self.cfg

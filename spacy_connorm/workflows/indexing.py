"""Build a searchable pipeline from an ontology and annotated data: `connorm index`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.training import Example
from thinc.api import Config

from ..concepts import AnyOntology, ConceptStream, Ontology
from ..concepts.ontology import Given, read_given
from ..documents.docbin import read_docs
from ..documents.mentions import annotated_mentions
from ..encoders import choose_device
from ..errors import Errors, Warnings, refuse, require_choice, require_range
from ..files.atomic import TemporaryFolder, require_apart
from ..files.folders import MANIFEST, read_object, replaced
from ..lang.language import names_language
from ..linker.lookup import ConceptLookup
from ..linker.synonym_changes import ChangedSynonym, as_pairs, read_synonyms
from ..ontology import OntologyReader, ReadReport, Translations, substitutions_reader
from ..ontology.formats import has_languages
from ..ontology.profiles import AUTO, NONE, PROFILES, Profile
from ..pipeline.concept_normalizer import ConceptNormalizer
from ..pipeline.loading import find_normalizer, load_normalizer
from ..pipeline.model_card import describe_pipeline
from ..pipeline.presets import ENCODERS, FINDER, GPU_ENCODERS, TRAINED_ENCODERS
from ..pipeline.saving import write_pipeline
from ..pipeline.short_form_files import no_findings
from ..text.substitutions import Substitution
from .clinical_meanings import choose_meanings
from .name_training import TrainingGain, TrainingPlan, train_on_names
from .pipeline_plan import MARKER, RESOLVER, PipelinePlan, plan_pipeline
from .profile_choice import choose_for, grouping_names, with_profile

_COMPARE_WORDS = "components.concept_normalizer.compare_words"
_ENCODER_NAME = "components.concept_normalizer.encoder.name"


class BuiltIndex(NamedTuple):
    """A pipeline that was built for an ontology.

    path (Path): Its folder.
    component (str): The name of its concept normalizer.
    manifest (Dict[str, Any]): The manifest of the index: "counts", "searches", "ontology",
        "encoder", "versions".
    profile (Optional[Profile]): The ontology's profile, if it was applied.
    left_out (Tuple[str, ...]): Names that are not found, because half of the ontology is below
        their concept.
    gain (Optional[TrainingGain]): What training gained, if the encoder was trained.
    report (Optional[ReadReport]): What the reader of the ontology's file left out, and names by
        language, if there are several.
    """

    path: Path
    component: str
    manifest: dict[str, Any]
    profile: Profile | None = None
    left_out: tuple[str, ...] = ()
    gain: TrainingGain | None = None
    report: ReadReport | None = None

    @property
    def index_path(self) -> Path:
        """The folder of the index.

        RETURNS (Path): For the `index` of [initialize.components...] in another pipeline.
        """
        return self.path / self.component


def build_index(
    ontology: str | Path | AnyOntology,
    output_path: str | Path,
    *,
    encoder: str | None = None,
    pooling: str | None = None,
    train: bool = False,
    train_minutes: float = 10.0,
    find_mentions: bool = False,
    profile: str = AUTO,
    clinical: bool = False,
    format: str | None = None,
    language: Sequence[str] = (),
    corpora: Sequence[str | Path] = (),
    synonyms: str | Path | Iterable[tuple[str, str]] | None = None,
    substitutions: str | Path | None = None,
    background: str | Path | AnyOntology | None = None,
    config: str | Path | Config | None = None,
    overrides: Mapping[str, Any] | None = None,
    component: str | None = None,
    reuse: str | Path | Language | None = None,
    on_training: Callable[[TrainingPlan], Any] | None = None,
    gpu_id: int = -1,
    **translations: Any,
) -> BuiltIndex:
    """Encode the names of an ontology and of annotated data, and write a pipeline with a concept
    normalizer, an abbreviation resolver, and optionally a mention finder: `connorm index`.

    ontology (Union[str, Path, Ontology, ConceptStream]): O: a file in any format, or an ontology.
    output_path (Union[str, Path]): The pipeline's folder, to create or replace.
    encoder (Optional[str]): "fast" (a deep averaging network, with `train`), "accurate"
        (all-MiniLM-L6-v2, the default), "ngrams" (nothing to install or download), the folder of a
        trained encoder, or the name of a transformer on the hub.
    pooling (Optional[str]): How a named transformer pools tokens: "mean" (the default), "cls" or
        "max".
    train (bool): Whether to train the encoder, "fast" unless `encoder` names another, on the
        ontology's names first. Some synonyms are held out to measure the gain; n-grams are used if
        there is none. An interrupted training leaves nothing behind.
    train_minutes (float): The maximum time to train.
    find_mentions (bool): Whether the pipeline finds mentions itself, so that it reads plain text:
        with `mention_finder`, and its settings in the config if there are any.
    profile (str): The part of the ontology to find, see `ontology.profiles`. "auto": the profile of
        a known ontology, or of several that were joined, unless the settings have `branches`.
        "none": all of it.
    clinical (bool): Whether it reads clinical notes: with the short forms of the language's table
        ("SOB"), and with an assertion marker.
    format (Optional[str]): The format of the ontology's file; detected from the file if None.
    language (Sequence[str]): The language of texts and names, "fr". If several, the first one is
        that of the pipeline; names are read in all of them, where the ontology or its translations
        say theirs. English, or that of the config, if empty.
    corpora (Sequence[Union[str, Path]]): D: annotated documents, `.spacy`.
    synonyms (Optional[Union[str, Path, Iterable[Tuple[str, str]]]]): More of D: texts and concept
        ids, or a file with a text, a tab and a concept id in each line.
        `ConceptNormalizer.save_synonyms` writes such a file; what was removed is removed again.
    substitutions (Optional[Union[str, Path]]): A table of words in mentions that can replace words
        in names, from `connorm substitutions`. If None, it is learned from the ontology's own
        names, 200,000 at most.
    background (Optional[Union[str, Path, Ontology, ConceptStream]]): A vocabulary of other things,
        such as MeSH, in any format. Its names are not found, but a mention finder finds no name
        inside them, such as "tumor" in "tumor necrosis factor".
    config (Optional[Union[str, Path, Config]]): A config with a concept normalizer, for all other
        choices; the default settings if None.
    overrides (Optional[Mapping[str, Any]]): Settings by their dotted names, such as
        "components.concept_normalizer.encoder.name".
    component (Optional[str]): The concept normalizer of the config to use, if there are several.
    reuse (Optional[Union[str, Path, Language]]): A pipeline whose vectors are copied if texts and
        encoder are the same.
    on_training (Optional[Callable[[TrainingPlan], Any]]): Called with the expected training time,
        once a few batches have shown it.
    gpu_id (int): The GPU that trains and encodes; -1 for the CPU.
    **translations (Any): The options of `Translations`, for an ontology in a file.
    RETURNS (BuiltIndex): The folder, and the content of the index.
    RAISES (ConnormError): CN121 if the output would replace an input, CN733 for translations of an
        ontology in memory, CN100 or CN711 for an invalid
        config, CN703, CN704 or CN711 if it has none, several or another concept normalizer, CN705
        if something else is at the path, CN115 for a bad line of synonyms, CN713 if the GPU cannot
        be used, CN006 and CN118 for an unknown encoder or profile and an encoder beside a config,
        CN406 for a profile of another ontology, CN810 if there are too few synonyms to train on,
        and the errors of the readers and, with `train`, of `training.train`.
    WARNS (ConnormWarning): CNW404 for the encoder "fast" without training, CNW405 for annotated
        documents without concept ids, CNW406 for clinical notes in a language without cues, CNW407
        for names in another language than the texts.
    """
    translated = Translations(language=language, **translations)
    inputs = (*translated.translations, *corpora, synonyms, substitutions, background, config)
    require_apart(output_path, ontology, *inputs)
    require_choice("profile", profile, (AUTO, NONE, *PROFILES))
    choose_device(gpu_id)
    if train:
        encoder = _require_trained(encoder, config, train_minutes)
    encoders = ENCODERS if gpu_id < 0 else GPU_ENCODERS
    source: Given[AnyOntology]
    reader = None
    if isinstance(ontology, (str, Path)):
        reader = _reader(Path(ontology), format, translated)
        source = reader.stream
    else:
        if translated.translations:
            needed = "the file of the ontology (`read_ontology` has this option, too)"
            raise Errors.CN733(option="translations", needed=needed)
        source = ontology
    has_names = bool(translated.translations) or config is not None
    is_foreign = not has_names and _has_foreign_names(language, source)
    settings: dict[str, Any] = {"nlp.lang": language[0]} if language else {}
    if is_foreign:
        settings[_COMPARE_WORDS] = False
    plan_for = partial(
        plan_pipeline,
        config,
        encoders=encoders,
        pooling=pooling,
        component=component,
        find_mentions=find_mentions,
        clinical=clinical,
        overrides={**settings, **(overrides or {})},
    )
    plan, gain = plan_for(encoder=encoder), None
    plan = plan.for_foreign_names() if is_foreign else plan
    nlp = plan.make()  # refuses wrong settings before any work
    if encoder == "fast" and not train and _ENCODER_NAME not in (overrides or {}):
        Warnings.CNW404.warn()
    reused = None if reuse is None else load_normalizer(reuse).lookup.index
    changes = _read_changes(synonyms)
    table: Given[Iterable[Substitution]] | None = None
    if substitutions is not None:
        table = substitutions_reader(Path(substitutions))
    path = Path(output_path)
    with replaced(path, is_ours=_is_index) as folder:
        if train:
            given = read_given(source)
            source = given if isinstance(given, Ontology) else Ontology(given, source=given.source)
            work = TemporaryFolder()
            block, gain = train_on_names(
                source,
                str(encoder),
                work.path,
                architecture=encoders[str(encoder)]["@architectures"],
                minutes=train_minutes,
                language=nlp.vocab.lang,
                gpu_id=gpu_id,
                on_plan=on_training,
            )
            plan = plan_for(encoder=block)
            nlp = plan.make()
        normalizer = find_normalizer(nlp)
        normalizer.initialize(
            lambda: _read_examples(corpora, nlp, spans_key=normalizer.cfg["spans_key"]),
            nlp=nlp,
            ontology=source,
            synonyms=[change[:2] for change in changes for _ in range(change.times)],
            substitutions=table,
            background=background,
            reused=reused,
        )
        _remove(changes, normalizer)
        lookup, applied, left_out = normalizer.lookup, None, tuple[str, ...]()
        if find_mentions:
            applied = choose_for(plan, profile, lookup.index.store)
            plan = with_profile(plan, applied, lookup.index.store) if applied else plan
            left_out = () if profile == NONE else grouping_names(lookup.index)
            plan = plan.without_texts(left_out)
            if plan.short_forms:
                plan = _with_meanings(plan.without_texts(no_findings(plan.lang)), lookup)
        made = plan.make(lookup)
        made.meta.update(describe_pipeline(made))
        write_pipeline(made, folder)
    report = None if reader is None else reader.report
    manifest = lookup.index.manifest
    return BuiltIndex(path, plan.normalizer, manifest, applied, left_out, gain, report)


def _with_meanings(plan: PipelinePlan, lookup: ConceptLookup) -> PipelinePlan:
    """Let the names of the ontology decide what short forms mean."""
    finder: Any = plan.make(lookup).get_pipe(FINDER)
    return replace(plan, short_forms=choose_meanings(finder, plan.short_forms["short_forms"]))


def _require_trained(encoder: str | None, config: Any, minutes: float) -> str:
    """Choose the encoder to train."""
    if config is not None:
        refuse("train", True, "left out with a config, which names its own encoder")
    require_range(above=0, train_minutes=minutes)
    if encoder is not None and encoder not in TRAINED_ENCODERS:
        refuse("encoder", encoder, f"one of {', '.join(TRAINED_ENCODERS)} beside `train`")
    return encoder or "fast"


def _has_foreign_names(language: Sequence[str], source: Given[AnyOntology]) -> bool:
    """Check whether the names are in another language than the texts, which a warning (CNW407)
    tells.

    language (Sequence[str]): The languages of texts and names; empty for the usual one.
    source (Union[Ontology, ConceptStream, Callable]): The ontology.
    RETURNS (bool): False if nobody can tell.
    """
    # A stream can be read only once.
    if not language or isinstance(source, ConceptStream):
        return False
    other = names_language(name for concept in read_given(source) for name in concept.names)
    if not other or other in language:
        return False
    Warnings.CNW407.warn(other=other, lang=language[0])
    return True


def _reader(path: Path, format: str | None, translated: Translations) -> OntologyReader:
    # The language of the pipeline is that of its texts, too.
    if translated.language and not translated.translations and not has_languages(path, format):
        translated = Translations()
    return OntologyReader(path, format=format, options=vars(translated))


def _read_changes(synonyms: str | Path | Iterable[tuple[str, str]] | None) -> list[ChangedSynonym]:
    if isinstance(synonyms, (str, Path)):
        return list(read_synonyms(synonyms))
    return [ChangedSynonym(*pair) for pair in as_pairs(synonyms or ())]


def _remove(changes: Iterable[ChangedSynonym], normalizer: ConceptNormalizer) -> None:
    """Remove the synonyms that were removed from an older index, if this one has their concepts."""
    store = normalizer.lookup.index.store
    normalizer.remove_synonyms(
        (change.text, change.concept_id)
        for change in changes
        if not change.times and store.number(normalizer.own_id(change.concept_id)) is not None
    )


def _read_examples(
    paths: Sequence[str | Path], nlp: Language, *, spans_key: str | None
) -> Iterator[Example]:
    for path in paths:
        has_ids = False
        for doc in read_docs(path, nlp.vocab):
            mentions = annotated_mentions(doc, spans_key=spans_key)
            has_ids = has_ids or any(mention.concept_ids for mention in mentions)
            yield Example(doc, doc)
        if not has_ids:
            Warnings.CNW405.warn(path=path)


def _is_index(folder: Path) -> bool:
    components = set(read_object(folder / "meta.json").get("components", []))
    components -= {RESOLVER, FINDER, MARKER}
    return len(components) == 1 and (folder / components.pop() / MANIFEST).is_file()

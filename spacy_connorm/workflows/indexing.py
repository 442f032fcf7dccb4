"""Build a searchable pipeline from an ontology and annotated data: `connorm index`."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import spacy
from spacy.language import Language
from spacy.training import Example
from thinc.api import Config

from ..concepts import AnyOntology, Concept, ConceptStream, Ontology
from ..concepts.ontology import Given, read_given
from ..documents.docbin import read_docs
from ..documents.mentions import annotated_mentions
from ..encoders import choose_device
from ..errors import ConnormError, Errors, Warnings, refuse, require_choice, warn
from ..files.atomic import TemporaryFolder, require_apart
from ..files.configs import config_errors, read_config
from ..files.folders import MANIFEST, read_object, replaced
from ..index.store import ConceptStore
from ..linker.synonyms import ChangedSynonym, as_pairs, read_synonyms
from ..ontology import OntologyReader, substitutions_reader
from ..ontology.profiles import AUTO, NONE, PROFILES, Profile, choose_profile
from ..pipeline.concept_normalizer import ConceptNormalizer
from ..pipeline.loading import choose_name, find_normalizer, load_normalizer
from ..pipeline.saving import write_pipeline
from ..pipeline.short_form_files import CLINICAL, NO_FINDINGS, ambiguous_short_forms, unambiguous
from ..pipeline.tokenization import separate_joined_words
from ..text.substitutions import Substitution, find_substitutions
from ..text.word_bags import normalized_words
from .name_training import NGRAMS, STARTS, TrainingGain, TrainingPlan, train_on_names

# Learning keeps about a kilobyte per name, and takes about ten seconds for 100,000 names.
_MOST_NAMES = 200_000


def _remember_names(ontology: Given[AnyOntology], names: list[tuple[str, ...]]) -> ConceptStream:
    """Keep the first names of an ontology while it is read.

    ontology (Union[Ontology, ConceptStream, Callable]): The ontology, or a function that reads it.
    names (List[Tuple[str, ...]]): The names of each concept are added to it.
    RETURNS (ConceptStream): The same concepts, to be read once.
    RAISES (ConnormError): CN006 for anything but an ontology.
    """
    read = read_given(ontology)

    def remembered() -> Iterator[Concept]:
        count = 0
        for concept in read:
            if count < _MOST_NAMES:
                names.append(concept.names)
                count += len(concept.names)
            yield concept

    return ConceptStream(remembered(), read.source)


def _learn_substitutions(names: Sequence[tuple[str, ...]]) -> Iterator[Substitution]:
    """Find substitutions in the names of concepts, but not before the first one is asked for."""
    yield from find_substitutions([names])


# The number of concepts whose ancestors are checked; in smaller ontologies, a root may be a
# mention.
_FEW_CONCEPTS = 200
# From these shares of them below a concept on, its names of one word, or all, are no mentions.
_HALF, _NEARLY_ALL = 0.5, 0.9
# The empty sections get the component's defaults, and can be overridden. The weight was chosen on
# dev data, with an untrained encoder (docs/benchmarks/ontology_alone.md).
_DEFAULT_CONFIG = """
[nlp]
lang = "en"

[components]

[components.concept_normalizer]
factory = "concept_normalizer"
extra_words_weight = 0.2

[components.concept_normalizer.encoder]

[components.concept_normalizer.index]

[components.concept_normalizer.sieve]

[components.mention_finder]
factory = "mention_finder"
"""
# The choices of `--encoder`. The DAN has the input embeddings of MiniLM; n-grams need training.
ENCODERS: dict[str, dict[str, Any]] = {
    "fast": {"@architectures": "spacy-connorm.DanEncoder.v1", "buckets": 0, "dtype": "int8"},
    "accurate": {
        "@architectures": "spacy-connorm.TransformerEncoder.v1",
        "mixed_precision": True,
    },
    "ngrams": NGRAMS,
}
# What a number after a short form counts: "CKD3", "CKD 3", "DM II". "I" is a word.
_KINDS = ("type", "stage", "grade")
_NUMBERS = {"1": "1", "2": "II", "3": "III", "4": "IV", "5": "V"}
_NORMALIZER = "concept_normalizer"
_ARCHITECTURE = "components.concept_normalizer.encoder.@architectures"
_ENCODER_NAME = "components.concept_normalizer.encoder.name"
_RESOLVER = "abbreviation_resolver"
_FINDER = "mention_finder"
_MARKER = "assertion_marker"


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
    """

    path: Path
    component: str
    manifest: dict[str, Any]
    profile: Profile | None = None
    left_out: tuple[str, ...] = ()
    gain: TrainingGain | None = None

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
    format: str | None = None,
    corpora: Sequence[str | Path] = (),
    synonyms: str | Path | Iterable[tuple[str, str]] | None = None,
    substitutions: str | Path | None = None,
    encoder: str | None = None,
    config: str | Path | Config | None = None,
    overrides: Mapping[str, Any] | None = None,
    component: str | None = None,
    find_mentions: bool = False,
    profile: str = AUTO,
    clinical: bool = False,
    reuse: str | Path | Language | None = None,
    train: bool = False,
    train_minutes: float = 10.0,
    on_training: Callable[[TrainingPlan], Any] | None = None,
    gpu_id: int = -1,
) -> BuiltIndex:
    """Encode the names of an ontology and of annotated data, and write a pipeline with a concept
    normalizer, an abbreviation resolver if it expands abbreviations, and optionally a mention
    finder: `connorm index`.

    ontology (Union[str, Path, Ontology, ConceptStream]): O: a file in any format, or an ontology.
    output_path (Union[str, Path]): The pipeline's folder, to create or replace.
    format (Optional[str]): The format of the ontology's file; detected from the file if None.
    corpora (Sequence[Union[str, Path]]): D: annotated documents, `.spacy`.
    synonyms (Optional[Union[str, Path, Iterable[Tuple[str, str]]]]): More of D: texts and concept
        ids, or a file with a text, a tab and a concept id in each line, such as
        `ConceptNormalizer.save_synonyms` writes. Synonyms removed there are removed again.
    substitutions (Optional[Union[str, Path]]): A table of words in mentions that can replace words
        in names, from `connorm substitutions`. If None, and without a config, it is learned from
        the ontology's own names, 200,000 at most.
    encoder (Optional[str]): "fast" (a deep averaging network, with `train`), "accurate"
        (all-MiniLM-L6-v2, the default) or "ngrams" (nothing to install or download), with the
        default settings.
    config (Optional[Union[str, Path, Config]]): A config with a concept normalizer, for all other
        choices; the default settings if None.
    overrides (Optional[Mapping[str, Any]]): Settings by their dotted names, such as
        "components.concept_normalizer.encoder.name".
    component (Optional[str]): The concept normalizer of the config to use, if there are several.
    find_mentions (bool): Whether the pipeline finds mentions itself, so that it reads plain text:
        with `mention_finder`, and its settings in the config if there are any.
    profile (str): The part of the ontology to find, see `ontology.profiles`. "auto": the profile of
        a known ontology, or of several that were joined, unless the settings have `branches`.
        "none": all of it.
    clinical (bool): Whether it reads clinical notes in English: with the short forms of a table
        ("SOB"), and with an assertion marker.
    reuse (Optional[Union[str, Path, Language]]): A pipeline whose vectors are copied if texts and
        encoder are the same.
    train (bool): Whether to train the encoder, "fast" unless `encoder` names another, on the
        ontology's names first. Some synonyms are held out to measure the gain; n-grams are used if
        there is none. An interrupted training leaves nothing behind.
    train_minutes (float): The maximum time to train.
    on_training (Optional[Callable[[TrainingPlan], Any]]): Called with the expected training time,
        once a few batches have shown it.
    gpu_id (int): The GPU that trains and encodes; -1 for the CPU.
    RETURNS (BuiltIndex): The folder, and the content of the index.
    RAISES (ConnormError): CN121 if the output would replace an input, CN100 or CN711 for an invalid
        config, CN703, CN704 or CN711 if it has none, several or another concept normalizer, CN705
        if something else is at the path, CN115 for a bad line of synonyms, CN713 if the GPU cannot
        be used, CN006 and CN118 for an unknown encoder or profile and an encoder beside a config,
        CN406 for a profile of another ontology, CN810 if there are too few synonyms to train on,
        and the errors of the readers and, with `train`, of `training.train`.
    WARNS (ConnormWarning): CNW404 for the encoder "fast" without training, CNW405 for annotated
        documents without concept ids, CNW406 for clinical notes in another language than English.
    """
    require_apart(output_path, ontology, *corpora, synonyms, substitutions, config)
    require_choice("profile", profile, (AUTO, NONE, *PROFILES))
    choose_device(gpu_id)
    if train:
        encoder = _require_trained(encoder, config, train_minutes)
    make = partial(
        make_pipeline,
        config,
        component=component,
        find_mentions=find_mentions,
        clinical=clinical,
        overrides=overrides,
    )
    nlp, gain = make(encoder=encoder), None
    if encoder == "fast" and not train and _ENCODER_NAME not in (overrides or {}):
        warn(Warnings.CNW404)
    reused = None if reuse is None else load_normalizer(reuse).lookup.index
    changes = _read_changes(synonyms)
    source: Given[AnyOntology] = _source(ontology, format)
    table: Given[Iterable[Substitution]] | None = None
    if substitutions is not None:
        table = substitutions_reader(Path(substitutions))
    path = Path(output_path)
    with replaced(path, is_ours=_is_index) as folder:
        if train:
            read = read_given(source)
            source = read if isinstance(read, Ontology) else Ontology(read, source=read.source)
            work = TemporaryFolder()
            block, gain = train_on_names(
                source,
                str(encoder),
                work.path,
                minutes=train_minutes,
                settings={"extra_words_weight": find_normalizer(nlp).cfg["extra_words_weight"]},
                gpu_id=gpu_id,
                on_plan=on_training,
            )
            nlp = make(encoder=block)
        if config is None and substitutions is None:
            names: list[tuple[str, ...]] = []
            source = partial(_remember_names, source, names)
            # It is read after the concepts.
            table = _learn_substitutions(names)
        normalizer = find_normalizer(nlp)
        normalizer.initialize(
            lambda: _read_examples(corpora, nlp, spans_key=normalizer.cfg["spans_key"]),
            nlp=nlp,
            ontology=source,
            synonyms=[each[:2] for each in changes for _ in range(each.times)],
            substitutions=table,
            reused=reused,
        )
        _remove(changes, normalizer)
        applied = _apply_profile(profile, nlp, normalizer) if find_mentions else None
        chooses = find_mentions and profile != NONE
        left_out = _leave_out_groupings(nlp, normalizer) if chooses else ()
        if clinical and find_mentions:
            _choose_meanings(nlp)
        write_pipeline(nlp, folder)
    manifest = normalizer.lookup.index.manifest
    return BuiltIndex(path, normalizer.name, manifest, applied, left_out, gain)


def _require_trained(encoder: str | None, config: Any, minutes: float) -> str:
    """Choose the encoder to train."""
    if config is not None:
        refuse("train", True, "left out with a config, which names its own encoder")
    if not minutes > 0:
        refuse("train_minutes", minutes, "above 0")
    if encoder is not None and encoder not in STARTS:
        refuse("encoder", encoder, f"one of {', '.join(STARTS)} beside `train`")
    return encoder or "fast"


def make_pipeline(
    config: str | Path | Config | None = None,
    *,
    encoder: str | dict[str, Any] | None = None,
    component: str | None = None,
    find_mentions: bool = False,
    clinical: bool = False,
    overrides: Mapping[str, Any] | None = None,
) -> Language:
    """Create a pipeline with a concept normalizer (not initialized), an abbreviation resolver if it
    expands abbreviations, and optionally a mention finder.

    config (Optional[Union[str, Path, Config]]): The config of any pipeline with this component; the
        default settings if None.
    encoder (Optional[Union[str, Dict[str, Any]]]): One of `ENCODERS` for the default settings, or
        an encoder's block in a config.
    component (Optional[str]): Its name; needed if there are several.
    find_mentions (bool): Whether to add a mention finder.
    clinical (bool): Whether to add an assertion marker and short forms of clinical notes.
    overrides (Optional[Mapping[str, Any]]): Settings by their dotted names.
    RETURNS (Language): The pipeline. A warning (CNW406) reports clinical notes in another language
        than English.
    RAISES (ConnormError): CN100 for a missing file, CN703, CN704 or CN711 if the config has none,
        several or another concept normalizer, CN711 for an invalid setting, CN118 for an unknown
        encoder, CN006 for one beside a config.
    """
    if isinstance(encoder, str):
        require_choice("encoder", encoder, ENCODERS)
        if config is not None:
            refuse("encoder", encoder, "left out with a config, which names its own")
        encoder = ENCODERS[encoder]
    with config_errors():
        if config is None:
            settings = _default_config(encoder, overrides)
        else:
            settings = read_config(config, overrides)
        normalizers = _blocks(settings, _NORMALIZER)
        if not normalizers:
            reason = "[components] has none with the factory `concept_normalizer`"
            raise ConnormError(Errors.CN711.format(reason=reason))
        name = choose_name(normalizers, component)
        block = normalizers[name]
        nlp = spacy.blank(settings.get("nlp", {}).get("lang") or "en")
        if clinical and nlp.lang != "en":
            warn(Warnings.CNW406.format(lang=nlp.lang))
        if block.get("expand_abbreviations", True):
            resolver: Any = nlp.add_pipe(_RESOLVER)
            if clinical:
                resolver.initialize(lambda: [], short_forms=CLINICAL)
        if find_mentions:
            separate_joined_words(nlp)
            # A mention that the finder found in other words is linked by these words.
            block = {"rewriting_weight": 1.0, **block}
            # Notes rarely define short forms.
            shared = {"spans_key": block.get("spans_key"), "undefined_short_forms": clinical}
            own = next(iter(_blocks(settings, _FINDER).values()), {})
            nlp.add_pipe(_FINDER, config={**shared, **own, "normalizer": name})
        nlp.add_pipe(_NORMALIZER, name, config=block)
        if clinical:
            nlp.add_pipe(_MARKER, config={"spans_key": block.get("spans_key")})
    return nlp


def _default_config(encoder: dict[str, Any] | None, overrides: Mapping[str, Any] | None) -> Config:
    config = Config().from_str(_DEFAULT_CONFIG)
    # Another architecture does not have the settings of this one.
    if encoder is None and _ARCHITECTURE not in (overrides or {}):
        encoder = ENCODERS["accurate"]
    if encoder is not None:
        config["components"][_NORMALIZER]["encoder"] = encoder
    return Config().from_str(config.to_str(), overrides=dict(overrides or {}))


def _blocks(config: Config, factory: str) -> dict[str, dict[str, Any]]:
    """Get the settings of all components of a factory."""
    return {
        name: {key: value for key, value in block.items() if key != "factory"}
        for name, block in config.get("components", {}).items()
        if block.get("factory") == factory
    }


def _source(ontology: str | Path | AnyOntology, format: str | None) -> Given[AnyOntology]:
    if isinstance(ontology, (str, Path)):
        return OntologyReader(Path(ontology), format=format).stream
    return ontology


def _read_changes(
    synonyms: str | Path | Iterable[tuple[str, str]] | None,
) -> list[ChangedSynonym]:
    if isinstance(synonyms, (str, Path)):
        return list(read_synonyms(synonyms))
    return [ChangedSynonym(*pair) for pair in as_pairs(synonyms or ())]


def _remove(changes: Iterable[ChangedSynonym], normalizer: ConceptNormalizer) -> None:
    """Remove the synonyms that were removed from an older index, if this one has their concepts."""
    store = normalizer.lookup.index.store
    normalizer.remove_synonyms(
        (each.text, each.concept_id)
        for each in changes
        if not each.times and store.number(normalizer.own_id(each.concept_id)) is not None
    )


class _Described:
    """Identifies an ontology by its index; see `ontology.profiles.Described`."""

    def __init__(self, store: ConceptStore) -> None:
        self._store = store
        self._placed = len(store.placed())

    def has_hierarchy(self) -> bool:
        return self._placed > 0

    def share_below(self, roots: Sequence[str]) -> float:
        known = [root for root in roots if self._store.number(root) is not None]
        if not known or not self._placed:
            return 0.0
        # The rest are supplementary concepts, or of another ontology.
        return len(self._store.of_branches(known)) / self._placed

    def some_ids(self, most: int) -> list[str]:
        numbers = range(0, len(self._store), len(self._store) // most + 1)
        return [each[0] for each in self._store.labels(numbers).values()]

    def types(self) -> list[str]:
        types = self._store.types()
        is_whole = types and len(self._store.of_types(types)) == len(self._store)
        return types if is_whole else []


def _apply_profile(name: str, nlp: Language, normalizer: ConceptNormalizer) -> Profile | None:
    """Apply the ontology's profile to finding and linking, unless the settings override it."""
    if normalizer.cfg["branches"] or normalizer.cfg["excluded_branches"]:
        return None
    store = normalizer.lookup.index.store
    profile = choose_profile(name, _Described(store))
    if profile is not None:
        # A part of the ontology may lack some of them.
        known, left_out = (
            [each for each in concepts if store.number(each) is not None]
            for concepts in (profile.branches, profile.excluded)
        )
        normalizer.cfg["branches"] = known if name == AUTO else [*profile.branches]
        normalizer.cfg["excluded_branches"] = left_out
        if profile.other_types and not normalizer.cfg["types"]:
            normalizer.cfg["types"] = profile.kept_types(store.types())
        normalizer.candidates(())  # refuses branches that the ontology lacks
        finder: Any = nlp.get_pipe(_FINDER)
        finder.cfg["inexact_names"] |= profile.inexact_names
        finder.cfg["derivations"] &= profile.derivations
        finder.cfg["match_capitals"] |= profile.match_capitals
        finder.cfg["undefined_short_forms"] |= profile.undefined_short_forms
        if profile.min_certainty is not None:
            finder.cfg["min_certainty"] = profile.min_certainty
    return profile


def _choose_meanings(nlp: Language) -> None:
    """Choose the meaning of short forms with several meanings if exactly one of them is a name in
    the ontology, by document if several are, or if the short form is a name itself, and of those
    with a number if that is its type, stage or grade: "CKD3". Short forms of the ontology whose
    long form it lacks are its own.
    """
    if _RESOLVER not in nlp.pipe_names:
        return
    resolver: Any = nlp.get_pipe(_RESOLVER)
    finder: Any = nlp.get_pipe(_FINDER)
    finder.add_stop_texts(NO_FINDINGS)
    meanings = ambiguous_short_forms()
    certain = {short: [long] for short, long in resolver.cfg["short_forms"].items()}
    known: dict[str, list[str]] = {**certain, **meanings}
    names = finder.names_among([*known, *chain.from_iterable(known.values())])
    own = {
        short: longs[0]
        for short, longs in known.items()
        if names.get(short) and names.keys().isdisjoint(longs)
    }
    for short in _unmistakable(nlp, own):
        certain.pop(short, None)
        resolver.cfg["short_forms"].pop(short, None)
        del own[short]
    resolver.cfg["own_names"] = [*own]
    resolver.cfg["short_forms"] |= own
    meanings = _without_synonyms(nlp, meanings, names)
    named = {short: [each for each in longs if each in names] for short, longs in meanings.items()}
    resolver.cfg["meanings"] = {
        short: longs if len(longs) == 1 and short not in names else meanings[short]
        for short, longs in named.items()
        if longs
    }
    findings = [short for short, (long,) in certain.items() if long in names]
    numbered = _numbered_forms({short: names.keys() & known[short] for short in known})
    names = finder.names_among(long for _, long in numbered)
    counted = unambiguous(each for each in numbered if each[1] in names)
    resolver.cfg["short_forms"] |= counted
    resolver.cfg["findings"] = [*findings, *counted]


def _unmistakable(nlp: Language, own: Mapping[str, str]) -> list[str]:
    """Select the short forms that mean the ontology's concept wherever they stand: its preferred
    name, one with a digit or hyphen ("COVID-19"), and those whose long form in the table is linked
    to the same concept, which only lacks it as a name ("human papillomavirus" for "HPV").

    own (Mapping[str, str]): The table's long forms of short forms that are names in the ontology.
    RETURNS (List[str]): Some of the short forms.
    """
    link = partial(find_normalizer(nlp).candidates, top_k=1)
    linked = zip(own, link([*own]), link([*own.values()]), strict=True)
    return [
        short
        for short, ours, theirs in linked
        if not short.isalpha()
        or short in {each.name for each in ours}
        or {each.concept_id for each in ours} & {each.concept_id for each in theirs}
    ]


def _without_synonyms(
    nlp: Language, meanings: Mapping[str, Sequence[str]], names: Collection[str]
) -> dict[str, list[str]]:
    """Leave out meanings that are synonyms: "benign prostatic hypertrophy" and "hyperplasia" of
    "BPH" are one concept.

    RETURNS (Dict[str, List[str]]): Long forms by short form, the first of each concept and those
        that are no names.
    """
    several = [longs for own in meanings.values() if len(longs := {*own}.intersection(names)) > 1]
    texts = sorted({each for longs in several for each in longs})
    candidates = find_normalizer(nlp).candidates(texts, top_k=1)
    concepts = {
        text: found[0].concept_id for text, found in zip(texts, candidates, strict=True) if found
    }
    return {
        short: list({concepts.get(long, long): long for long in reversed(longs)}.values())[::-1]
        for short, longs in meanings.items()
    }


def _numbered_forms(named: Mapping[str, Collection[str]]) -> list[tuple[str, str]]:
    """List short forms with a number, and what they may stand for: "CKD3" for "chronic kidney
    disease stage 3".

    named (Mapping[str, Collection[str]]): Long forms by short form.
    RETURNS (List[Tuple[str, str]]): Short and long forms, sorted.
    """
    return sorted(
        {
            (f"{short}{written}", f"{long} {kind} {number}")
            for short, longs in named.items()
            if short[-1].isalpha()
            for long in longs
            for kind in _KINDS
            for number, roman in _NUMBERS.items()
            for written in (number, f" {number}", f" {roman}")
        }
    )


def _leave_out_groupings(nlp: Language, normalizer: ConceptNormalizer) -> tuple[str, ...]:
    """Do not find the one-word names of concepts above half of a larger ontology, such as "cell"
    and "region", and no names of those above nearly all: they group concepts, and texts use them as
    everyday words.

    nlp (Language): The pipeline; its mention finder gets the names as stop texts.
    normalizer (ConceptNormalizer): Its normalizer.
    RETURNS (Tuple[str, ...]): The names.
    """
    index = normalizer.lookup.index
    store, members = index.store, index.members
    if len(store) < _FEW_CONCEPTS:
        return ()
    above = Counter[int]()
    step = len(store) // _FEW_CONCEPTS
    numbers = range(0, len(store), step)
    for number in numbers:
        above.update(store.ancestors(number))
    groupings = [each for each, count in above.items() if count >= _HALF * len(numbers)]
    roots = {each for each in groupings if above[each] >= _NEARLY_ALL * len(numbers)}
    places = np.flatnonzero(np.isin(members.concept, groupings)).tolist()
    names = sorted(
        {
            text
            for place, text in store.texts(places).items()
            if members.concept[place] in roots or len(normalized_words(text)) == 1
        }
    )
    finder: Any = nlp.get_pipe(_FINDER)
    finder.add_stop_texts(names)
    return tuple(names)


def _read_examples(
    paths: Sequence[str | Path], nlp: Language, *, spans_key: str | None
) -> Iterator[Example]:
    for path in paths:
        has_ids = False
        for doc in read_docs(path, nlp.vocab):
            mentions = annotated_mentions(doc, spans_key=spans_key)
            has_ids = has_ids or any(each.concept_ids for each in mentions)
            yield Example(doc, doc)
        if not has_ids:
            warn(Warnings.CNW405.format(path=path))


def _is_index(folder: Path) -> bool:
    components = set(read_object(folder / "meta.json").get("components", []))
    components -= {_RESOLVER, _FINDER, _MARKER}
    return len(components) == 1 and (folder / components.pop() / MANIFEST).is_file()

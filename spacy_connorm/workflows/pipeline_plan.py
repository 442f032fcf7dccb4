"""The pipeline that `connorm index` makes, as settings: they are complete before it is made."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from thinc.api import Config

from ..encoders.onnx.model import POSITIONS_AFTER_PADDING
from ..encoders.storage import ARCHITECTURES, TOKENIZER, WEIGHTS, has_card, model_type
from ..errors import Errors, Warnings, refuse, require_choice
from ..files.configs import config_errors, read_config
from ..lang import load_language
from ..linker.lookup import ConceptLookup
from ..pipeline.loading import choose_name, find_normalizer
from ..pipeline.presets import BESIDE_NGRAMS, ENCODERS, FINDER, NORMALIZER, Block, preset_settings
from ..pipeline.settings import FinderSettings
from ..pipeline.short_form_files import CLINICAL, read_short_forms
from ..pipeline.tokenization import separate_joined_words

RESOLVER = "abbreviation_resolver"
MARKER = "assertion_marker"
_FACTORY = "factory"
_TRANSFORMER = "spacy-connorm.TransformerEncoder.v1"
_OTHER_ARCHITECTURES = [f"spacy-connorm.{kind}" for kind in ARCHITECTURES.values()]
# An owner and a name.
_ON_HUB = re.compile(r"[\w-][\w.-]*/[\w.-]+")
_OTHER_ENCODERS = (
    "a folder, or the name of a transformer on the hub, such as "
    "cambridgeltl/SapBERT-from-PubMedBERT-fulltext with --pooling cls"
)
_POOLINGS = ("mean", "cls", "max")
_ARCHITECTURE = "components.concept_normalizer.encoder.@architectures"


@dataclass(frozen=True)
class PipelinePlan:
    """Everything that a pipeline is made of.

    lang (str): Its language.
    normalizer (str): The name of its concept normalizer.
    components (Dict[str, Dict[str, Any]]): The settings of each component by its name, in order,
        with its factory.
    stop_texts (Tuple[str, ...]): Texts that the finder does not find, besides those of its
        settings.
    short_forms (Dict[str, Any]): The tables of the abbreviation resolver. They are not in
        `components` since the keys of a config cannot be any text: "w/o".
    """

    lang: str
    normalizer: str
    components: dict[str, Block]
    stop_texts: tuple[str, ...] = ()
    short_forms: dict[str, Any] = field(default_factory=dict)

    def changed(self, name: str, settings: Mapping[str, Any]) -> "PipelinePlan":
        """Change settings of a component.

        name (str): The component.
        settings (Mapping[str, Any]): The settings to change.
        RETURNS (PipelinePlan): The changed plan.
        """
        return replace(
            self, components={**self.components, name: {**self.components[name], **settings}}
        )

    def without_texts(self, texts: tuple[str, ...]) -> "PipelinePlan":
        """Do not find some texts.

        RETURNS (PipelinePlan): The changed plan.
        """
        return replace(self, stop_texts=(*self.stop_texts, *texts))

    def for_foreign_names(self) -> "PipelinePlan":
        """Put n-grams beside an encoder that links texts to names in another language: many of
        their words are alike.

        RETURNS (PipelinePlan): The changed plan; the same if the encoder is not known to be
            multilingual (`encoders/cards.toml`).
        """
        dense = self.components[self.normalizer]["encoder"]
        if not has_card(dense.get("name", "")):
            return self
        return self.changed(self.normalizer, {"encoder": {**BESIDE_NGRAMS, "dense": dense}})

    def make(self, lookup: ConceptLookup | None = None) -> Language:
        """Make the pipeline.

        lookup (Optional[ConceptLookup]): The index of its normalizer, which is not initialized if
            None.
        RETURNS (Language): The pipeline.
        RAISES (ConnormError): CN711 for an invalid setting, CN406 for types and branches that the
            index lacks.
        """
        with config_errors():
            nlp = spacy.blank(self.lang)
            for name, settings in self.components.items():
                config = {key: value for key, value in settings.items() if key != _FACTORY}
                nlp.add_pipe(settings[_FACTORY], name, config=config)
        if RESOLVER in self.components:
            resolver: Any = nlp.get_pipe(RESOLVER)
            resolver.cfg.update(self.short_forms)
        if FINDER in self.components:
            finder: Any = nlp.get_pipe(FINDER)
            if self.stop_texts:
                finder.add_stop_texts(self.stop_texts)
            separate_joined_words(nlp)
        if lookup is not None:
            normalizer = find_normalizer(nlp)
            normalizer.lookup.use(lookup.encoder, lookup.index, lookup.overlay)
            normalizer.candidates(())  # refuses branches that the ontology lacks
        return nlp


def plan_pipeline(
    config: str | Path | Config | None = None,
    *,
    encoder: str | Block | None = None,
    encoders: Mapping[str, Block] = ENCODERS,
    pooling: str | None = None,
    component: str | None = None,
    find_mentions: bool = False,
    clinical: bool = False,
    overrides: Mapping[str, Any] | None = None,
) -> PipelinePlan:
    """Plan a pipeline with a concept normalizer (not initialized), an abbreviation resolver, and
    optionally a mention finder.

    config (Optional[Union[str, Path, Config]]): The config of any pipeline with this component; the
        default settings if None.
    encoder (Optional[Union[str, Dict[str, Any]]]): For the default settings: one of `encoders`, a
        folder, a name on the hub, or an encoder's block in a config; "accurate" if None.
    encoders (Mapping[str, Dict[str, Any]]): The blocks of encoders that have names.
    pooling (Optional[str]): How a transformer that was named pools tokens: mean, cls or max.
    component (Optional[str]): Its name; needed if there are several.
    find_mentions (bool): Whether to add a mention finder.
    clinical (bool): Whether to add an assertion marker and short forms of clinical notes.
    overrides (Optional[Mapping[str, Any]]): Settings by their dotted names.
    RETURNS (PipelinePlan): The plan. A warning (CNW406) reports clinical notes in a language
        without cues.
    RAISES (ConnormError): CN100 for a missing file, CN703, CN704 or CN711 if the config has none,
        several or another concept normalizer, CN711 for an invalid setting, CN006 for an unknown
        encoder, for one beside a config, for pooling without a transformer, and for settings of a
        mention finder without one.
    """
    if config is not None and isinstance(encoder, str):
        refuse("encoder", encoder, "left out with a config, which names its own")
    # Another architecture does not have the settings of this one.
    if encoder is None and config is None and _ARCHITECTURE not in (overrides or {}):
        encoder = "accurate"
    if isinstance(encoder, str) or pooling is not None:
        encoder = _encoder_block(encoder, encoders, pooling)
    read = read_config(_config_of_presets(encoder) if config is None else config, overrides)
    normalizers = _blocks(read, NORMALIZER)
    if not normalizers:
        raise Errors.CN711(reason="[components] has none with the factory `concept_normalizer`")
    name = choose_name(normalizers, component)
    normalizer = normalizers[name]
    spans_key = normalizer.get("spans_key")
    lang = read.get("nlp", {}).get("lang") or "en"
    if clinical and not load_language(lang).cues:
        Warnings.CNW406.warn(lang=lang)
    presets = ["clinical_notes"] * clinical
    components: dict[str, Block] = {RESOLVER: {_FACTORY: RESOLVER}}
    short_forms = {"short_forms": read_short_forms(CLINICAL, lang)} if clinical else {}
    finders = _blocks(read, FINDER)
    for setting, value in (overrides or {}).items():
        _, _, of_component = setting.partition(".")
        if not find_mentions and of_component.partition(".")[0] in finders:
            refuse(setting, value, "given only with find_mentions")
    if find_mentions:
        finder = next(iter(finders.values()), {})
        components[FINDER] = {
            **FinderSettings.defaults(),
            "spans_key": spans_key,
            **preset_settings(FINDER, *presets),
            **finder,
            **{_FACTORY: FINDER, "normalizer": name},
        }
    components[name] = normalizer
    if clinical:
        components[MARKER] = {_FACTORY: MARKER, "spans_key": spans_key}
    return PipelinePlan(lang, name, components, short_forms=short_forms)


def _encoder_block(
    encoder: str | Block | None, encoders: Mapping[str, Block], pooling: str | None
) -> Block:
    """Get the block of a config for an encoder that was named."""
    if not isinstance(encoder, str):
        block = dict(encoder or {})
    elif encoder in encoders:
        block = dict(encoders[encoder])
    elif Path(encoder).is_dir() or _ON_HUB.fullmatch(encoder):
        # Only the graph takes the directions of languages out of vectors.
        given = ENCODERS if has_card(encoder) else encoders
        block = _named_block(encoder, given["accurate"])
    else:
        refuse("encoder", encoder, f"{', '.join(encoders)}, {_OTHER_ENCODERS}")
    if pooling is not None:
        require_choice("pooling", pooling, _POOLINGS)
        if "name" not in block or block["@architectures"] in _OTHER_ARCHITECTURES:
            refuse("pooling", pooling, "given only with a transformer's name or folder")
        block["pooling"] = pooling
    return block


def _named_block(encoder: str, accurate: Block) -> Block:
    """Get the block for a folder, or for a transformer on the hub."""
    folder = Path(encoder)
    kind = model_type(folder) if folder.is_dir() else ""
    if kind in ARCHITECTURES:
        return {"@architectures": f"spacy-connorm.{ARCHITECTURES[kind]}", "name": encoder}
    files = (TOKENIZER, WEIGHTS)
    is_whole = kind in POSITIONS_AFTER_PADDING and all((folder / file).is_file() for file in files)
    # Of what is on the hub, the architecture and the files are not known before it is there.
    if is_whole or (not folder.is_dir() and has_card(encoder)):
        return {**accurate, "name": encoder}
    return {"@architectures": _TRANSFORMER, "name": encoder}


def _config_of_presets(encoder: Block | None) -> Config:
    # The empty sections get the component's defaults, and can be overridden.
    parts: Block = {"encoder": encoder or {}, "index": {}, "sieve": {}}
    components = {NORMALIZER: {_FACTORY: NORMALIZER, **parts}, FINDER: {_FACTORY: FINDER}}
    return Config({"nlp": {"lang": "en"}, "components": components})


def _blocks(config: Config, factory: str) -> dict[str, Block]:
    """Get the settings of all components of a factory."""
    return {
        name: block
        for name, block in config.get("components", {}).items()
        if block.get(_FACTORY) == factory
    }

"""`connorm index`: an ontology and annotated data to a searchable pipeline."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import spacy
import typer
from spacy.language import Language
from spacy.training import Example
from thinc.api import Config
from wasabi import msg

from ..encoders.devices import choose_device
from ..errors import ConnormError, Errors
from ..files.configs import config_errors, read_config
from ..files.docbin import read_docs
from ..files.folders import MANIFEST, read_object, replaced
from ..files.text import read_lines
from ..ontology import FORMATS, open_ontology
from ..pipeline.loading import choose_name, find_normalizer, load_normalizer
from .app import command, parse_overrides

# The empty sections are filled by the component's defaults, and can be overridden.
_DEFAULT_CONFIG = """
[nlp]
lang = "en"

[components]

[components.concept_normalizer]
factory = "concept_normalizer"

[components.concept_normalizer.encoder]

[components.concept_normalizer.index]

[components.concept_normalizer.sieve]
"""
_RESOLVER = "abbreviation_resolver"
_WIDTH = 60
_COUNTS = {
    "concepts": "Concepts",
    "concepts_only_in_data": "of them only in annotated data",
    "ontology_members": "Texts of concepts in the ontology",
    "data_members": "Texts of concepts in annotated data",
    "rows": "Vectors",
    "copied_rows": "of them copied",
    "width": "Width of a vector",
}


@command("index", overridable=True)
def index_cli(
    ctx: typer.Context,
    ontology_path: Path = typer.Argument(..., metavar="ONTOLOGY", help="In any known format."),
    output_path: Path = typer.Argument(..., metavar="OUT", help="The pipeline's folder."),
    format: str | None = typer.Option(
        None, "--format", "-f", help=f"Told from ONTOLOGY, or one of: {', '.join(FORMATS)}."
    ),
    corpora: list[Path] = typer.Option(
        [], "--corpus", "-d", metavar="FILE", help="Annotated documents (.spacy); repeatable."
    ),
    synonyms: Path | None = typer.Option(
        None, "--synonyms", "-s", metavar="FILE", help="More texts: a text, a tab, a concept id."
    ),
    config_path: Path | None = typer.Option(
        None, "--config", "-c", metavar="FILE", help="A pipeline's config. [the defaults]"
    ),
    component: str | None = typer.Option(
        None, "--component", help="Which concept normalizer of the config, if there are several."
    ),
    reuse: str | None = typer.Option(
        None,
        "--reuse",
        metavar="PIPELINE",
        help="Copy vectors of its index, if it has the encoder.",
    ),
    gpu_id: int = typer.Option(-1, "--gpu-id", "-g", help="GPU for the encoder; -1 for the CPU."),
) -> None:
    """Encode an ontology's names, and those of annotated data, and write a pipeline of the concept
    normalizer and what finds abbreviations for it: for `connorm search`, or as the `index` of
    [initialize.components...] in a larger pipeline's config (OUT/concept_normalizer).

    Settings of the config can be overridden: --components.concept_normalizer.encoder.name FOLDER

    Example: python -m spacy connorm index doid.jsonl training/index --corpus train.spacy
    """
    overrides = parse_overrides(ctx.args)
    choose_device(gpu_id)
    nlp = make_pipeline(config_path, component=component, overrides=overrides)
    normalizer = find_normalizer(nlp)
    if reuse is not None:
        normalizer.lookup.reuse(load_normalizer(reuse).lookup.index)
    with replaced(output_path, is_ours=_is_index) as folder:
        normalizer.initialize(
            lambda: _read_examples(corpora, nlp),
            nlp=nlp,
            ontology=open_ontology(ontology_path, format=format),
            synonyms=list(read_synonyms(synonyms)) if synonyms else [],
        )
        nlp.to_disk(folder)
    _show(normalizer.lookup.index.manifest)
    msg.good(f"Wrote the pipeline: {output_path}")
    msg.info(f"Index for a larger pipeline: {output_path / normalizer.name}")


def make_pipeline(
    config_path: Path | None = None,
    *,
    component: str | None = None,
    overrides: dict[str, Any] | None = None,
) -> Language:
    """Make a pipeline of a concept normalizer, not initialized, and, if that expands abbreviations,
    of what finds them.

    config_path (Optional[Path]): Any pipeline's config with this component; the defaults if None.
    component (Optional[str]): Its name; needed where there are several.
    overrides (Optional[Dict[str, Any]]): Settings by their dotted names.
    RETURNS (Language): The pipeline.
    RAISES (ConnormError): CN100 for a missing file, CN703, CN704, CN710 if the config has no, more
        than one or another concept normalizer, CN711 if a setting is wrong.
    """
    overrides = overrides or {}
    with config_errors():
        if config_path is None:
            config = Config().from_str(_DEFAULT_CONFIG, overrides=overrides)
        else:
            config = read_config(config_path, overrides)
        settings = _normalizer_settings(config, component)
        nlp = spacy.blank(config.get("nlp", {}).get("lang") or "en")
        nlp.add_pipe(settings.pop("factory"), settings.pop("name"), config=settings)
        if settings.get("expand_abbreviations", True):
            nlp.add_pipe(_RESOLVER, first=True)
    return nlp


def _normalizer_settings(config: Config, component: str | None) -> dict[str, Any]:
    found = {
        name: settings
        for name, settings in config.get("components", {}).items()
        if settings.get("factory") == "concept_normalizer"
    }
    if not found:
        raise ConnormError(Errors.CN710)
    name = choose_name(found, component)
    return {**found[name], "name": name}


def read_synonyms(path: Path) -> Iterator[tuple[str, str]]:
    """Read texts that denote concepts.

    path (Path): A text, a tab and a concept id in each line; `.gz` is read as it is.
    YIELDS (Tuple[str, str]): Text and concept id.
    RAISES (ConnormError): CN712 for another line, and what `read_lines` raises.
    """
    for number, line in read_lines(path):
        if not line.strip():
            continue
        text, _, concept_id = line.partition("\t")
        if not text.strip() or not concept_id.strip() or "\t" in concept_id:
            raise ConnormError(Errors.CN712.format(path=path, line=number))
        yield text.strip(), concept_id.strip()


def _read_examples(paths: Sequence[Path], nlp: Language) -> Iterator[Example]:
    for path in paths:
        for doc in read_docs(path, nlp.vocab):
            yield Example(doc, doc)


def _is_index(folder: Path) -> bool:
    components = set(read_object(folder / "meta.json").get("components", [])) - {_RESOLVER}
    return len(components) == 1 and (folder / components.pop() / MANIFEST).is_file()


def _show(manifest: dict[str, Any]) -> None:
    counts = [(label, f"{manifest['counts'][key]:,}") for key, label in _COUNTS.items()]
    msg.table(
        [*counts, ("Searches", ", ".join(manifest["searches"]))], aligns=("l", "r"), max_col=_WIDTH
    )

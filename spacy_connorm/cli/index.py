"""`connorm index`: build a searchable pipeline from an ontology and annotated data."""

from pathlib import Path
from typing import Any

import typer
from wasabi import msg

from ..ontology import FORMATS
from ..ontology.profiles import AUTO, NONE, PROFILES
from ..workflows import build_index
from ..workflows.indexing import ENGINES
from .app import command, parse_overrides

_WIDTH = 60
_COUNTS = {
    "concepts": "Concepts",
    "concepts_only_in_data": "of them only in annotated data",
    "ontology_members": "Texts of concepts in the ontology",
    "data_members": "Texts of concepts in annotated data",
    "rows": "Vectors",
    "copied_rows": "of them copied",
    "substitutions": "Substitutions of words",
    "width": "Width of a vector",
}


@command("index", overridable=True)
def index_cli(
    ctx: typer.Context,
    ontology: Path = typer.Argument(..., metavar="ONTOLOGY", help="In any known format."),
    output_path: Path = typer.Argument(..., metavar="OUT", help="The pipeline's folder."),
    format: str | None = typer.Option(
        None, "--format", "-f", help=f"One of: {', '.join(FORMATS)}. [detected from ONTOLOGY]"
    ),
    corpora: list[Path] = typer.Option(
        [], "--corpus", "-d", metavar="FILE", help="Annotated documents (.spacy); repeatable."
    ),
    synonyms: Path | None = typer.Option(
        None, "--synonyms", "-s", metavar="FILE", help="More texts: a text, a tab, a concept id."
    ),
    substitutions: Path | None = typer.Option(
        None,
        "--substitutions",
        metavar="TABLE",
        help="Words for others: `connorm substitutions`. [without --config, ONTOLOGY's own]",
    ),
    encoder: str | None = typer.Option(
        None,
        "--encoder",
        help="fast (a DAN), accurate (MiniLM) or ngrams (nothing to install). [accurate]",
    ),
    config: Path | None = typer.Option(
        None, "--config", "-c", metavar="FILE", help="A pipeline's config, for other choices."
    ),
    component: str | None = typer.Option(
        None, "--component", help="Which concept normalizer of the config, if there are several."
    ),
    find_mentions: bool = typer.Option(
        False, "--find-mentions", help="Add a mention_finder, so that it reads plain text."
    ),
    profile: str = typer.Option(
        AUTO,
        "--profile",
        help=f"The part of ONTOLOGY that is found. One of: {', '.join((AUTO, NONE, *PROFILES))}.",
    ),
    clinical: bool = typer.Option(
        False,
        "--clinical",
        help="Read clinical notes: their short forms, what they negate, relatives and history.",
    ),
    reuse: str | None = typer.Option(
        None,
        "--reuse",
        metavar="PIPELINE",
        help="Copy vectors and lists from its index, if the encoder is the same.",
    ),
    gpu_id: int = typer.Option(-1, "--gpu-id", "-g", help="GPU for the encoder; -1 for the CPU."),
    engine: str = typer.Option(ENGINES[0], "--engine", "-e", help=f"One of: {', '.join(ENGINES)}."),
    n_process: int | None = typer.Option(
        None, "--n-process", "-n", min=-1, help="Workers of ray; -1 for all cores. [all cores]"
    ),
    ray_address: str | None = typer.Option(
        None, "--ray-address", help="Of a Ray cluster, or auto. [a cluster of this machine]"
    ),
) -> None:
    """Encode an ontology's names, and those of annotated data, and write a pipeline of a concept
    normalizer and an abbreviation resolver: for `connorm search`, or as the `index` of
    [initialize.components...] in a larger pipeline's config (OUT/concept_normalizer). With
    --find-mentions, `connorm annotate` reads plain text with it.

    Settings of the config can be overridden: --components.concept_normalizer.encoder.name FOLDER

    Example: python -m spacy connorm index doid.jsonl training/index --corpus train.spacy
    """
    built = build_index(
        ontology,
        output_path,
        format=format,
        corpora=corpora,
        synonyms=synonyms,
        substitutions=substitutions,
        encoder=encoder,
        config=config,
        overrides=parse_overrides(ctx.args),
        component=component,
        find_mentions=find_mentions,
        profile=profile,
        clinical=clinical,
        reuse=reuse,
        gpu_id=gpu_id,
        engine=engine,
        n_process=n_process,
        ray_address=ray_address,
    )
    _show(built.manifest)
    if built.profile is not None:
        branches = ", ".join(built.profile.branches)
        msg.info(
            f"Finds what is at or below {branches}: {built.profile.reason} (--profile none: all)"
        )
    msg.good(f"Wrote the pipeline: {built.path}")
    msg.info(f"Index for a larger pipeline: {built.index_path}")


def _show(manifest: dict[str, Any]) -> None:
    counts = [(label, f"{manifest['counts'][key]:,}") for key, label in _COUNTS.items()]
    searches = ("Searches", ", ".join(manifest["searches"]))
    updates = [(f"Lists of {name}", update) for name, update in manifest["updates"].items()]
    msg.table([*counts, searches, *updates], aligns=("l", "r"), max_col=_WIDTH)

"""`connorm index`: build a searchable pipeline from an ontology and annotated data."""

from typing import Any

import typer
from wasabi import msg

from ..errors import refuse
from ..ontology import FORMATS, Translations
from ..ontology.profiles import AUTO, NONE, PROFILES
from ..workflows import BuiltIndex, TrainingGain, TrainingPlan, build_index
from .app import command, parse_overrides, show_table
from .ontology import SEVERAL, language_rows
from .options import options_of

_MINUTE = 60
_COUNTS = {
    "concepts": "Concepts",
    "concepts_only_in_data": "only in annotated data",
    "ontology_members": "Texts of concepts in the ontology",
    "data_members": "Texts of concepts in annotated data",
    "rows": "Vectors",
    "copied_rows": "of them copied",
    "substitutions": "Substitutions of words",
    "other_names": "Names of other things",
    "width": "Width of a vector",
}


@command("index", overridable=True, several=SEVERAL)
@options_of(
    build_index,
    Translations,
    repeated=("translations",),
    flags={
        **{"format": "-f", "corpora": "--corpus -d", "synonyms": "-s", "config": "-c"},
        "gpu_id": "-g",
    },
    help={
        "encoder": "fast (a DAN, with --train), accurate (MiniLM), ngrams (nothing to install), "
        "the FOLDER of a trained encoder, or a transformer's NAME on the hub. [accurate; fast with "
        "--train]",
        "train": "First train the encoder on the names of ONTOLOGY.",
        "find_mentions": "Also find mentions, to read plain text.",
        "clinical": "Read clinical notes: with their short forms, and with marks for what is "
        "negated, possible, a relative's or in the past.",
        "config": "A pipeline's config, for all settings that have no option here.",
        "format": f"One of: {', '.join(FORMATS)}. [detected from ONTOLOGY]",
        "profile": f"What to find of ONTOLOGY: {', '.join((AUTO, NONE, *PROFILES))}.",
    },
    hidden=("overrides", "on_training"),
)
def index_cli(ctx: typer.Context, **given: Any) -> None:
    """Build a pipeline for an ontology of any format.

    The names of the ontology and of annotated data are encoded. The pipeline has a concept
    normalizer and an abbreviation resolver: for `connorm search`, or as the `index` of
    [initialize.components...] in a larger pipeline's config (OUT/concept_normalizer). With
    --find-mentions, `connorm annotate` can read plain text with it.

    Options of formats, such as --semantic-types, belong to `connorm ontology`, which writes JSONL,
    and several ontologies become one by `connorm join`.

    Settings of the config can be overridden: --components.concept_normalizer.encoder.name FOLDER

    With --train, the encoder first learns the ontology's names, in at most --train-minutes. The
    command shows how long that will take, and what it gains on names that it has not seen.

    Example: connorm index hp.obo hp_index --find-mentions

    Example: connorm index doid.jsonl training/index --corpus train.spacy

    Example: connorm index hp.obo hp_fr --find-mentions --translations hp-fr.babelon.tsv --language
    fr
    """
    if ctx.args and not ctx.args[0].startswith("-"):
        found = " ".join(map(str, (given["ontology"], given["output_path"], *ctx.args)))
        expected = "one ontology and one folder (of several ontologies, `connorm join` makes one)"
        refuse("ONTOLOGY OUT", found, expected)
    built = build_index(**given, overrides=parse_overrides(ctx), on_training=_show_plan)
    _show(built)
    if built.gain is not None:
        _show_gain(built.gain)
    if built.profile is not None:
        name, reason = built.profile.name, built.profile.reason
        branches = ", ".join(built.profile.branches)
        where = f" (at or below {branches})" if branches else ""
        msg.info(f"Profile {name}{where}: {reason} (--profile none: all)")
    if built.left_out:
        names = ", ".join(built.left_out)
        msg.info(f"Not found, since half of the ontology is below: {names} (--profile none: all)")
    if "calibration" not in built.manifest:
        msg.info(
            "Candidates have no probability, and no mention is NIL: scores are inner products, or "
            "words are not compared and fewer than 100 concepts have several names "
            "(docs/calibration.md)"
        )
    msg.good(f"Wrote the pipeline: {built.path}")
    msg.info(f"Index for a larger pipeline: {built.index_path}")


def _show(built: BuiltIndex) -> None:
    manifest = built.manifest
    counts = [(label, f"{manifest['counts'][key]:,}") for key, label in _COUNTS.items()]
    searches = ("Searches", ", ".join(manifest["searches"]))
    built_for: dict[str, list[str]] = {}
    for search, what in manifest["searched"].items():
        built_for.setdefault(what, []).append(search)
    kinds = [(f"Index of {', '.join(names)}", what) for what, names in built_for.items()]
    show_table([*counts, searches, *kinds, *language_rows(built.report)], aligns="lr")


def _show_plan(plan: TrainingPlan) -> None:
    end = ", as long as --train-minutes allows" if plan.is_shortened else ""
    minutes = max(1, round(plan.seconds / _MINUTE))
    msg.info(f"Training takes about {minutes} min ({plan.epochs:.1f} epochs{end})")


def _show_gain(gain: TrainingGain) -> None:
    result = (
        f"Of {gain.names:,} names left out of the training, n-grams link {gain.ngrams:.1f} % to "
        f"the right concept, the trained encoder {gain.trained:.1f} %"
    )
    if gain.pays:
        msg.good(f"{result}: it was used")
    else:
        msg.warn(f"{result}: training does not help here, n-grams were used")

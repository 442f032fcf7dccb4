"""What an encoder that was trained on several ontologies knows of one that was left out: before and
after fine-tuning on the names of that one, with no annotated documents. With `--left-out none`, of
those that it was trained on.

Example: python benchmarks/biomedical.py --dataset craft-uberon --data ../shared/data
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from _common.builders import build_lookup, make_sieve
from _common.cli import begin, clear_errors, finish, make_parser
from _common.datasets import MEDIC, MESH, Data, OntologyFile
from _common.options import add_datasets, add_part
from _common.scoring import read_standard
from _common.trained_encoders import read_block
from _common.variants import AS_READ, predict
from thinc.api import Config

from spacy_connorm.evaluation import score_predictions
from spacy_connorm.evaluation.report import Row, score_row
from spacy_connorm.ontology import join_concepts, read_ontology
from spacy_connorm.training import train

ASSETS = Path(__file__).parents[1] / "assets"
SCOPES = {"scopes": ["EXACT", "NARROW", "RELATED"]}
SOURCES = {
    "ctd": OntologyFile("ctd_diseases_2017/CTD_diseases.tsv.gz"),
    "medic": MEDIC,
    "mesh": MESH,
    "do": OntologyFile("disease_ontology/doid_2016-09-01.obo.gz", SCOPES),
    "icd10cm": OntologyFile("icd10cm_2021/icd10cm_tabular_2021.xml.gz", {"implied_names": False}),
    **{
        name.lower(): OntologyFile(f"craft/{name}.obo.gz", SCOPES)
        for name in ("UBERON", "CL", "SO")
    },
}
DISEASES = ("ctd", "medic", "mesh")
# Which sources have the concepts of a data set.
LEFT_OUT = {
    "ncbi": DISEASES,
    "bc5cdr-d": DISEASES,
    "ncbi-do": (*DISEASES, "do"),
    "bc5cdr-d-do": (*DISEASES, "do"),
    "craft-uberon": ("uberon",),
    "craft-cl": ("cl",),
    "craft-so": ("so",),
}
NONE = "none"
# What rows are trained on: nothing, the data set's own ontology, the others, or both in turn.
WAYS = ("start", "own", "others", "others, then own")
SHOWN = ("dataset", "part", "trained_on", "mentions", "lenient@1", "spread", "lenient@5", "seeds")


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    with clear_errors():
        rows = [row for dataset in arguments.dataset for row in measure(arguments, dataset)]
    finish(rows, arguments.json, columns=SHOWN)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    add_datasets(parser)
    add_part(parser)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="[0 1 2]")
    parser.add_argument(
        "--sources", choices=SOURCES, nargs="+", default=list(SOURCES), help="[all]"
    )
    parser.add_argument(
        "--left-out",
        choices=[NONE, *SOURCES],
        nargs="+",
        help="[those with the data set's concepts]",
    )
    parser.add_argument(
        "--trained-on",
        choices=WAYS,
        nargs="+",
        default=WAYS[1:],
        help="a row each; start: not trained, the encoder of --others [%(default)s]",
    )
    for name, config in (("--others", "biomedical-dan.cfg"), ("--own", "dan.cfg")):
        parser.add_argument(
            name, type=Path, default=ASSETS / config, help=f"training config [{config}]"
        )
    return parser


def measure(arguments: Namespace, dataset: str) -> Iterator[Row]:
    """YIELDS (Dict[str, Any]): One row a way to train: means over seeds."""
    data = Data(dataset, arguments.data, part=arguments.part)
    for way in arguments.trained_on:
        rows = [
            _score(_encoder(way, seed, data, arguments), data, arguments)
            for seed in _seeds(way, arguments)
        ]
        first = [row["lenient@1"] for row in rows]
        yield {
            "dataset": dataset,
            "part": arguments.part,
            "trained_on": way,
            "mentions": rows[0]["mentions"],
            "lenient@1": round(mean(first), 1),
            "spread": round(stdev(first), 1) if len(first) > 1 else 0.0,
            "lenient@5": round(mean(row["lenient@5"] for row in rows), 1),
            "seeds": len(first),
        }


def _seeds(way: str, arguments: Namespace) -> list[int]:
    return arguments.seeds[:1] if way == "start" else arguments.seeds


def _encoder(way: str, seed: int, data: Data, arguments: Namespace) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): The block of an encoder that is trained in one of the `WAYS`."""
    work = arguments.work
    if way == "start":
        return dict(Config().from_disk(arguments.others, interpolate=False)["encoder"])
    own = work / f"own-{data.digest(with_data=False)[:16]}.jsonl"
    if not own.is_file():
        data.ontology.to_disk(own)
    if way == "own":
        return read_block(_train(arguments.own, own, seed, work))
    usual = LEFT_OUT.get(data.name, ())
    left_out = usual if arguments.left_out is None else arguments.left_out
    others = _joined([name for name in arguments.sources if name not in left_out], data, work)
    start = _train(arguments.others, others, seed, work)
    if way == "others":
        return read_block(start)
    return read_block(_train(arguments.own, own, seed, work, start=start))


def _joined(names: list[str], data: Data, work: Path) -> Path:
    path = work / f"joined-{'-'.join(names)}.jsonl"
    if not path.is_file():
        ontologies = []
        for name in names:
            source = SOURCES[name]
            files = {key: data.folder / file for key, file in source.files.items()}
            ontologies.append(read_ontology(data.folder / source.path, **source.options, **files))
        join_concepts(ontologies).ontology.to_disk(path)
    return path


def _train(
    config: Path, ontology: Path, seed: int, work: Path, *, start: Path | None = None
) -> Path:
    """Train an encoder, unless an earlier run did."""
    settings: dict[str, Any] = {
        "data.ontology": str(ontology),
        "data.corpora": [],
        "data.dev": [],
        "training.seed": seed,
        "training.arguments.save_strategy": "no",
    }
    if start is not None:
        settings["encoder.name"] = str(start)
    told = f"{config.read_text(encoding='utf8')}\n{ontology.name}\n{settings}"
    folder = work / f"{config.stem}-{sha256(told.encode()).hexdigest()[:16]}"
    if not folder.is_dir():
        train(config, folder, overrides=settings)
    return folder


def _score(block: dict[str, Any], data: Data, arguments: Namespace) -> Row:
    work = arguments.work
    lookup = build_lookup(block, data, searches=["O-T"], work=work, synonyms=())
    lookup.sieve = make_sieve("O-T")
    return score_row(score_predictions(read_standard(data), predict(AS_READ, data, lookup)))


if __name__ == "__main__":
    main()

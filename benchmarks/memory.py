"""Whether processes share an index, and how long loading takes: the memory of one process and of
four, each a fresh interpreter that loads a pipeline and answers some mentions.

PSS counts a page that four processes share as a quarter for each.

With `--shared`, the pipelines have a `transformer` of spacy-transformers, with MiniLM, and a
normalizer over the demo's ontology: with a copy of MiniLM, and with the component's.

Example: python benchmarks/memory.py --encoder ngram --data ../shared/data
"""

import json
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from statistics import mean

from _common.builders import encoder_config
from _common.cli import begin, finish, make_parser
from _common.datasets import Data
from _common.pipelines import write_pipeline, write_transformer_pipeline
from _measure.memory_usage import mapped, require_proc, total

from spacy_connorm.evaluation.report import Row

DEMO = Path(__file__).parents[1] / "assets" / "demo_ontology.obo"
PROCESSES = (1, 4)
MENTIONS = 200
CHILD = """
import json, sys, time
start = time.perf_counter()
import spacy
imported = time.perf_counter()
nlp = spacy.load(sys.argv[1])
loaded = time.perf_counter()
nlp.get_pipe("concept_normalizer").candidates(json.loads(sys.argv[2]))
print(json.dumps({"import_s": imported - start, "load_s": loaded - imported}), flush=True)
sys.stdin.readline()
"""


def main() -> None:
    parser = make_parser(__doc__ or "")
    parser.add_argument(
        "--encoder",
        default="ngram",
        help="ngram, minilm, minilm-int8, dan or a FOLDER [%(default)s]",
    )
    parser.add_argument("--shared", action="store_true", help="one transformer or two")
    arguments = begin(parser)
    require_proc()
    rows = (measure_sharing if arguments.shared else measure)(arguments)
    finish(rows, arguments.json)


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row a number of processes."""
    data = Data("ncbi", arguments.data)
    folder = arguments.work / f"pipeline-{Path(arguments.encoder).name}"
    block = encoder_config(arguments.encoder, data, work=arguments.work)
    write_pipeline(folder, block, data, work=arguments.work)
    mentions = [mention.text for mention in data.mentions][:MENTIONS]
    return [measure_processes(folder, mentions, n, arguments.encoder) for n in PROCESSES]


def folder_megabytes(folder: Path) -> float:
    """RETURNS (float): The size of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def measure_sharing(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): A row with two transformers, and one with one."""
    rows = []
    for name in ("TransformerEncoder", "SharedTransformerEncoder"):
        folder = arguments.work / f"pipeline-{name}"
        encoder = {"@architectures": f"spacy-connorm.{name}.v1"}
        write_transformer_pipeline(folder, encoder, ontology=DEMO)
        row = measure_processes(folder, ["cough"], 1, name)
        rows.append({**row, "folder_mb": folder_megabytes(folder)})
    return rows


def measure_processes(folder: Path, mentions: list[str], count: int, encoder: str) -> Row:
    """Run processes at once and measure them while all have the index open.

    folder (Path): The pipeline.
    mentions (List[str]): The mentions that each answers.
    count (int): How many processes.
    encoder (str): For the row.
    RETURNS (Dict[str, Any]): Means over the processes, in megabytes.
    """
    command = [sys.executable, "-c", CHILD, str(folder), json.dumps(mentions)]
    children = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(count)
    ]
    reports = [json.loads(child.stdout.readline()) for child in children if child.stdout]
    memory = [
        {
            **{f"{key}_mb": size for key, size in total(child.pid).items()},
            **{f"index_{key}_mb": size for key, size in mapped(child.pid, folder).items()},
        }
        for child in children
    ]
    for child in children:
        child.communicate("\n")
    return {
        "encoder": encoder,
        "processes": count,
        **{key: mean(each[key] for each in memory) for key in memory[0]},
        **{key: round(mean(report[key] for report in reports), 2) for key in reports[0]},
    }


if __name__ == "__main__":
    main()

"""Whether processes that open one index share it: memory of one process and of four, each a fresh
interpreter that loads the pipeline from disk and answers some mentions; and how long loading takes.

PSS counts a page that four processes share as a quarter for each of them.

Example: python benchmarks/memory.py --encoder ngram --data ../shared/data
"""

import json
import statistics
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import spacy
from _common.builders import build_lookup, encoder_config
from _common.cli import begin, fail, finish, make_parser
from _common.datasets import Data
from _measure.memory_usage import mapped, total

from spacy_connorm.encoders import is_sparse
from spacy_connorm.evaluation.report import Row
from spacy_connorm.pipeline.concept_normalizer import ConceptNormalizer

PROCESSES = (1, 4)
MENTIONS = 200
# Both searches of the default sieve, over dense or sparse vectors.
SEARCHES = ("D-T", "OD-T")
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
        "--encoder", default="ngram", help="ngram, minilm, dan or a FOLDER [%(default)s]"
    )
    arguments = begin(parser)
    if not Path("/proc/self/smaps_rollup").is_file():
        fail("Linux only: memory is read from /proc/*/smaps_rollup.")
    finish(measure(arguments), arguments.json)


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row a number of processes."""
    data = Data("ncbi", arguments.data)
    folder = arguments.work / f"pipeline-{Path(arguments.encoder).name}"
    block = encoder_config(arguments.encoder, data, work=arguments.work)
    write_pipeline(folder, block, data, arguments.work)
    mentions = [mention.text for mention in data.mentions][:MENTIONS]
    return [measure_processes(folder, mentions, n, arguments.encoder) for n in PROCESSES]


def write_pipeline(folder: Path, encoder: dict[str, Any], data: Data, work: Path) -> None:
    """Write a pipeline of the concept normalizer alone.

    folder (Path): Where to.
    encoder (Dict[str, Any]): As `lookups.encoder_config` gives it.
    data (Data): What is indexed.
    work (Path): Keeps vectors of texts.
    """
    nlp = spacy.blank("en")
    normalizer = nlp.add_pipe("concept_normalizer", config={"encoder": encoder})
    if not isinstance(normalizer, ConceptNormalizer):
        raise TypeError(normalizer)
    lookup = normalizer.lookup
    built = build_lookup(encoder, data, searches=SEARCHES, work=work, backend=lookup.backend)
    if is_sparse(lookup.encoder):
        lookup.use(built.encoder, built.index)
    else:
        # The index was built with one that remembers; this one is the same but for that.
        lookup.encoder.initialize()
        lookup.use(lookup.encoder, built.index)
    nlp.to_disk(folder)


def measure_processes(folder: Path, mentions: list[str], count: int, encoder: str) -> Row:
    """Run some processes at once, and look at them while they all have the index open.

    folder (Path): The pipeline.
    mentions (List[str]): What each answers.
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
        **{key: statistics.mean(each[key] for each in memory) for key in memory[0]},
        **{key: round(statistics.mean(each[key] for each in reports), 2) for key in reports[0]},
    }


if __name__ == "__main__":
    main()

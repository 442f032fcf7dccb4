"""How long it takes to convert a UMLS release, and in how much memory.

The rows have the shape of a release but are made up: they measure time and memory only.

Example: python benchmarks/release.py --names 10000000
"""

import resource
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from _common.cli import begin, finish, make_parser
from _common.options import at_least

from spacy_connorm.evaluation.report import Row
from spacy_connorm.ontology import convert_ontology

NAMES_A_CONCEPT = 3
STEMS = ("cardio", "neuro", "hepato", "osteo", "dermato", "gastro", "nephro", "pulmo")
ENDINGS = ("pathy", "itis", "osis", "algia", "oma", "plasty", "genic", "lysis")
WORDS = [stem + ending for stem in STEMS for ending in ENDINGS]


def main() -> None:
    parser = make_parser(__doc__ or "")
    parser.add_argument(
        "--names",
        type=at_least(NAMES_A_CONCEPT),
        default=10_000_000,
        help="rows of MRCONSO [%(default)s]",
    )
    arguments = begin(parser)
    finish([measure(arguments.names // NAMES_A_CONCEPT, arguments.work)], arguments.json)


def measure(concepts: int, work: Path) -> Row:
    """RETURNS (Dict[str, Any]): Counts, seconds and peak memory of a conversion."""
    with TemporaryDirectory(dir=work) as folder:
        write_release(Path(folder), concepts)
        start = perf_counter()
        conversion = convert_ontology(Path(folder), Path(folder, "ontology.jsonl"))
        seconds = perf_counter() - start
    return {
        "mrconso_rows": concepts * NAMES_A_CONCEPT,
        "concepts": conversion.summary.concepts,
        "names": conversion.summary.names,
        "seconds": round(seconds, 1),
        "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000),
    }


def write_release(folder: Path, concepts: int) -> None:
    """Write MRCONSO, MRSTY, MRREL and MRDEF, each sorted by CUI.

    folder (Path): An existing folder.
    concepts (int): How many, with three names each and a third as many parents.
    """
    with (
        (folder / "MRCONSO.RRF").open("w") as names,
        (folder / "MRSTY.RRF").open("w") as types,
        (folder / "MRREL.RRF").open("w") as relations,
        (folder / "MRDEF.RRF").open("w") as definitions,
    ):
        for number in range(concepts):
            cui, parent = f"C{number:07}", f"C{number // 3:07}"
            word = WORDS[number % len(WORDS)]
            for place in range(NAMES_A_CONCEPT):
                rank = "P|L0|PF|S0|Y" if place == 0 else "S|L0|VC|S0|N"
                text = f"{word} {WORDS[(7 * number + place) % len(WORDS)]} of kind {number // 3}"
                atom = f"A{number:07}{place}"
                names.write(f"{cui}|ENG|{rank}|{atom}||||MSH|PT|D0|{text}|0|N|256|\n")
            types.write(f"{cui}|T{number % 120:03}|A1.4|Type|AT0|256|\n")
            for relation in ("PAR", "SIB"):
                relations.write(f"{cui}|A0|AUI|{relation}|{parent}|A1|AUI||R0||MSH|MSH|||N||\n")
            if number % 8 == 0:
                definitions.write(f"{cui}|A{number:07}0|AT0||MSH|Some {word}, defined.|N||\n")


if __name__ == "__main__":
    main()

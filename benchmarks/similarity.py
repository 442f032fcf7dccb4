"""How well cosines of names agree with what people say of the similarity of terms (Fivez et al.
2021, Table 8): Spearman's rank correlation on MayoSRS, MiniMayoSRS and UMNSRS. Below, the published
ones.

Example: python benchmarks/similarity.py --encoder minilm --data ../shared/data --json FILE
"""

import csv
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from _common.builders import encoder_config
from _common.cli import begin, clear_errors, make_parser, require_files
from _common.datasets import Data
from _common.grounding_encoders import word_vector_block
from spacy import registry
from thinc.api import Model

from spacy_connorm.encoders import encode, fits, is_sparse
from spacy_connorm.encoders.raw import unit_rows
from spacy_connorm.evaluation.report import Row, to_json, to_table


class Benchmark(NamedTuple):
    """Pairs of terms that people scored.

    path (str): The file below the data folder.
    columns (Tuple[str, ...]): The scores; their mean counts.
    """

    path: str
    columns: tuple[str, ...]


BENCHMARKS = {
    "MayoSRS": Benchmark("MayoSRS.csv", ("Mean",)),
    "MiniMayoSRS": Benchmark("MiniMayoSRS.csv", ("Physicians", "Coders")),
    "UMNSRS relatedness": Benchmark("UMNSRS_relatedness.csv", ("Mean",)),
    "UMNSRS similarity": Benchmark("UMNSRS_similarity.csv", ("Mean",)),
}
# Without MiniMayoSRS, which the paper has not.
SCORED = ("MayoSRS", "UMNSRS relatedness", "UMNSRS similarity")
PUBLISHED = {
    "fastText (published)": (0.443, 0.473, 0.479),
    "CCA+DAN, ICD-10 (published)": (0.666, 0.556, 0.561),
    "CCA+DAN, SNOMED CT (published)": (0.648, 0.537, 0.540),
    "CCA+DAN, MedMentions (published)": (0.600, 0.526, 0.543),
    "Phan et al. 2019 (published)": (0.626, 0.580, 0.606),
    "BNE, ICD-10 (published)": (0.492, 0.472, 0.503),
    "BNE, SNOMED CT (published)": (0.415, 0.510, 0.527),
    "BNE, MedMentions (published)": (0.506, 0.467, 0.500),
}


def main() -> None:
    parser = make_parser(__doc__ or "")
    parser.add_argument(
        "--encoder",
        required=True,
        nargs="+",
        metavar="NAME",
        help="vectors (fastText vectors that are trained here), ngram, minilm, dan, a training "
        "config (.cfg) or a FOLDER, e.g. of `grounding.py`",
    )
    arguments = begin(parser)
    with clear_errors():
        rows = measure(arguments)
    print(to_table(by_encoder(rows), markdown=True))
    if arguments.json is not None:
        arguments.json.write_text(to_json(rows), encoding="utf8")


def by_encoder(rows: Sequence[Row]) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row an encoder, a column a benchmark, three decimals."""
    table: dict[str, Row] = {}
    for row in rows:
        own = table.setdefault(
            row["encoder"], {"encoder": row["encoder"], **dict.fromkeys(BENCHMARKS)}
        )
        own[row["benchmark"]] = f"{row['spearman']:.3f}"
    return list(table.values())


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row an encoder and benchmark; the published ones last."""
    rows = []
    # Its ontology is what dan and configs are trained on, and ngram is fitted to.
    data = Data("ncbi", arguments.data)
    for name in arguments.encoder:
        if name == "vectors":
            block = word_vector_block(arguments.data, arguments.work)
        else:
            block = encoder_config(name, data, work=arguments.work)
        encoder = registry.resolve({"encoder": block})["encoder"]
        fitted = fits(encoder)
        encoder.initialize(X=[x for c in data.ontology for x in c.names] if fitted else None)
        label = Path(name).name if Path(name).exists() else name
        rows += [{"encoder": label, **row} for row in correlations(encoder, arguments.data)]
    for name, values in PUBLISHED.items():
        for benchmark, value in zip(SCORED, values, strict=True):
            row = {"encoder": name, "benchmark": benchmark, "pairs": None}
            rows.append({**row, "spearman": value, "unknown": None})
    return rows


def correlations(encoder: Model, data: Path) -> Iterator[Row]:
    """Compare cosines with the scores of people. Terms that the encoder knows nothing of have a
    cosine of 0.

    encoder (Model[List[str], Floats2d]): The encoder.
    data (Path): The data folder.
    YIELDS (Dict[str, Any]): One row a benchmark, with how many pairs have such a term.
    """
    from scipy.stats import spearmanr

    for name, benchmark in BENCHMARKS.items():
        pairs, scores = read_pairs(data, benchmark)
        one, other = (_unit(encoder, terms) for terms in zip(*pairs, strict=True))
        cosines = (one * other).sum(axis=1)
        yield {
            "benchmark": name,
            "pairs": len(pairs),
            "spearman": round(float(spearmanr(cosines, scores).statistic), 3),
            "unknown": int((~one.any(axis=1) | ~other.any(axis=1)).sum()),
        }


def read_pairs(data: Path, benchmark: Benchmark) -> tuple[list[tuple[str, str]], list[float]]:
    """RETURNS (Tuple[List[Tuple[str, str]], List[float]]): Pairs of terms, and their scores."""
    path = data / "term_similarity" / benchmark.path
    require_files([path])
    with path.open(encoding="utf8", newline="") as file:
        rows = list(csv.DictReader(file))
    scores = [float(np.mean([float(row[column]) for column in benchmark.columns])) for row in rows]
    return [(row["Term1"], row["Term2"]) for row in rows], scores


def _unit(encoder: Model, terms: Sequence[str]) -> np.ndarray:
    vectors = encode(encoder, list(terms))
    vectors = np.asarray(vectors.todense()) if is_sparse(encoder) else vectors
    return unit_rows(vectors)


if __name__ == "__main__":
    main()

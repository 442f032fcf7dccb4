"""The protocol of BELB and BELHD (Garda et al. 2023; Garda and Leser 2024): names of CTD, mentions
as written, and one answer per mention.

In their code (`scripts/evaluate.py` of BELHD) gold ids that the ontology lacks are dropped,
mentions without any other are left out, and a composite is right if the answer is one of its
concepts. An answer of several concepts is wrong; a pipeline always writes one.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from _common.datasets import DISEASES
from spacy_connorm.concepts import AnyOntology, Candidate
from spacy_connorm.evaluation import Gold
from spacy_connorm.evaluation.metrics import bootstrap
from spacy_connorm.evaluation.report import Row, percent

BELB = "belb"
SEARCHES = ("O-T",)
SCORE = "belb@1"
SCORES = (SCORE, "strict@1")
COLUMNS = (
    "dataset",
    "part",
    "encoder",
    "train",
    "objective",
    "data_share",
    "interpolation",
    "search",
    "mentions",
    SCORE,
    f"{SCORE}_low",
    f"{SCORE}_high",
    "single",
    "strict@1",
    "strict@1_low",
    "strict@1_high",
    "left_out",
)
PUBLISHED = {
    "ncbi": {"BELHD": 87.6, "GenBioEL, abbreviations expanded": 85.8},
    "bc5cdr-d": {"BELHD": 89.2, "GenBioEL, abbreviations expanded": 88.3},
    "bc5cdr-c": {"GenBioEL": 94.6},
}
_CTD = "ctd_diseases_2017/CTD_diseases.tsv.gz"


def belb_ontology(dataset: str, folder: Path) -> Path | None:
    """dataset (str): A data set's name.
    folder (Path): The data folder.
    RETURNS (Optional[Path]): CTD's diseases; None for other data sets, which keep their ontology.
    """
    return folder / _CTD if dataset in DISEASES else None


def score_belb(
    gold: Sequence[Gold], found: Sequence[Sequence[Candidate]], ontology: AnyOntology
) -> tuple[Row, dict[str, np.ndarray]]:
    """Score the answers to n mentions.

    gold (Sequence[Gold]): Their gold ids.
    found (Sequence[Sequence[Candidate]]): Their candidates, best first.
    ontology (Union[Ontology, ConceptStream]): O.
    RETURNS (Tuple[Dict[str, Any], Dict[str, Floats1d]]): "mentions", those with a gold id in O,
        and `belb@1`, their accuracy; "single", those of one concept, and `strict@1`; "left_out",
        those without any such id. Then, for each score, 1.0 for a right mention and 0.0 for others.
    """
    right, single = [], []
    for each, candidates in zip(gold, found, strict=True):
        ids = {concept_id for concept_id in each.concept_ids if concept_id in ontology}
        if ids:
            right.append(float(bool(candidates) and candidates[0].concept_id in ids))
            single.append(len(each.concept_ids) == 1)
    hits = {SCORE: np.asarray(right), "strict@1": np.asarray(right)[np.asarray(single, dtype=bool)]}
    row: Row = {"mentions": len(right), "single": sum(single), "left_out": len(gold) - len(right)}
    for score, values in hits.items():
        low, high = bootstrap(values) if len(values) else (None, None)
        row[score] = percent(float(values.mean())) if len(values) else None
        row[f"{score}_low"], row[f"{score}_high"] = percent(low), percent(high)
    return row, hits


def published_rows(dataset: str, row: Row) -> list[Row]:
    """dataset (str): A data set's name.
    row (Dict[str, Any]): A row of ours, for its keys.
    RETURNS (List[Dict[str, Any]]): What others have published for the test part.
    """
    empty = dict.fromkeys(row)
    return [
        {
            **empty,
            "dataset": dataset,
            "part": "test",
            "encoder": f"{name} (published)",
            SCORE: score,
        }
        for name, score in PUBLISHED.get(dataset, {}).items()
    ]

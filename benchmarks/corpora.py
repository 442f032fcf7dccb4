"""How large the corpora and their ontologies are (Xu and Bethard 2021, Table 3): concepts and names
of O; documents, annotated concepts and mentions of all parts together. A composite's concepts count
one by one, NIL does not.

Example: python benchmarks/corpora.py --dataset ncbi bc5cdr-d --data ../shared/data
"""

from pathlib import Path

from _common.cli import begin, clear_errors, finish, make_parser
from _common.datasets import Data
from _common.options import add_datasets, add_part

from spacy_connorm.documents.mentions import annotated_mentions
from spacy_connorm.evaluation.report import Row

COUNTED = ("concepts", "names", "documents", "annotated_concepts", "mentions")
PUBLISHED = {
    "ncbi": (11_915, 71_923, 792, 750, 6_881),
    "bc5cdr-d": (11_915, 71_923, 1_500, 1_075, 12_850),
    "bc5cdr-c": (171_203, 407_247, 1_500, 1_164, 15_935),
}


def main() -> None:
    parser = make_parser(__doc__ or "")
    add_datasets(parser)
    add_part(parser)
    arguments = begin(parser)
    with clear_errors():
        rows = [count(name, arguments.data, arguments.part) for name in arguments.dataset]
    finish(rows, arguments.json)


def count(name: str, folder: Path, part: str) -> Row:
    """RETURNS (Dict[str, Any]): The counts of a data set and its ontology: D, and the part to
    score; the paper's beside them, None where it has none.
    """
    data = Data(name, folder, part=part)
    docs = [*data.docs, *data.scored_docs]
    mentions = [mention for doc in docs for mention in annotated_mentions(doc)]
    counts = (
        len(data.ontology),
        sum(len(set(concept.names)) for concept in data.ontology),
        len(docs),
        len({concept_id for mention in mentions for concept_id in mention.concept_ids}),
        len(mentions),
    )
    row: Row = {"dataset": name}
    published = PUBLISHED.get(name, (None,) * len(COUNTED))
    for column, ours, theirs in zip(COUNTED, counts, published, strict=True):
        row |= {column: ours, f"published_{column}": theirs}
    return row


if __name__ == "__main__":
    main()

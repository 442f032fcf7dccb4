from pathlib import Path

import pytest

from spacy_connorm.files.odd_lines import OddLines
from spacy_connorm.ontology import ReadReport


@pytest.fixture
def data() -> Path:
    return Path(__file__).parent.parent / "data" / "ontologies"


def by_id(concepts):
    return {concept.concept_id: concept for concept in concepts}


def counts(report):
    return {reason: kind.count for reason, kind in report.left_out.items()}


def lenient():
    """RETURNS (ReadReport): A report that allows any number of odd lines."""
    return ReadReport(odd=OddLines(1))


def strict():
    """RETURNS (ReadReport): A report that allows no odd line."""
    return ReadReport(odd=OddLines(0))

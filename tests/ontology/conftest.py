from pathlib import Path

import pytest


@pytest.fixture
def data() -> Path:
    return Path(__file__).parent.parent / "data" / "ontologies"


def by_id(concepts):
    return {concept.concept_id: concept for concept in concepts}


def counts(report):
    return {reason: kind.count for reason, kind in report.left_out.items()}

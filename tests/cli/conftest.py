import pytest

from spacy_connorm.workflows import build_index

# The order file of ICD-10-CM; 0 is a code that can't be billed.
ORDER_FILE = """\
00001 A90     0 Nose fever                                                   Nose fever
00002 A900    1 Nose fever with sneezing                                     Sneezing fever
00003 A91     1 Cold nose                                                    Cold nose
"""


@pytest.fixture(scope="session")
def billing_index(tmp_path_factory):
    """A pipeline for codes of which one can't be billed, which finds mentions."""
    folder = tmp_path_factory.mktemp("billing")
    (folder / "order.txt").write_text(ORDER_FILE)
    overrides = {
        "components.concept_normalizer.encoder.@architectures": "spacy-connorm.NgramEncoder.v1"
    }
    ontology, options = folder / "order.txt", {"find_mentions": True, "overrides": overrides}
    return build_index(ontology, folder / "index", **options).path

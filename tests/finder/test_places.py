"""A noun after a preposition may be an adjective in the name."""

import pytest

from .name_pipeline import build

NAMES = (
    *("Cerebellar atrophy", "Abdominal pain", "Retinal hemorrhage", "Venous thrombosis"),
    *("Familial cancer", "Symptomatic disease", "Mesenchymal cell"),
)


@pytest.fixture(scope="module")
def nlp():
    return build(NAMES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Atrophy of the cerebellum", ["Cerebellar atrophy"]),
        ("pain in the abdomen", ["Abdominal pain"]),
        ("Hemorrhages in the retina", ["Retinal hemorrhage"]),
        ("thrombosis of a vein", ["Venous thrombosis"]),
        # What comes first is no adjective, nor is a place without an article.
        ("symptoms of disease", []),
        ("cancer in a family", []),
        ("pain in abdomen", []),
        ("the mesenchyme, and cells", []),
    ],
)
def test_a_noun_after_of_may_be_an_adjective_in_the_name(nlp, text, expected):
    assert [each.kb_id_ for each in nlp(f"There was {text}.").ents] == expected


def test_it_belongs_to_the_derivations(nlp):
    finder = nlp.get_pipe("mention_finder")
    finder.cfg["derivations"] = False
    assert not nlp("Atrophy of the cerebellum.").ents
    finder.cfg["derivations"] = True

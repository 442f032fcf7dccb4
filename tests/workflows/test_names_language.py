"""The language of an ontology's names."""

import pytest

from spacy_connorm import Concept
from spacy_connorm.workflows.names_language import names_language


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["Pain of the eye", "Cyst", "Loss of hair", "Nausea and vomiting"], "en"),
        (["Dolor de los ojos", "Quiste", "Pérdida del cabello"], "es"),
        (["Douleur des yeux", "Kyste", "Perte du goût"], "fr"),
        (["Schmerzen in der Brust", "Zyste", "Entzündung der Haut"], "de"),
        (["Aspirin", "Ibuprofen"], ""),
        ([], ""),
    ],
)
def test_small_words_tell_it(names, code):
    assert names_language(Concept(name, name) for name in names) == code

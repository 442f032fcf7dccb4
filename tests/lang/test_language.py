"""What the package knows of a language, and which language names are in."""

import pytest

from spacy_connorm.lang.language import names_language


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["Pain of the eye", "Cyst", "Loss of hair", "Nausea and vomiting"], "en"),
        (["Dolor de los ojos", "Quiste", "Pérdida del cabello"], "es"),
        (["Douleur des yeux", "Kyste", "Perte du goût"], "fr"),
        (["Schmerzen in der Brust", "Zyste", "Entzündung der Haut"], "de"),
        (["DOR NAS COSTAS", "DOR DE CABEÇA", "PERDA DO OLFATO"], "pt"),
        (["Aspirin", "Ibuprofen"], ""),
        (["Bradycardia NOS", "Hypotension NOS", "Flush"], ""),
        ([], ""),
    ],
)
def test_small_words_tell_the_language_of_names(names, code):
    assert names_language(names) == code

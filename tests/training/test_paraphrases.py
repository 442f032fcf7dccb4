"""More names for concepts, in other words."""

import pytest

from spacy_connorm.concepts import Concept
from spacy_connorm.text.substitutions import Substitution
from spacy_connorm.training.paraphrases import with_paraphrases

KIDNEY = Substitution(("kidney",), ("renal",), 30, 0)
DISEASE = Substitution(("disease",), ("disorder",), 7, 2)
DOUBTFUL = Substitution(("acute",), ("sudden",), 2, 3)


def paraphrased(*concepts, limit=10, substitutions=(KIDNEY, DISEASE, DOUBTFUL)):
    return [each.aliases for each in with_paraphrases(concepts, substitutions, limit=limit)]


def test_concepts_get_names_in_other_words_the_most_certain_first():
    (found,) = paraphrased(Concept("C1", "Kidney Disease", ("nephropathy",)))
    assert found == ("nephropathy", "renal disease", "kidney disorder")


def test_at_most_so_many():
    (found,) = paraphrased(Concept("C1", "Kidney Disease"), limit=1)
    assert found == ("renal disease",)


def test_names_of_the_ontology_are_not_made_again():
    assert paraphrased(Concept("C1", "kidney cyst"), Concept("C2", "Cysts, Renal")) == [(), ()]


def test_what_two_concepts_would_get_is_left_out():
    found = paraphrased(Concept("C1", "renal stone"), Concept("C2", "renal stones"))
    assert found == [(), ()]


def test_doubtful_substitutions_are_not_used():
    assert paraphrased(Concept("C1", "acute asthma")) == [()]


def test_all_else_is_kept():
    concept = Concept("C1", "kidney disease", (), ("T1",), "text", ("C0",), ("A1",), ("MESH:D1",))
    (found,) = with_paraphrases([concept], [KIDNEY], limit=3)
    assert found.aliases == ("renal disease",)
    assert (found.types, found.definition, found.parents) == (("T1",), "text", ("C0",))
    assert (found.alt_ids, found.xrefs) == (("A1",), ("MESH:D1",))


@pytest.mark.parametrize("concepts", [(), (Concept("C1", "x"),)])
def test_nothing_to_paraphrase(concepts):
    assert paraphrased(*concepts) == [()] * len(concepts)

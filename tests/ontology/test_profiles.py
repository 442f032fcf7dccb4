import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.ontology.profiles import PROFILES, choose_profile


def below(*known, share=1.0):
    """What an ontology with these roots says of others."""
    return lambda roots: share if set(roots) & set(known) else 0.0


@pytest.mark.parametrize("name", PROFILES)
def test_an_ontology_is_known_by_its_roots(name):
    profile = PROFILES[name]
    assert choose_profile("auto", below(*profile.roots)) == profile
    assert choose_profile(name, below()) == profile


def test_others_have_none():
    assert choose_profile("auto", below("DOID:4")) is None
    assert choose_profile("none", below("HP:0000001")) is None


def test_half_of_a_joined_ontology_is_no_profile():
    assert choose_profile("auto", below("HP:0000001", share=0.5)) is None


def test_an_unknown_profile_is_refused():
    with pytest.raises(ConnormError, match="CN118.*'hp'.*auto, none, hpo"):
        choose_profile("hp", below())

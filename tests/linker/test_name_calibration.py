"""A calibration that is fitted to the names of an index: what it makes of mentions."""

import json
import random

import pytest
import spacy
from finding import NGRAMS

from spacy_connorm.concepts import NIL, Concept, Ontology
from spacy_connorm.errors import ConnormError
from spacy_connorm.files.folders import add_facts
from spacy_connorm.linker.calibration import Calibration, CandidateFeatures
from spacy_connorm.linker.name_calibration import fit_to_names

FEATURES = [*CandidateFeatures._fields]
SYLLABLES = ("ar", "be", "cor", "du", "fel", "gam", "hy", "kin", "lo", "mur", "ne", "pso", "tri")


def made_up(count):
    """Concepts of two names, of which one has another ending, and some share a third."""
    generator = random.Random(0)

    def word():
        return "".join(generator.sample(SYLLABLES, 3))

    concepts = []
    for number in range(count):
        first, second = word(), word()
        aliases = [f"{first}ic {second}osis", *["common name"] * (number < 2)]
        concepts.append(Concept(f"C{number}", f"{first}al {second}itis", aliases))
    return Ontology(concepts)


def make(ontology, language="en", **settings):
    nlp = spacy.blank(language)
    normalizer = nlp.add_pipe("concept_normalizer", config=NGRAMS | settings)
    normalizer.initialize(ontology=ontology, substitutions=())
    return normalizer


@pytest.fixture(scope="module")
def normalizer():
    return make(made_up(150))


def likely(normalizer, *mentions):
    return [found[0].probability for found in normalizer.candidates(mentions)]


def test_names_are_as_likely_as_any_answer_can_be_and_other_texts_are_not(normalizer):
    name, other = normalizer.concept("C7").canonical_name, "kitchen table"
    assert normalizer.calibration.ceiling == 0.95
    assert likely(normalizer, name)[0] == pytest.approx(0.95, abs=0.005)
    assert likely(normalizer, other)[0] < 0.01
    decided = map(normalizer.decide, normalizer.candidates([name, other]))
    assert list(decided) == ["C7", NIL]


def test_a_name_in_another_form_is_in_between(normalizer):
    name = normalizer.concept("C7").canonical_name
    whole, changed, nothing = likely(normalizer, name, f"{name} severe", "kitchen")
    assert whole > changed > nothing


def test_a_misspelled_name_is_likely(normalizer):
    name = normalizer.concept("C7").canonical_name
    assert min(likely(normalizer, name[:3] + name[4:], name[:5] + name[4:])) > 0.5


def test_a_name_of_two_concepts_is_not_nil(normalizer):
    (found,) = normalizer.candidates(["common name"])
    assert [each.score for each in found[:2]] == [1, 1]
    assert found[0].probability == found[1].probability > 0.9
    assert normalizer.decide(found) == "C0"


def test_an_added_synonym_is_near_certain():
    normalizer = make(made_up(150))
    assert likely(normalizer, "zzqq top")[0] < 0.01
    normalizer.add_synonyms([("zzqq top", "C3")])
    assert likely(normalizer, "zzqq top")[0] > 0.9
    normalizer.remove_synonyms([("zzqq top", "C3")])
    assert likely(normalizer, "zzqq top")[0] < 0.01


def test_the_same_index_gives_the_same_numbers(normalizer):
    retriever, query = normalizer.lookup.retriever, normalizer._query(normalizer.cfg)
    fitted = fit_to_names(retriever, query, "en")
    assert fitted.calibration == normalizer.calibration
    assert 0 < fitted.right <= fitted.left_out == 75
    assert make(made_up(150)).calibration == normalizer.calibration


def test_it_is_part_of_the_index(normalizer, tmp_path):
    normalizer.to_disk(tmp_path / "saved")
    manifest = json.loads((tmp_path / "saved" / "index" / "manifest.json").read_text())
    assert manifest["calibration"] == normalizer.calibration._asdict()
    assert manifest["left_out"]["names"] == 75
    again = spacy.blank("en").add_pipe("concept_normalizer", config=NGRAMS)
    again.from_disk(tmp_path / "saved")
    assert again.candidates(["kitchen"]) == normalizer.candidates(["kitchen"])


def test_it_can_be_replaced_and_nil_switched_off(normalizer):
    certain = {"intercept": 9.0, "score": 0.0, "margin": 0.0}
    replaced = make(made_up(150), calibration=certain)
    assert replaced.calibration == Calibration(**certain)
    assert likely(replaced, "kitchen")[0] > 0.99
    never = make(made_up(150), nil_threshold=None)
    (found,) = never.candidates(["kitchen table"])
    assert found[0].probability < 0.01
    assert never.decide(found) == found[0].concept_id


@pytest.mark.parametrize(
    ("language", "compared", "foreign"),
    [("es", False, True), ("es", True, False), ("en", False, False)],
)
def test_for_names_in_another_language_words_and_scores_do_not_count(language, compared, foreign):
    concepts = [
        Concept(concept.concept_id, f"{first} of the {second}", concept.aliases)
        for concept in made_up(110)
        for first, second in [concept.names[0].split()]
    ]
    settings = {"compare_words": compared}
    *weights, _ = make(Ontology(concepts), language, **settings).calibration[1:]
    counting = [name for name, weight in zip(FEATURES, weights, strict=True) if weight]
    assert counting == (["margin", "name"] if foreign else FEATURES)


@pytest.mark.parametrize("count", [1, 2, 60])
def test_few_names_have_the_usual_calibration(count, tmp_path):
    small = make(made_up(count))
    assert small.calibration.ceiling == 0.95
    name = small.concept("C0").canonical_name
    (right,), (wrong,) = small.candidates([name, "kitchen table"], top_k=1)
    assert right.probability > 0.9 and wrong.probability < 0.1
    assert [small.decide([one]) for one in (right, wrong)] == ["C0", NIL]
    small.to_disk(tmp_path / "saved")
    manifest = json.loads((tmp_path / "saved" / "index" / "manifest.json").read_text())
    assert "left_out" not in manifest


def test_few_names_have_none_if_words_are_not_compared():
    small = make(made_up(60), compare_words=False)
    assert small.calibration is None
    (found,) = small.candidates(["kitchen table"])
    assert found[0].probability is None
    assert small.decide(found) == found[0].concept_id


def test_numbers_that_are_not_there_are_damage(normalizer, tmp_path):
    normalizer.to_disk(tmp_path / "saved")
    again = spacy.blank("en").add_pipe("concept_normalizer", config=NGRAMS)
    again.from_disk(tmp_path / "saved", exclude=["cfg"])
    again.lookup.index.manifest["calibration"] = {"intercept": 0.0}
    with pytest.raises(ConnormError, match=r"CN402.*calibration"):
        again.candidates(["kitchen"])


def test_facts_can_be_added_to_a_sealed_folder(normalizer, tmp_path):
    normalizer.to_disk(tmp_path / "saved")
    add_facts(tmp_path / "saved", {"more": 1})
    assert json.loads((tmp_path / "saved" / "manifest.json").read_text())["more"] == 1
    spacy.blank("en").add_pipe("concept_normalizer", config=NGRAMS).from_disk(tmp_path / "saved")

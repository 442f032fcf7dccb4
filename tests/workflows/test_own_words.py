"""Substitutions that the names of an ontology show, learned while it is indexed."""

import pytest

from spacy_connorm import Concept, Ontology, build_index, load_normalizer
from spacy_connorm.concepts import ConceptStream, Source
from spacy_connorm.errors import ConnormError
from spacy_connorm.workflows import own_words
from spacy_connorm.workflows.own_words import OwnWords

PAIRS = ("cyst", "stone", "failure")
CONCEPTS = [
    *(Concept(f"K{n}", f"kidney {each}", (f"renal {each}",)) for n, each in enumerate(PAIRS)),
    Concept("P", "kidney pain"),
    Concept("Q", "renal colic"),
]
NGRAMS = {
    "components.concept_normalizer.encoder.@architectures": "spacy-connorm.NgramEncoder.v1",
    "components.concept_normalizer.index.@misc": "spacy-connorm.ExactIndex.v1",
}


def build(path, ontology, **options):
    built = build_index(ontology, path, overrides=NGRAMS, **options)
    return built.manifest["counts"]["substitutions"], load_normalizer(path)


@pytest.mark.parametrize("wrap", [Ontology, lambda concepts: ConceptStream(concepts, Source())])
def test_mentions_are_rewritten_as_the_names_show(tmp_path, wrap):
    count, normalizer = build(tmp_path / "index", wrap(CONCEPTS))
    assert count == 1
    ((first, *_),) = normalizer.candidates(["renal pain"], top_k=2)
    assert first.concept_id == "P"
    without, _ = build(tmp_path / "plain", wrap([CONCEPTS[0], *CONCEPTS[3:]]))
    assert without == 0


def test_a_file_is_read_once(tmp_path):
    path = tmp_path / "a.jsonl"
    Ontology(CONCEPTS).to_disk(path)
    count, normalizer = build(tmp_path / "index", path)
    assert (count, normalizer.concept("P").canonical_name) == (1, "kidney pain")


def test_a_table_or_a_config_says_more(tmp_path):
    table, config = tmp_path / "words.tsv", tmp_path / "a.cfg"
    table.write_text("ache\tpain\t9\t0\npain\tsore\t9\t0\n", encoding="utf8")
    count, _ = build(tmp_path / "with_table", Ontology(CONCEPTS), substitutions=table)
    assert count == 2
    table.write_text("words\tothers\tsame\tdifferent\n", encoding="utf8")
    count, _ = build(tmp_path / "with_nothing", Ontology(CONCEPTS), substitutions=table)
    assert count == 0
    config.write_text(
        '[nlp]\nlang = "en"\n[components]\n[components.concept_normalizer]\n'
        'factory = "concept_normalizer"\n[components.concept_normalizer.encoder]\n'
        "[components.concept_normalizer.index]\n",
        encoding="utf8",
    )
    count, _ = build(tmp_path / "with_config", Ontology(CONCEPTS), config=config)
    assert count == 0


def test_only_the_first_names_are_remembered(monkeypatch):
    monkeypatch.setattr(own_words, "_MOST_NAMES", 5)
    own = OwnWords(ConceptStream(CONCEPTS, Source()))
    assert list(own.ontology()) == CONCEPTS
    (found,) = own.substitutions()
    assert (found.words, found.others, found.same) == (("kidney",), ("renal",), 3)
    monkeypatch.setattr(own_words, "_MOST_NAMES", 1)
    own = OwnWords(ConceptStream(CONCEPTS, Source()))
    assert list(own.ontology()) == CONCEPTS
    assert list(own.substitutions()) == []


def test_what_is_no_ontology_is_refused(tmp_path):
    with pytest.raises(ConnormError, match="CN006"):
        build(tmp_path / "index", CONCEPTS)

"""What earlier versions saved still loads, and answers as it did then."""

import json
import shutil
from pathlib import Path

import pytest
import spacy
from spacy.util import load_model_from_config

SAVED = Path(__file__).parents[1] / "data" / "formats" / "1"
COMPONENTS = ("hybrid-int8", "dan-annoy", "dan-ivf")


def plain(candidates):
    return [
        [c.concept_id, c.name, c.score, c.text, c.search, c.searched, c.part, c.dense, c.lexical]
        for c in candidates
    ]


def answers_then(name):
    return json.loads((SAVED / f"{name}.json").read_text(encoding="utf8"))


def load(folder):
    """Load a pipeline, or put its component into one made from its config."""
    if (folder / "meta.json").exists():
        return spacy.load(folder)
    config = spacy.util.load_config(folder / "config.cfg")
    config["nlp"]["pipeline"] = ["concept_normalizer"]
    config["components"] = {"concept_normalizer": config["components"]["concept_normalizer"]}
    nlp = load_model_from_config(config, auto_fill=True)
    nlp.get_pipe("concept_normalizer").from_disk(folder / "concept_normalizer")
    return nlp


@pytest.mark.parametrize("name", ["ngrams-exact", *COMPONENTS])
def test_texts_get_the_candidates_they_got(tmp_path, name):
    folder = shutil.copytree(SAVED / name, tmp_path / name)
    normalizer = load(folder).get_pipe("concept_normalizer")
    then = answers_then(name)["mentions"]
    now = dict(zip(then, map(plain, normalizer.candidates(list(then))), strict=True))
    assert now == then


def test_documents_get_the_ids_they_got(tmp_path):
    nlp = load(shutil.copytree(SAVED / "ngrams-exact", tmp_path / "pipeline"))
    for then in answers_then("ngrams-exact")["texts"]:
        ents = nlp(then["text"]).ents
        assert [[e.text, e.kb_id_, plain(e._.candidates)] for e in ents] == then["ents"]
        assert then["ents"]


@pytest.mark.parametrize("name", ["ngrams-exact", *COMPONENTS])
def test_what_was_saved_can_be_saved_again(tmp_path, name):
    nlp = load(shutil.copytree(SAVED / name, tmp_path / name))
    normalizer = nlp.get_pipe("concept_normalizer")
    normalizer.add_synonyms([("heart stroke", "C2")])
    mentions = ["heart stroke", *answers_then(name)["mentions"]]
    expected = normalizer.candidates(mentions)
    normalizer.to_disk(tmp_path / "again")
    assert normalizer.from_disk(tmp_path / "again").candidates(mentions) == expected

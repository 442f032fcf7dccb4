import gzip
import json

import pytest
import spacy
from spacy.tokens import DocBin

from spacy_connorm.cli.index import make_pipeline, read_synonyms
from spacy_connorm.errors import ConnormError

CONFIG = """
[paths]
encoder = "spacy-connorm.NgramEncoder.v1"

[nlp]
lang = "de"
pipeline = ["ner", "concept_normalizer"]

[components]

[components.ner]
factory = "ner"

[components.concept_normalizer]
factory = "concept_normalizer"
top_k = 3

[components.concept_normalizer.encoder]
@architectures = ${paths.encoder}

[components.concept_normalizer.index]
@misc = "spacy-connorm.ExactIndex.v1"
"""


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "pipeline.cfg"
    path.write_text(CONFIG)
    return path


@pytest.fixture
def corpus(tmp_path):
    nlp = spacy.blank("en")
    doc = nlp("Her sugar is up.")
    doc.ents = [doc.char_span(4, 15, label="Disease", kb_id="DEMO:0000025")]
    DocBin(docs=[doc], store_user_data=True).to_disk(tmp_path / "train.spacy")
    return tmp_path / "train.spacy"


def counts(folder):
    manifest = folder / "concept_normalizer" / "index" / "manifest.json"
    return json.loads(manifest.read_text())["counts"]


def test_the_index_is_a_pipeline_and_a_source_of_others(demo_index, demo_ontology):
    nlp = spacy.load(demo_index)
    assert nlp.pipe_names == ["abbreviation_resolver", "concept_normalizer"]
    settings = nlp.get_pipe_config("concept_normalizer")
    del settings["factory"]
    other = spacy.blank("en")
    normalizer = other.add_pipe("concept_normalizer", config=settings)
    normalizer.initialize(lambda: [], nlp=other, index=demo_index / "concept_normalizer")
    assert normalizer.candidates(["flu"])[0][0].name == "influenza"


def test_counts_are_printed(invoke, words, tmp_path, demo_ontology, ngrams, corpus):
    synonyms = tmp_path / "synonyms.tsv.gz"
    synonyms.write_bytes(gzip.compress(b"ticker trouble\tDEMO:0000008\n\nnew thing\tX:1\n"))
    out = tmp_path / "out"
    options = ("--corpus", corpus, "--synonyms", synonyms, *ngrams)
    result = invoke("index", demo_ontology, out, *options)
    assert result.exit_code == 0, result.output
    for line in ("Concepts 95", "only in annotated data 1", "concepts in annotated data 3"):
        assert line in words(result)
    assert "CNW401" in result.output
    assert (counts(out)["concepts"], counts(out)["data_members"]) == (95, 3)
    found = spacy.load(out).get_pipe("concept_normalizer").candidates(["sugar is up"])
    assert (found[0][0].concept_id, found[0][0].search) == ("DEMO:0000025", "D-T")


def test_settings_come_from_a_config_and_are_overridden(config):
    setting = "components.concept_normalizer"
    overrides = {f"{setting}.top_k": 7, f"{setting}.expand_abbreviations": False}
    nlp = make_pipeline(config, overrides=overrides)
    assert (nlp.lang, nlp.pipe_names) == ("de", ["concept_normalizer"])
    settings = nlp.get_pipe_config("concept_normalizer")
    assert settings["top_k"] == 7
    assert settings["encoder"]["@architectures"] == "spacy-connorm.NgramEncoder.v1"
    assert settings["sieve"]["searches"] == ["D-T", "OD-T"]


def test_one_of_several_normalizers_is_named(config):
    config.write_text(CONFIG + '\n[components.other]\nfactory = "concept_normalizer"\n')
    assert make_pipeline(config, component="other").pipe_names == ["abbreviation_resolver", "other"]
    with pytest.raises(ConnormError, match="CN703"):
        make_pipeline(config)
    with pytest.raises(ConnormError, match="CN704"):
        make_pipeline(config, component="ner")


@pytest.mark.parametrize(
    ("override", "reason"),
    [
        ("encoder.nam=x", "encoder.nam"),
        ("encoder.@architectures=nope.v1", "nope.v1"),
        ("topk=x", "topk"),
        ("sieve.searches.0=x", "sieve.searches.0"),
    ],
)
def test_a_wrong_setting_is_named(
    invoke, refused, words, tmp_path, demo_ontology, override, reason
):
    option = f"--components.concept_normalizer.{override}"
    result = invoke("index", demo_ontology, tmp_path / "out", option)
    refused(result, "CN711")
    assert reason in words(result)


@pytest.mark.parametrize("text", ["[nlp", "[nlp]\nlang = ${paths.none}"])
def test_a_file_that_is_no_config(tmp_path, text):
    path = tmp_path / "broken.cfg"
    path.write_text(text)
    with pytest.raises(ConnormError, match="CN711|CN710"):
        make_pipeline(path)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--config", "nowhere.cfg"], "CN100"),
        (["--corpus", "nowhere.spacy"], "CN100"),
        (["--corpus", "other.txt"], "CN706"),
        (["--synonyms", "other.txt"], "CN712"),
        (["--format", "owl"], "CN110"),
        (["--corpus", "."], "CN105"),
        (["--gpu-id", "99"], "CN713"),
        (["--n-trees", "5"], "CN711"),
        (["--components.concept_normalizer.index.n_trees", "-5"], "CN006"),
    ],
)
def test_bad_input_leaves_nothing(
    invoke, refused, tmp_path, monkeypatch, demo_ontology, ngrams, options, code
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.txt").write_text("no tab in here")
    refused(invoke("index", demo_ontology, "out", *options, *ngrams), code)
    assert [path.name for path in tmp_path.iterdir()] == ["other.txt"]


def test_only_an_index_is_replaced(invoke, refused, tmp_path, demo_ontology, ngrams):
    out = tmp_path / "out"
    out.mkdir()
    assert invoke("index", demo_ontology, out, *ngrams).exit_code == 0
    before = counts(out)
    refused(invoke("index", tmp_path / "nowhere.obo", out, *ngrams), "CN100")
    assert counts(out) == before
    assert invoke("index", demo_ontology, out, *ngrams).exit_code == 0
    (tmp_path / "letter.txt").write_text("dear")
    for other in (tmp_path, tmp_path / "letter.txt"):
        refused(invoke("index", demo_ontology, other, *ngrams), "CN705")
    assert (tmp_path / "letter.txt").read_text() == "dear"


@pytest.mark.parametrize("meta", ["{}", "[]", "not JSON", '{"components": ["letters"]}'])
def test_a_folder_with_another_meta_json_is_left_alone(
    invoke, refused, demo_ontology, ngrams, tmp_path, meta
):
    (tmp_path / "meta.json").write_text(meta)
    refused(invoke("index", demo_ontology, tmp_path, *ngrams), "CN705")
    assert (tmp_path / "meta.json").read_text() == meta


@pytest.mark.parametrize("part", ["sieve", "index"])
def test_a_part_that_is_none_is_refused(invoke, refused, demo_ontology, ngrams, tmp_path, part):
    override = f"--components.concept_normalizer.{part}"
    refused(invoke("index", demo_ontology, tmp_path / "out", *ngrams, override, "5"), "CN006")


@pytest.mark.parametrize("line", ["no tab", "\tC1", "text\t", "text\tC1\tmore"])
def test_synonyms_of_another_shape(tmp_path, line):
    path = tmp_path / "synonyms.tsv"
    path.write_text(f"fine\tC1\n{line}\n")
    with pytest.raises(ConnormError, match="CN712.*line 2"):
        list(read_synonyms(path))


HASHES = ("--components.concept_normalizer.encoder.@architectures", "tests.HashingEncoder.v1")


def test_vectors_of_an_older_pipeline_are_copied(invoke, words, tmp_path, demo_ontology):
    old, new = tmp_path / "old", tmp_path / "new"
    assert invoke("index", demo_ontology, old, *HASHES).exit_code == 0
    result = invoke("index", demo_ontology, new, "--reuse", old, *HASHES)
    assert result.exit_code == 0, result.output
    assert counts(new)["copied_rows"] == counts(new)["rows"] > 0
    assert f"of them copied {counts(new)['rows']}" in words(result)
    assert counts(old)["copied_rows"] == 0


def test_older_pipeline_that_is_none(invoke, refused, tmp_path, demo_ontology):
    refused(
        invoke("index", demo_ontology, tmp_path / "new", "--reuse", "nowhere", *HASHES), "CN700"
    )

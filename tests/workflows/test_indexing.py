import gzip
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import partial

import pytest
import spacy
from hashing_encoder import HashingShim
from spacy.tokens import Span

from spacy_connorm import Concept, Ontology, build_index, load_normalizer
from spacy_connorm.about import __version__
from spacy_connorm.concepts import ConceptStream, Source
from spacy_connorm.documents.docbin import write_docs
from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.index.backends.annoy import AnnoySearcher
from spacy_connorm.ontology import open_ontology, read_ontology
from spacy_connorm.pipeline.presets import BESIDE_NGRAMS

from .building import COMPONENT, CONFIG, NGRAMS, build_finder

PAIRS = ("cyst", "stone", "failure")
CONCEPTS = [
    *(Concept(f"K{n}", f"kidney {each}", (f"renal {each}",)) for n, each in enumerate(PAIRS)),
    Concept("P", "kidney pain"),
    Concept("Q", "renal colic"),
]
EXACT_NGRAMS = {
    "components.concept_normalizer.encoder.@architectures": "spacy-connorm.NgramEncoder.v1",
    "components.concept_normalizer.index.@misc": "spacy-connorm.ExactIndex.v1",
}


def build(path, ontology, **options):
    built = build_index(ontology, path, overrides=EXACT_NGRAMS, **options)
    return built.manifest["counts"]["substitutions"], load_normalizer(path)


@pytest.mark.parametrize("wrap", [Ontology, lambda concepts: ConceptStream(concepts, Source())])
def test_mentions_are_rewritten_as_the_names_show(tmp_path, wrap):
    count, normalizer = build(tmp_path / "index", wrap(CONCEPTS))
    assert count == 1
    ((first, *_),) = normalizer.candidates(["renal pain"], top_k=2)
    assert first.concept_id == "P"
    without, _ = build(tmp_path / "plain", wrap([CONCEPTS[0], *CONCEPTS[3:]]))
    assert without == 0


def test_the_meta_data_say_what_the_names_are_and_whose(tmp_path):
    source = Source("there/HP-2025.obo.gz", "0", "CC BY 4.0", "2025-01-16")
    build(tmp_path / "index", Ontology(CONCEPTS, source=source))
    meta = spacy.load(tmp_path / "index").meta
    assert (meta["name"], meta["version"]) == ("hp_2025", __version__)
    told = "Links mentions to 5 concepts of HP-2025.obo.gz (2025-01-16), by 8 names."
    assert (meta["description"], meta["license"]) == (told, "CC BY 4.0")
    assert meta["sources"] == [{"name": "HP-2025.obo.gz (2025-01-16)", "license": "CC BY 4.0"}]
    card = (tmp_path / "index" / "README.md").read_text()
    assert told in card and meta["notes"] in card
    for row in ("| Release | 2025-01-16 |", "| Names | 8 |"):
        assert row in card
    build(tmp_path / "nameless", Ontology(CONCEPTS))
    meta = spacy.load(tmp_path / "nameless").meta
    assert [meta[key] for key in ("name", "description", "license", "sources")] == [
        "pipeline",
        "Links mentions to 5 concepts, by 8 names.",
        "",
        [],
    ]


def test_a_file_is_read_once(tmp_path):
    path = tmp_path / "a.jsonl"
    Ontology(CONCEPTS).to_disk(path)
    count, normalizer = build(tmp_path / "index", path)
    assert (count, normalizer.concept("P").canonical_name) == (1, "kidney pain")


def test_a_table_says_more(tmp_path):
    table = tmp_path / "words.tsv"
    table.write_text("ache\tpain\t9\t0\npain\tsore\t9\t0\n", encoding="utf8")
    count, _ = build(tmp_path / "with_table", Ontology(CONCEPTS), substitutions=table)
    assert count == 2
    table.write_text("words\tothers\tsame\tdifferent\n", encoding="utf8")
    count, _ = build(tmp_path / "with_nothing", Ontology(CONCEPTS), substitutions=table)
    assert count == 0


def test_words_are_learned_from_the_first_names_only(tmp_path, monkeypatch):
    monkeypatch.setattr("spacy_connorm.index.builder._MOST_LEARNED", 1)
    assert build(tmp_path / "index", Ontology(CONCEPTS))[0] == 0


def test_anything_but_an_ontology_is_refused(tmp_path):
    with pytest.raises(ConnormError, match="CN006"):
        build(tmp_path / "index", CONCEPTS)


def test_a_network_that_is_not_trained_is_warned_of(tmp_path):
    build_fast = partial(build_index, tmp_path / "none.obo", tmp_path / "index", encoder="fast")
    with pytest.warns(ConnormWarning, match="CNW404.*--train"), pytest.raises(ConnormError):
        build_fast()
    with pytest.raises(ConnormError, match="CN"):
        build_fast(overrides={f"{COMPONENT}.encoder.name": str(tmp_path)})


ENGLISH = [
    Concept(str(number), f"{name} of the {part}")
    for number, (name, part) in enumerate([("Pain", "eye"), ("Cyst", "ear"), ("Loss", "hair")])
]


def test_names_in_another_language_than_texts_are_warned_of(tmp_path):
    ontology = Ontology(ENGLISH)
    with pytest.warns(ConnormWarning, match="CNW407.*'en'.*'es'.*--translations"):
        built = build_index(ontology, tmp_path / "es", encoder="ngrams", language=["es"])
    assert not load_normalizer(built.path).cfg["compare_words"]
    for language in (["en"], ["es", "en"], []):
        built = build_index(ontology, tmp_path / "other", encoder="ngrams", language=language)
        assert load_normalizer(built.path).cfg["compare_words"]


def test_a_multilingual_encoder_links_foreign_names_by_n_grams_too(tmp_path, tiny_folder):
    pytest.importorskip("onnxruntime")
    folder = shutil.copytree(tiny_folder, tmp_path / "multilingual-e5-small")
    with pytest.warns(ConnormWarning, match="CNW407"):
        built = build_index(
            Ontology(ENGLISH), tmp_path / "es", encoder=str(folder), language=["es"]
        )
    normalizer = load_normalizer(built.path)
    assert normalizer.lookup.encoder.shims[0].lexical_weight == BESIDE_NGRAMS["lexical_weight"]
    (candidate, *_) = normalizer.candidates(["Pain of the eye"])[0]
    assert candidate.concept_id == "0" and candidate.score == pytest.approx(1)


HASHES = {f"{COMPONENT}.encoder.@architectures": "tests.HashingEncoder.v1"}


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "pipeline.cfg"
    path.write_text(CONFIG)
    return path


def normalizer(folder):
    return spacy.load(folder).get_pipe("concept_normalizer")


def test_the_index_is_a_pipeline_and_a_source_of_others(demo_index):
    nlp = spacy.load(demo_index)
    assert nlp.pipe_names == ["abbreviation_resolver", "concept_normalizer"]
    settings = nlp.get_pipe_config("concept_normalizer")
    del settings["factory"]
    other = spacy.blank("en")
    component = other.add_pipe("concept_normalizer", config=settings)
    component.initialize(lambda: [], nlp=other, index=demo_index / "concept_normalizer")
    assert component.candidates(["flu"])[0][0].name == "influenza"


def test_trees_are_planted_and_searched(tmp_path, monkeypatch):
    names = [f"{first}{second} node" for first in PAIRS for second in range(1000)]
    ontology = Ontology([Concept(f"C{number}", name) for number, name in enumerate(names)])
    trees = {"@misc": "spacy-connorm.AnnoyIndex.v1", "exact_below": 0, "search_k": 2900}
    settings = {f"{COMPONENT}.index": trees, **HASHES}
    built = build_index(ontology, tmp_path / "out", overrides=settings)
    assert built.manifest["searched"] == {"OD-T": "a forest of 50 trees"}
    proposed = []
    propose = AnnoySearcher._propose
    monkeypatch.setattr(
        AnnoySearcher, "_propose", lambda *args: proposed.append(args) or propose(*args)
    )
    answers = normalizer(tmp_path / "out").candidates([f"the {name}" for name in names[::97]])
    assert proposed
    assert [first.name for first, *_ in answers] == names[::97]


def test_an_ontology_a_corpus_and_a_file_of_synonyms(tmp_path, demo_ontology, sugar_corpus, capsys):
    synonyms = tmp_path / "synonyms.tsv.gz"
    synonyms.write_bytes(gzip.compress(b"ticker trouble\tDEMO:0000008\n\nnew thing\tX:1\n"))
    out = tmp_path / "out"
    with pytest.warns(ConnormWarning, match="CNW401"):
        built = build_index(
            str(demo_ontology),
            str(out),
            corpora=[sugar_corpus],
            synonyms=synonyms,
            overrides=NGRAMS,
        )
    assert capsys.readouterr() == ("", "")
    assert built.index_path == out / "concept_normalizer"
    manifest = json.loads((built.index_path / "index" / "manifest.json").read_text())
    assert built.manifest["counts"] == manifest["counts"]
    assert (manifest["counts"]["concepts"], manifest["counts"]["data_members"]) == (95, 3)
    found = normalizer(out).candidates(["sugar is up"])
    assert (found[0][0].concept_id, found[0][0].search) == ("DEMO:0000025", "D-T")


def test_annotated_documents_without_ids_are_told(tmp_path, demo_ontology):
    doc = spacy.blank("en")("a cold")
    doc.spans["sc"] = [Span(doc, 1, 2, label="X", kb_id="DEMO:0000008")]
    write_docs([doc], tmp_path / "own.spacy")
    given = {"corpora": [tmp_path / "own.spacy"], "overrides": NGRAMS}
    with pytest.warns(ConnormWarning, match=r"CNW405.*own\.spacy"):
        build_index(demo_ontology, tmp_path / "out", **given)
    key = {**NGRAMS, "components.concept_normalizer.spans_key": "sc"}
    built = build_index(demo_ontology, tmp_path / "out", **{**given, "overrides": key})
    assert built.manifest["counts"]["data_members"] == 1


def test_an_ontology_in_memory_is_indexed_as_its_file_is(tmp_path, demo_ontology):
    counts = [
        build_index(ontology, tmp_path / "out", overrides=NGRAMS).manifest["counts"]["concepts"]
        for ontology in (read_ontology(demo_ontology), open_ontology(demo_ontology))
    ]
    assert counts == [94, 94]
    build_index(
        Ontology([Concept("C1", "influenza")]),
        tmp_path / "out",
        synonyms=[("the flu", "C1")],
        overrides=NGRAMS,
    )
    assert normalizer(tmp_path / "out").candidates(["the flu"])[0][0].search == "D-T"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"config": "nowhere.cfg"}, "CN100"),
        ({"corpora": ["other.txt"]}, "CN220"),
        ({"corpora": ["."]}, "CN105"),
        ({"synonyms": "other.txt"}, "CN115"),
        ({"synonyms": ("flu", "C1")}, "CN006"),
        ({"format": "owl"}, "CN118"),
        ({"gpu_id": 99}, "CN713"),
        ({"overrides": {**NGRAMS, f"{COMPONENT}.index.lists_from": -5}}, "CN006"),
        ({"overrides": {**NGRAMS, f"{COMPONENT}.index": 5}}, "CN006"),
        ({"reuse": "nowhere"}, "CN700"),
    ],
)
def test_bad_input_leaves_nothing(tmp_path, monkeypatch, demo_ontology, options, code):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.txt").write_text("no tab in here")
    with pytest.raises(ConnormError, match=code):
        build_index(demo_ontology, "out", **{"overrides": NGRAMS, **options})
    assert [path.name for path in tmp_path.iterdir()] == ["other.txt"]


def test_only_an_index_is_replaced(tmp_path, demo_ontology):
    out = tmp_path / "out"
    out.mkdir()
    before = build_index(demo_ontology, out, overrides=NGRAMS).manifest["counts"]
    with pytest.raises(ConnormError, match="CN100"):
        build_index(tmp_path / "nowhere.obo", out, overrides=NGRAMS)
    assert normalizer(out).lookup.index.manifest["counts"] == before
    build_index(demo_ontology, out, overrides=NGRAMS)
    (tmp_path / "letter.txt").write_text("dear")
    for other in (tmp_path, tmp_path / "letter.txt"):
        with pytest.raises(ConnormError, match="CN705"):
            build_index(demo_ontology, other, overrides=NGRAMS)
    assert (tmp_path / "letter.txt").read_text() == "dear"


@pytest.mark.parametrize("meta", ["{}", "[]", "not JSON", '{"components": ["letters"]}'])
def test_a_folder_with_another_meta_json_is_left_alone(demo_ontology, tmp_path, meta):
    (tmp_path / "meta.json").write_text(meta)
    with pytest.raises(ConnormError, match="CN705"):
        build_index(demo_ontology, tmp_path, overrides=NGRAMS)
    assert (tmp_path / "meta.json").read_text() == meta


def test_synonyms_that_a_component_saved(tmp_path, demo_ontology):
    old = load_normalizer(build_index(demo_ontology, tmp_path / "old", overrides=HASHES).path)
    (first, *_), (other, *_) = old.candidates(["heart attack", "vertigo"])
    old.add_synonyms([("odd words", first.concept_id)], count=3)
    old.remove_synonyms([(other.text, other.concept_id)])
    old.save_synonyms(tmp_path / "synonyms.tsv")
    with (tmp_path / "synonyms.tsv").open("a") as file:
        file.write("gone\tunknown:1\t0\n")
    built = build_index(
        demo_ontology, tmp_path / "new", synonyms=tmp_path / "synonyms.tsv", overrides=HASHES
    )
    new = load_normalizer(built.path)
    mentions = ["odd words", other.text, "heart attack"]
    answers = ([c[:3] for c in candidates] for candidates in new.candidates(mentions))
    assert list(answers) == [[c[:3] for c in candidates] for candidates in old.candidates(mentions)]
    assert new.lookup.index.members.count.sum() == 3


def test_vectors_of_an_older_pipeline_are_copied(tmp_path, demo_ontology):
    old = build_index(demo_ontology, tmp_path / "old", overrides=HASHES)
    new = build_index(demo_ontology, tmp_path / "new", reuse=old.path, overrides=HASHES)
    assert old.manifest["counts"]["copied_rows"] == 0
    assert new.manifest["counts"]["copied_rows"] == new.manifest["counts"]["rows"] > 0


def test_a_file_that_has_changed_gives_the_bytes_of_one_from_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(HashingShim, "fits", False)
    path = tmp_path / "a.jsonl"

    def build(folder, reuse=None):
        return build_index(path, tmp_path / folder, overrides=HASHES, reuse=reuse).manifest

    Ontology(CONCEPTS).to_disk(path)
    build("old")
    changed = [replace(CONCEPTS[0], canonical_name="nephric cyst"), *CONCEPTS[2:], CONCEPTS[1]]
    Ontology(changed).to_disk(path)
    fresh = build("fresh")
    new = build("new", reuse=tmp_path / "old")
    assert new["files"] == fresh["files"]
    assert new["counts"]["copied_rows"] == fresh["counts"]["rows"] - 1


FINDER = """
[components.names]
factory = "mention_finder"
label = "FINDING"
"""


@pytest.fixture
def two_concepts():
    return Ontology([Concept("C1", "influenza", aliases=("flu",)), Concept("C2", "fever")])


def test_the_pipeline_reads_plain_text_if_wanted(tmp_path, two_concepts):
    for _ in range(2):
        built = build_finder(two_concepts, tmp_path)
    nlp = spacy.load(built.path)
    assert nlp.pipe_names == ["abbreviation_resolver", "mention_finder", "concept_normalizer"]
    doc = nlp("Fever after the flu.")
    assert [(ent.text, ent.kb_id_) for ent in doc.ents] == [("Fever", "C2"), ("flu", "C1")]


def test_a_finder_has_the_settings_of_the_config(tmp_path, config, two_concepts):
    config.write_text(f"{CONFIG}\n{FINDER}")
    overrides = {f"{COMPONENT}.spans_key": "found", "components.names.stop_texts": ["flu"]}
    built = build_finder(two_concepts, tmp_path, config=config, overrides=overrides)
    doc = spacy.load(built.path)("Fever nach der Flu.")
    (span,) = doc.spans["found"]
    assert (span.text, span.label_, span._.kb_id) == ("Fever", "FINDING", "C2")
    assert not doc.ents


def test_a_setting_that_a_finder_lacks_is_refused(tmp_path, two_concepts):
    overrides = NGRAMS | {"components.mention_finder.lable": "FINDING"}
    with pytest.raises(ConnormError, match="CN711.*mention_finder.lable"):
        build_finder(two_concepts, tmp_path, overrides=overrides)
    assert not (tmp_path / "out").exists()


def test_swapped_columns_of_synonyms_are_told(tmp_path, demo_ontology):
    path, out = tmp_path / "synonyms.tsv", tmp_path / "out"
    path.write_text("DEMO:0000008\tticker trouble\n", encoding="utf8")
    with pytest.raises(ConnormError, match=r"CN424.*'DEMO:0000008'.*14 characters.*a tab"):
        build_index(demo_ontology, out, synonyms=path, overrides=NGRAMS)
    assert not out.exists()


def test_the_default_encoder_indexes_and_searches_without_torch(
    demo_ontology, tmp_path, without_torch
):
    code = f"""
import sys
from spacy_connorm import build_index, load_normalizer
built = build_index({str(demo_ontology)!r}, {str(tmp_path / "index")!r})
((first, *_),) = load_normalizer(built.path).candidates(["cardiac attack"])
print(first.name, [name for name in ("torch", "transformers") if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env=without_torch,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "myocardial infarction []\n"

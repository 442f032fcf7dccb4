import gzip
import json
from dataclasses import replace
from functools import partial

import pytest
import spacy
from hashing_encoder import HashingShim
from spacy.tokens import Span

from spacy_connorm import Concept, Ontology, build_index, load_normalizer
from spacy_connorm.concepts import ConceptStream, Source
from spacy_connorm.documents.docbin import write_docs
from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.files.configs import read_config
from spacy_connorm.ontology import join_concepts, open_ontology, read_ontology
from spacy_connorm.ontology.profiles import PROFILES
from spacy_connorm.workflows import indexing, make_pipeline
from spacy_connorm.workflows.indexing import _remember_names

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
    for most, expected in ((5, 3), (1, 1)):
        monkeypatch.setattr(indexing, "_MOST_NAMES", most)
        names = []
        assert list(_remember_names(ConceptStream(CONCEPTS, Source()), names)) == CONCEPTS
        assert names == [each.names for each in CONCEPTS[:expected]]


def test_what_is_no_ontology_is_refused(tmp_path):
    with pytest.raises(ConnormError, match="CN006"):
        build(tmp_path / "index", CONCEPTS)


@pytest.mark.parametrize(
    ("encoder", "expected"),
    [
        (None, "TransformerEncoder"),
        ("accurate", "TransformerEncoder"),
        ("fast", "DanEncoder"),
        ("ngrams", "NgramEncoder"),
    ],
)
def test_an_encoder_is_chosen_by_name(encoder, expected):
    normalizer = make_pipeline(encoder=encoder).get_pipe("concept_normalizer")
    assert expected.removesuffix("Encoder").lower() in normalizer.lookup.encoder.name


def test_a_network_that_is_not_trained_is_warned_of(tmp_path):
    build_fast = partial(build_index, tmp_path / "none.obo", tmp_path / "index", encoder="fast")
    with pytest.warns(ConnormWarning, match="CNW404.*--train"), pytest.raises(ConnormError):
        build_fast()
    with pytest.raises(ConnormError, match="CN"):
        build_fast(overrides={f"{COMPONENT}.encoder.name": str(tmp_path)})


def test_the_default_encoder_is_in_half_precision_unless_another_one_is_chosen():
    def block(**overrides):
        nlp = make_pipeline(overrides={f"{COMPONENT}.encoder.{k}": v for k, v in overrides.items()})
        return nlp.config["components"]["concept_normalizer"]["encoder"]

    assert block()["mixed_precision"] and block(batch_size=7)["mixed_precision"]
    assert "mixed_precision" not in block(**{"@architectures": "spacy-connorm.NgramEncoder.v1"})


def test_settings_of_a_chosen_encoder_are_overridden():
    overrides = {f"{COMPONENT}.encoder.ngram_range": [2, 2]}
    nlp = make_pipeline(encoder="ngrams", overrides=overrides)
    block = nlp.config["components"]["concept_normalizer"]["encoder"]
    assert list(block["ngram_range"]) == [2, 2]


def test_encoders_that_cannot_be_chosen(tmp_path):
    with pytest.raises(ConnormError, match="CN118.*fast, accurate, ngrams"):
        make_pipeline(encoder="best")
    (tmp_path / "a.cfg").write_text(CONFIG, encoding="utf8")
    with pytest.raises(ConnormError, match="CN006.*encoder"):
        make_pipeline(tmp_path / "a.cfg", encoder="fast")


COMPONENT = "components.concept_normalizer"
NGRAMS = {f"{COMPONENT}.encoder.@architectures": "spacy-connorm.NgramEncoder.v1"}
HASHES = {f"{COMPONENT}.encoder.@architectures": "tests.HashingEncoder.v1"}
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


def test_what_was_read_already(tmp_path, demo_ontology):
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


def test_settings_come_from_a_config_and_are_overridden(config):
    overrides = {f"{COMPONENT}.top_k": 7, f"{COMPONENT}.expand_abbreviations": False}
    for source in (config, str(config), read_config(config)):
        nlp = make_pipeline(source, overrides=overrides)
        assert (nlp.lang, nlp.pipe_names) == ("de", ["concept_normalizer"])
        settings = nlp.get_pipe_config("concept_normalizer")
        assert settings["top_k"] == 7
        assert settings["encoder"]["@architectures"] == "spacy-connorm.NgramEncoder.v1"
        assert list(settings["sieve"]["searches"]) == ["D-T", "OD-T"]


def test_one_of_several_normalizers_is_named(config):
    config.write_text(CONFIG + '\n[components.other]\nfactory = "concept_normalizer"\n')
    assert make_pipeline(config, component="other").pipe_names == ["abbreviation_resolver", "other"]
    with pytest.raises(ConnormError, match="CN703"):
        make_pipeline(config)
    with pytest.raises(ConnormError, match="CN704"):
        make_pipeline(config, component="ner")


@pytest.mark.parametrize(
    ("setting", "value", "reason"),
    [
        ("encoder.nam", "x", "encoder.nam"),
        ("encoder.@architectures", "nope.v1", "nope.v1"),
        ("topk", "x", "topk"),
        ("sieve.searches.0", "x", "sieve.searches.0"),
    ],
)
def test_a_wrong_setting_is_named(setting, value, reason):
    with pytest.raises(ConnormError, match=f"CN711.*{reason}"):
        make_pipeline(overrides={f"{COMPONENT}.{setting}": value})


@pytest.mark.parametrize("text", ["[nlp", "[nlp]\nlang = ${paths.none}"])
def test_a_file_that_is_no_config(tmp_path, text):
    path = tmp_path / "broken.cfg"
    path.write_text(text)
    with pytest.raises(ConnormError, match="CN711"):
        make_pipeline(path)


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
        ({"overrides": {**NGRAMS, f"{COMPONENT}.index.n_trees": -5}}, "CN006"),
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
    answers = ([c[:3] for c in each] for each in new.candidates(mentions))
    assert list(answers) == [[c[:3] for c in each] for each in old.candidates(mentions)]
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


def build_finder(ontology, folder, **options):
    options = {"find_mentions": True, "overrides": NGRAMS, **options}
    return build_index(ontology, folder / "out", **options)


def test_the_pipeline_reads_plain_text_if_wanted(tmp_path, two_concepts):
    for _ in range(2):
        built = build_finder(two_concepts, tmp_path)
    nlp = spacy.load(built.path)
    assert nlp.pipe_names == ["abbreviation_resolver", "mention_finder", "concept_normalizer"]
    doc = nlp("Fever after the flu.")
    assert [(ent.text, ent.kb_id_) for ent in doc.ents] == [("Fever", "C2"), ("flu", "C1")]


def test_a_finder_has_the_settings_of_the_config(tmp_path, config, two_concepts):
    config.write_text(f"{CONFIG}\n{FINDER}")
    overrides = {f"{COMPONENT}.spans_key": "found", "components.names.min_letters": 4}
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


PHENOTYPES = Ontology(
    [
        Concept("HP:0000001", "All"),
        Concept("HP:0000118", "Phenotypic abnormality", parents=("HP:0000001",)),
        Concept(
            "HP:0001250", "Seizure", ("epilepsy",), parents=("HP:0000118",), related=("epilepsy",)
        ),
        Concept("HP:0012823", "Clinical modifier", parents=("HP:0000001",)),
        Concept("HP:0012828", "Severe", parents=("HP:0012823",)),
    ]
)
SEVERE = "Severe seizures in all of them, epilepsy."


def found_in(text, built):
    return [(ent.text, ent.kb_id_) for ent in spacy.load(built.path)(text).ents]


def test_a_known_ontology_is_found_by_its_profile(tmp_path):
    built = build_finder(PHENOTYPES, tmp_path)
    assert built.profile is not None and built.profile.name == "hpo"
    seizure = "HP:0001250"
    assert found_in(SEVERE, built) == [("seizures", seizure), ("epilepsy", seizure)]


DISEASES = Ontology(
    [
        Concept("MONDO:0000001", "disease"),
        Concept("MONDO:0004979", "asthma", parents=("MONDO:0000001",)),
        Concept("MONDO:0005583", "animal disease", parents=("MONDO:0000001",)),
        Concept("MONDO:1", "mange", parents=("MONDO:0005583",)),
    ]
)
CELLS = Ontology([Concept("CL:1", "cell"), Concept("CL:2", "monocyte", parents=("CL:1",))])


def test_joined_ontologies_are_found_by_the_profiles_of_all(tmp_path):
    joined = join_concepts([PHENOTYPES, DISEASES]).ontology
    built = build_finder(joined, tmp_path)
    assert built.profile is not None and built.profile.name == "hpo and mondo"
    text = "Severe seizures, asthma, mange."
    assert found_in(text, built) == [("seizures", "HP:0001250"), ("asthma", "MONDO:0004979")]
    assert not spacy.load(built.path).get_pipe("mention_finder").cfg["inexact_names"]


def test_a_joined_ontology_without_a_profile_is_not_left_out(tmp_path):
    joined = join_concepts([PHENOTYPES, DISEASES, CELLS]).ontology
    built = build_finder(joined, tmp_path)
    assert built.profile is None
    assert found_in("Monocytes, asthma.", built) == [
        ("Monocytes", "CL:2"),
        ("asthma", "MONDO:0004979"),
    ]


@pytest.mark.parametrize(
    "settings",
    [
        {"profile": "none", "overrides": NGRAMS},
        {"overrides": {**NGRAMS, f"{COMPONENT}.branches": ["HP:0000001"]}},
    ],
)
def test_a_profile_can_be_switched_off(tmp_path, settings):
    built = build_finder(PHENOTYPES, tmp_path, **settings)
    assert built.profile is None
    assert ("Severe", "HP:0012828") in found_in(SEVERE, built)


def test_a_pipeline_for_given_mentions_links_to_all_concepts(tmp_path):
    built = build_index(PHENOTYPES, tmp_path / "hp", overrides=NGRAMS)
    assert built.profile is None and not normalizer(built.path).cfg["branches"]


def test_names_that_group_half_of_an_ontology_are_not_found(tmp_path):
    kinds = [
        *(Concept(f"T{number}", f"T{number} lymphocyte", parents=("T",)) for number in range(300)),
        *(Concept(f"G{number}", f"G{number} germ cell", parents=("C",)) for number in range(40)),
    ]
    roots = [
        Concept("C", "cell", ("cells", "living cell")),
        Concept("S", "somatic cell", parents=("C",)),
        Concept("T", "lymphocyte", parents=("S",)),
    ]
    ontology = Ontology([*roots, *kinds])
    built = build_finder(ontology, tmp_path)
    assert built.left_out == ("cell", "cells", "living cell", "lymphocyte")
    assert found_in("Somatic cells, T7 lymphocytes, living cells, cells", built) == [
        ("Somatic cells", "S"),
        ("T7 lymphocytes", "T7"),
    ]
    every = build_finder(ontology, tmp_path, profile="none")
    assert not every.left_out and ("cells", "C") in found_in("Some cells", every)


def test_a_profile_of_another_ontology_is_refused(tmp_path):
    with pytest.raises(ConnormError, match=r"CN406.*SO:0000110"):
        build_finder(PHENOTYPES, tmp_path, profile="so")


def test_clinical_notes_are_read_with_their_short_forms_and_assertions(tmp_path):
    ontology = Ontology([Concept("C1", "shortness of breath"), Concept("C2", "fever")])
    built = build_finder(ontology, tmp_path, clinical=True)
    nlp = spacy.load(built.path)
    doc = nlp("SOB, no fever. Mother had fever.")
    assert [(ent.kb_id_, ent._.negex, ent._.family) for ent in doc.ents] == [
        ("C1", False, False),
        ("C2", True, False),
        ("C2", False, True),
    ]
    assert nlp.meta["requirements"][0].startswith("spacy-connorm[clinical]")
    build_index(ontology, built.path, clinical=True, overrides=NGRAMS)


def test_clinical_notes_in_another_language_are_warned_of(tmp_path):
    ontology = Ontology([Concept("C1", "Fieber")])
    overrides = {**NGRAMS, "nlp.lang": "de"}
    with pytest.warns(ConnormWarning, match="CNW406.*'de'.*assertion_marker"):
        built = build_index(ontology, tmp_path / "out", clinical=True, overrides=overrides)
    assert spacy.load(built.path).lang == "de"


def test_of_several_meanings_the_ontology_chooses_one(tmp_path):
    ontology = Ontology(
        [
            Concept("C1", "ventricular tachycardia"),
            Concept("C2", "chest pain"),
            Concept("C3", "cerebral palsy"),
            Concept("C4", "diabetes mellitus"),
            Concept("C5", "type 2 diabetes mellitus"),
            Concept("C6", "chronic kidney disease"),
            Concept("C7", "stage 3 chronic kidney disease"),
            Concept("C8", "autistic behavior", ("ASD",)),
            Concept("C9", "atrial septal defect"),
            Concept("C10", "benign prostatic hyperplasia", ("benign prostatic hypertrophy",)),
        ]
    )
    built = build_finder(ontology, tmp_path, clinical=True)
    assert found_in("Denies CP. Telemetry without VT.", built) == [("VT", "C1")]
    # Both meanings are one concept.
    assert found_in("9. BPH\nA BPH", built) == [("BPH", "C10"), ("BPH", "C10")]
    # A number is the type or the stage.
    text = "Diabetes? DM2, CKD3, CKD."
    expected = [("Diabetes", "C4"), ("DM2", "C5"), ("CKD3", "C7"), ("CKD", "C6")]
    assert found_in(text, built) == expected
    assert found_in("DM II, CKD 3.", built) == [("DM II", "C5"), ("CKD 3", "C7")]
    assert found_in("CKD 3 years.", built) == [("CKD", "C6")]
    # The words of the text choose, even if a short form is a name itself.
    assert found_in("Atrial size normal, no ASD.", built) == [("ASD", "C9")]
    assert found_in("Behaves well, no ASD.", built) == [("ASD", "C8")]


def test_the_profile_of_anatomy_takes_no_other_words(tmp_path):
    anatomy = Ontology(
        [
            Concept("UBERON:0001062", "anatomical entity"),
            Concept("UBERON:0002721", "lateral sulcus", parents=("UBERON:0001062",)),
        ]
    )
    built = build_finder(anatomy, tmp_path)
    assert built.profile is not None and built.profile.name == "uberon"
    assert spacy.load(built.path).get_pipe("mention_finder").cfg["min_certainty"] == 1.0


def test_short_forms_of_the_ontology_are_its_own(tmp_path):
    ontology = Ontology(
        [
            Concept("V1", "flea allergic dermatitis", ("FAD",)),
            Concept("V2", "COVID-19"),
            Concept("V3", "mast cell tumour", ("MCT",)),
            Concept("V4", "human papillomavirus infectious disease", ("HPV",)),
            Concept("V5", "spinal neurofibromatosis", ("SNF",)),
            Concept("V6", "RTA"),
            Concept("V7", "snowflake vitreoretinal degeneration", ("SVD",)),
        ]
    )
    built = build_index(
        ontology, tmp_path / "out", find_mentions=True, clinical=True, overrides=NGRAMS
    )
    # Those that mean nothing else: a preferred name, a number, a long form of the same concept.
    text = "Swabs: COVID-19. HPV. RTA."
    assert found_in(text, built) == [("COVID-19", "V2"), ("HPV", "V4"), ("RTA", "V6")]
    # Others where findings stand, else as in the table.
    assert found_in("FAD likely. No MCT.", built) == [("FAD", "V1"), ("MCT", "V3")]
    assert found_in("Back to SNF. Lives in SNF. MCT oil, FAD level", built) == []
    # Also if the table has several.
    assert found_in("2020 SVD at 36w", built) == []
    assert found_in("SVD likely", built) == [("SVD", "V7")]


@pytest.mark.parametrize("name", [name for name, each in PROFILES.items() if each.roots])
def test_a_table_without_parents_is_found_whatever_its_ids(tmp_path, name):
    roots = PROFILES[name].roots
    vocabulary = "".join(roots[0].partition(":")[:2]) if ":" in roots[0] else "D"
    table = [Concept(root, f"kind {root}") for root in roots]
    table.append(Concept(f"{vocabulary}000777", "mitral valve"))
    built = build_index(Ontology(table), tmp_path / "a", find_mentions=True, overrides=NGRAMS)
    assert found_in("The mitral valve.", built) == [("mitral valve", table[-1].concept_id)]
    assert (built.profile is None) == (name == "mesh-chemicals")


CHEMICALS = Ontology(
    [
        Concept("D009930", "Organic Chemicals"),
        Concept("D001241", "Aspirin", parents=("D009930",)),
        Concept("D020164", "Chemical Actions and Uses"),
        Concept("D000700", "Analgesics", parents=("D020164",)),
        Concept("D000894", "NSAID", parents=("D000700", "D009930")),
        Concept("C000001", "rofecoxib"),
    ]
)


@pytest.mark.parametrize(
    ("settings", "left_out"),
    [
        ({}, ["D000700"]),
        ({f"{COMPONENT}.excluded_branches": ["D009930"]}, ["D001241"]),
    ],
)
def test_what_chemicals_do_is_no_mention(tmp_path, settings, left_out):
    overrides = {**NGRAMS, **settings}
    built = build_finder(CHEMICALS, tmp_path, overrides=overrides)
    assert (built.profile is None) == bool(settings)
    found = found_in("Analgesics (aspirin, rofecoxib and another NSAID)", built)
    ids = {"D000700", "D001241", "C000001", "D000894"}
    assert ids - {concept_id for _, concept_id in found} == {*left_out}


@pytest.mark.parametrize("root", ["NCBITaxon:1", "NCBITaxon:131567"])
def test_genera_have_capitals(tmp_path, root):
    crab, human = "NCBITaxon:6754", "NCBITaxon:9606"
    taxa = [
        Concept(root, "root"),
        Concept(crab, "Cancer", parents=("NCBITaxon:1",)),
        Concept(human, "Homo sapiens", ("human",), parents=("NCBITaxon:1",)),
        *(Concept(f"NCBITaxon:{number}", f"Species {number}") for number in range(2, 20)),
        Concept("NCBITaxon:family", "Family"),
    ]
    built = build_finder(Ontology(taxa), tmp_path)
    assert built.profile is not None and built.profile.name == "ncbitaxon"
    found = [("human", human), ("Humans", human)]
    assert found_in("The human cancer. Humans.", built) == found
    family = [] if root == "NCBITaxon:1" else [("Family", "NCBITaxon:family")]
    assert found_in("Family of crabs: Cancer", built) == [*family, ("Cancer", crab)]


def test_symbols_of_genes_have_capitals(tmp_path):
    genes = [
        Concept("HGNC:20387", "IMPACT", ("impact RWD domain protein",)),
        Concept("HGNC:391", "AKT1", ("AKT serine/threonine kinase 1",)),
        Concept("HGNC:6125", "IRS1", ("insulin receptor substrate 1",)),
    ]
    built = build_index(Ontology(genes), tmp_path / "genes", find_mentions=True, overrides=NGRAMS)
    assert built.profile is not None and built.profile.name == "hgnc"
    text = "The impact of insulin receptor substrate 1 on AKT1."
    expected = [("insulin receptor substrate 1", "HGNC:6125"), ("AKT1", "HGNC:391")]
    assert found_in(text, built) == expected
    assert found_in("IMPACT was deleted.", built) == [("IMPACT", "HGNC:20387")]


def test_external_causes_of_icd_are_not_found(tmp_path):
    causes = "External causes of morbidity (V00-Y99)"
    codes = Ontology(
        [
            Concept("R05", "Cough", types=("Symptoms (R00-R99)",)),
            Concept("X37.9", "Storm", types=(causes,)),
        ]
    )
    built = build_finder(codes, tmp_path)
    assert built.profile is not None and built.profile.name == "icd10cm"
    assert found_in("Cough after a storm", built) == [("Cough", "R05")]
    every = build_finder(codes, tmp_path, profile="none")
    assert found_in("Cough after a storm", every) == [("Cough", "R05"), ("storm", "X37.9")]


def test_swapped_columns_of_synonyms_are_told(tmp_path, demo_ontology):
    path, out = tmp_path / "synonyms.tsv", tmp_path / "out"
    path.write_text("DEMO:0000008\tticker trouble\n", encoding="utf8")
    with pytest.raises(ConnormError, match=r"CN424.*'DEMO:0000008'.*14 characters.*a tab"):
        build_index(demo_ontology, out, synonyms=path, overrides=NGRAMS)
    assert not out.exists()

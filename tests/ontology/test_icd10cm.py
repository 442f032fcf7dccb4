import gzip
import json
import tracemalloc
from itertools import starmap

import pytest

from spacy_connorm import annotate, build_index, map_terms
from spacy_connorm.documents.sssom import read_sssom
from spacy_connorm.errors import ConnormError
from spacy_connorm.ontology import ReadReport, stream_ontology
from spacy_connorm.ontology.icd10cm import read_icd10cm

from .conftest import by_id, counts


def test_icd10cm_order_file_alone(data):
    concepts = by_id(read_icd10cm(data / "icd10cm_order.txt"))
    assert all(each.xrefs == (f"ICD10CM:{code}",) for code, each in concepts.items())
    assert list(concepts) == ["A90", "A90.0", "A90.1", "A90.1X1", "A90.1X1A"]
    assert concepts["A90"].parents == ()
    assert concepts["A90.0"].names == ("Nose fever with sneezing", "Nose fever w sneezing")
    assert concepts["A90.1X1"].parents == ("A90.1",)
    assert concepts["A90.1X1A"].parents == ("A90.1X1",)


def test_icd10cm_tabular_list_adds_synonyms_and_chapters(data):
    concepts = by_id(read_icd10cm(data / "icd10cm_order.txt", tabular=data / "icd10cm_tabular.xml"))
    assert concepts["A90.0"].aliases == (
        "Nose fever w sneezing",
        "Sneezing fever",
        "Pyrexia sternutatoria",
    )
    assert concepts["A90.1"].aliases == ("Oth nose fever", "Nose fever, other")
    assert {c.types for c in concepts.values()} == {("Diseases of the nose (A90-A99)",)}


def test_codes_that_are_not_valid_for_billing_are_marked_or_left_out(tmp_path):
    path, report = tmp_path / "order.txt", ReadReport()
    codes = {"A90": 0, "A900": 1, "A901": 0, "A9012": 1, "B01": 0}
    lines = (
        f"{n:05} {code:7} {valid} {code:60} {code}\n"
        for n, (code, valid) in enumerate(codes.items())
    )
    path.write_text("".join(lines))
    concepts = by_id(read_icd10cm(path))
    marked = {code for code, concept in concepts.items() if "Not valid" in concept.definition}
    assert marked == {"A90", "A90.1", "B01"}
    valid = by_id(read_icd10cm(path, billable=True, report=report))
    assert list(valid) == ["A90.0", "A90.12"]
    assert not any(concept.parents for concept in valid.values())
    assert counts(report) == {"a code that is not valid for billing": 3}


def test_codes_that_need_a_seventh_character_are_not_valid_for_billing(tmp_path):
    path = tmp_path / "tabular.xml"
    path.write_text(
        "<ICD10CM.tabular><chapter><desc>Injuries</desc><section>"
        "<diag><name>S72</name><desc>Fracture of femur</desc>"
        '<sevenChrDef><extension char="A">initial encounter</extension></sevenChrDef>'
        "<diag><name>S72.9</name><desc>Unspecified fracture of femur</desc></diag></diag>"
        "<diag><name>S73</name><desc>Sprain</desc></diag>"
        "</section></chapter></ICD10CM.tabular>"
    )
    concepts = by_id(read_icd10cm(path))
    assert {code for code, concept in concepts.items() if concept.definition} == {"S72", "S72.9"}
    assert list(by_id(read_icd10cm(path, billable=True))) == ["S73"]


def test_a_code_that_says_no_more_than_a_broader_one_has_its_names(tmp_path):
    titles = {
        "A90": "Nose fever (nasal)",
        "A90.0": "Nose fever without complications",
        "A90.1": "Nose fever with sneezing",
        "A91": "Nose cyst",
        "A91.0": "Nose cyst, unspecified side",
        "A91.1": "Nose cyst, unspecified depth",
    }
    rows = "".join(f"{code}\t{title}\n" for code, title in titles.items())
    path = tmp_path / "codes.tsv"
    path.write_text(f"code\tname\n{rows}")
    valid = by_id(read_icd10cm(path, billable=True))
    assert {"Nose fever", "Nose fever (nasal)"} <= {*valid["A90.0"].aliases}
    assert "Nose fever" not in valid["A90.1"].names
    assert not any("Nose cyst" in concept.names for concept in valid.values())


def test_the_exports_of_a_pipeline_know_the_vocabulary_of_its_codes(data, tmp_path):
    build_index(data / "icd10cm_order.txt", tmp_path / "icd", encoder="ngrams", find_mentions=True)
    text, terms = tmp_path / "a.txt", tmp_path / "terms.csv"
    text.write_text("Nose fever with sneezing.")
    terms.write_text("code,term\n1,Nose fever with sneezing\n")
    annotate(tmp_path / "icd", text, tmp_path / "a.fhir.json")
    entries = json.loads((tmp_path / "a.fhir.json").read_text())["entry"]
    (coding,) = [e["resource"]["code"]["coding"] for e in entries if "code" in e["resource"]]
    assert coding[0]["system"] == "http://hl7.org/fhir/sid/icd-10-cm"
    assert coding[0]["code"] == "A90.0"
    map_terms(tmp_path / "icd", terms, tmp_path / "a.sssom.tsv")
    assert read_sssom(tmp_path / "a.sssom.tsv").mappings[0].object_id == "ICD10CM:A90.0"
    annotate(tmp_path / "icd", text, tmp_path / "brat", format="brat")
    assert "Reference T1 ICD10CM:A90.0" in (tmp_path / "brat" / "a.ann").read_text()


@pytest.mark.parametrize("codes", [("A90", "A90.0", "A90.01"), ("A90", "A900", "A9001")])
def test_a_table_of_codes_implies_names_too(tmp_path, codes):
    path = tmp_path / "codes.tsv"
    titles = ("Nose fever", "Nose flu, unspecified", "Nose flu [sneezles] (acute)")
    rows = "".join(f"{code}\t{title}\n" for code, title in zip(codes, titles, strict=True))
    path.write_text(f"icd_code\tlong_title\n{rows}")
    concepts = by_id(stream_ontology(path, format="icd10cm"))
    assert {code: each.names[1:] for code, each in concepts.items()} == {
        "A90": (),
        "A90.0": ("Nose flu",),
        "A90.01": ("sneezles",),
    }
    assert concepts["A90.01"].parents == ("A90.0",)
    assert concepts["A90.01"].xrefs == ("ICD10CM:A90.01",)
    plain = stream_ontology(path, format="icd10cm", implied_names=False)
    assert not any(concept.aliases for concept in plain)
    # Unless the format is named, it is a table like others.
    assert [concept.names for concept in stream_ontology(path)][1] == ("Nose flu, unspecified",)


def test_a_code_may_stand_before_its_category(tmp_path):
    path = tmp_path / "codes.tsv"
    path.write_text("code\tname\nA90.0\tDengue of one kind\nA90\tDengue\n")
    assert {concept.concept_id: concept.parents for concept in read_icd10cm(path)} == {
        "A90": (),
        "A90.0": ("A90",),
    }


def test_a_table_with_codes_of_six_characters_is_recognized(tmp_path):
    path = tmp_path / "codes.csv"
    path.write_text(
        "id,name,xrefs\n"
        "E08-E13,Nose fevers,\n"
        '"C50.911","Nose cancer, unspecified",MSH:D1\n'
        '"S93.402A","Sprain of unspecified part of left nose, initial encounter",\n'
        '"J45.20","Mild nose flu, uncomplicated",\n'
        "Z88.0,Allergy status to pollen,\n"
        "Z85.3,Personal history of nose cancer,\n"
    )
    concepts = by_id(stream_ontology(path))
    assert "Nose cancer" in concepts["C50.911"].names
    assert concepts["C50.911"].xrefs == ("ICD10CM:C50.911", "MESH:D1")
    assert "Sprain of unspecified part of left nose NOS" in concepts["S93.402A"].names
    assert "Mild nose flu NOS" in concepts["J45.20"].names
    assert "pollen allergy" in concepts["Z88.0"].names
    assert "History of nose cancer" in concepts["Z85.3"].names
    assert concepts["E08-E13"].names == ("Nose fevers",)
    (plain, *_) = stream_ontology(path, format="tsv")
    assert plain.concept_id == "E08-E13"


@pytest.mark.parametrize(
    ("content", "code"),
    [("<ICD10CM.tabular/>", "CN104"), ("<ClaML/>", "CN123"), ("A90 no XML", "CN115")],
)
def test_icd10cm_names_a_tabular_list_without_codes(data, tmp_path, content, code):
    path = tmp_path / "tab.xml"
    path.write_text(content)
    with pytest.raises(ConnormError, match=rf"{code}.*tab\.xml"):
        list(read_icd10cm(data / "icd10cm_order.txt", tabular=path))


def test_icd10cm_tabular_list_alone(data):
    concepts = by_id(read_icd10cm(data / "icd10cm_tabular.xml"))
    assert list(concepts) == ["A90", "A90.0", "A90.1"]
    assert concepts["A90.0"].parents == ("A90",)


@pytest.fixture
def aliases_of(tmp_path):
    """A function that reads sections and gives the aliases of their codes."""

    def read(*sections, **options):
        path = tmp_path / "icd10cm.xml"
        path.write_bytes(tabular(*sections))
        return {code: each.aliases for code, each in by_id(read_icd10cm(path, **options)).items()}

    return read


@pytest.mark.parametrize(
    "pair",
    [
        "Nose fever (acute) (chronic) > Nose fever",
        "(Acute) nose fever(s), left > nose fever, left",
        "Human nose virus [HNV] disease > Human nose virus disease",
        "Nose (para)fever (acute)(chronic) > Nose fever",
        "Nose fever, unspecified organism > Nose fever NOS",
        "Nose fever, left, site not specified > Nose fever, left NOS",
        "Nose fever, organism unspecified > Nose fever NOS",
        "Nose fever, unspecified, unspecified nostril > Nose fever NOS",
        "Nose fever, unspecified nostril, without sneezing > Nose fever NOS",
        "Nose fever, without sneezing with sniffles > ",
        "A (dry) cold, unspecified eye > A cold, unspecified eye | A (dry) cold NOS | A cold NOS",
        "Nose fever [nasal heat] (acute) > Nose fever | nasal heat",
        "Nose fever [Sneezer's disease] > Nose fever | Sneezer's disease",
        "Fever of nose [septum] > Fever of nose",
        "Nose fever [any part] > Nose fever",
        "Nose fever [Smith] > Nose fever",
        "Congenital nose fever [sniffles] > Congenital nose fever",
        "Nose diabetes mellitus with fever > Nose diabetes with fever",
        "diabetes, unspecified nostril > diabetes NOS | diabetes mellitus NOS",
        "Type 2 diabetes mellitus with diabetic flu > "
        "Type 2 diabetes with diabetic flu | diabetic flu",
        "Type 2 diabetes mellitus with flu > Type 2 diabetes with flu | diabetic flu",
        "Type 2 diabetes mellitus with other sneezing > Type 2 diabetes with other sneezing",
        "Malignant neoplasm of nose (left) > "
        "cancer of nose (left) | carcinoma of nose (left) | adenocarcinoma of nose (left) | "
        "Malignant neoplasm of nose | cancer of nose | carcinoma of nose | adenocarcinoma of nose",
        "Sneezing and sniffing > Sneezing | sniffing",
        "Nose sneezing and sniffing > ",
        "Nose fever, unspecified > Nose fever",
        "Nose fever, unspecified with sneezing > ",
        "Unspecified nose fever > ",
        "(nasal) > ",
    ],
)
def test_icd10cm_implies_names(aliases_of, pair):
    name, implied = pair.split(" > ")
    named = section("A90", name, ["Sneeze"])
    assert " | ".join(aliases_of(named)["A90"]) == f"Sneeze | {implied}".removesuffix(" | ")
    assert aliases_of(named, implied_names=False)["A90"] == ("Sneeze",)


def test_icd10cm_notes_of_what_a_code_includes_are_synonyms(aliases_of):
    included = [
        "sneeze",
        "sniffles (mild)",
        "'growth' NOS",
        "any fever",
        "whatever is in A91.2",
        "a " * 13,
    ]
    named = section("A90", "Nose fever (mild)", ["sneeze"], included)
    expected = ("sneeze", "sniffles (mild)", "Nose fever", "sniffles")
    assert aliases_of(named) == {"A90": expected}
    assert aliases_of(named, implied_names=False) == {"A90": ("sneeze",)}


def test_icd10cm_words_of_an_inclusion_term_belong_together(aliases_of):
    named = section("A90", "Tingling", ["Pins and needles"])
    assert aliases_of(named) == {"A90": ("Pins and needles",)}


def test_icd10cm_a_word_of_a_title_that_names_another_code_is_its_name(aliases_of):
    named = [
        ("A90", "Sneezing and sniffing"),
        ("A90.1", "Sneezing"),
        ("A91", "Sniffing, unspecified"),
    ]
    assert aliases_of(*starmap(section, named))["A90"] == ()


def test_icd10cm_implied_names_stay_with_the_broadest_code(aliases_of):
    eye = "Sneezing, unspecified eye"
    named = [("A90", "sneezing (dry)"), ("A90.0", eye), ("A90.00", "Sneezing (wet)"), ("A91", eye)]
    aliases = aliases_of(*starmap(section, named))
    assert aliases == {"A90": ("sneezing",), "A90.0": (), "A90.00": (), "A91": ("Sneezing NOS",)}


def test_icd10cm_a_name_that_several_categories_imply_is_left_out(aliases_of):
    named = [("A90", "Sneeze, unspecified nostril"), ("A91", "Sneeze, unspecified eye (left)")]
    aliases = aliases_of(*starmap(section, named))
    assert aliases == {"A90": (), "A91": ("Sneeze, unspecified eye",)}


def test_icd10cm_a_title_is_called_without_what_it_is_without(aliases_of):
    named = [
        ("A90.0", "Nose fever without complications"),
        ("A90.1", "Nose fever with sneezing without sniffles"),
        ("A90.2", "Acute heat of unspecified veins of unspecified nose"),
        ("A90.3", "Dry cold of unspecified site"),
        ("A91.0", "Warm cold without sneezing"),
        ("A91.9", "Warm cold, unspecified"),
        ("A92", "Other flu of nose without fever"),
        ("A93", "Sniffles without fever"),
        ("A94", "Flu without fever with sneezing"),
        ("A95", "Nose transplant status"),
        ("A96", "Presence of nose pump"),
        ("A97", "Encounter for sneezing"),
    ]
    assert aliases_of(*starmap(section, named)) == {
        "A90.0": ("Nose fever NOS",),
        "A90.1": ("Nose fever with sneezing NOS",),
        "A90.2": ("Acute heat of veins of nose NOS",),
        "A90.3": ("Dry cold NOS",),
        "A91.0": (),
        "A91.9": ("Warm cold",),
        "A92": (),
        "A93": ("Sniffles NOS",),
        "A94": (),
        "A95": ("Nose transplant",),
        "A96": ("nose pump",),
        "A97": ("sneezing",),
    }


def test_icd10cm_a_name_without_the_site_of_the_broader_title_is_left_out(aliases_of):
    named = [
        ("A90", "Sneeze of nose, mild"),
        ("A90.0", "Sneeze, unspecified nose"),
        ("A90.1", "Nose fever, unspecified nose"),
        ("A90.2", "Sneeze, unspecified"),
        ("A91", "Sniffles of unspecified site, dry"),
        ("A91.0", "Sniffles, unspecified site"),
        ("A91.1", "Dry sniffles, dry nostril unspecified"),
    ]
    aliases = aliases_of(*starmap(section, named))
    assert {code: names for code, names in aliases.items() if names} == {
        "A90.1": ("Nose fever NOS",),
        "A90.2": ("Sneeze",),
        "A91.0": ("Sniffles NOS",),
        "A91.1": ("Dry sniffles NOS",),
    }


def test_icd10cm_a_listed_name_is_not_implied_by_another_code(aliases_of):
    aliases = aliases_of(
        section("A90", "Sneeze, unspecified"),
        section("A91", "Sniffles, unspecified nostril"),
        section("A92", "Cold", ["Sneeze", "Sniffles NOS"]),
        section("A93", "Cough, not elsewhere classified"),
        section("A94", "Cough, unspecified"),
    )
    assert aliases["A90"] == aliases["A91"] == aliases["A93"] == ()
    assert aliases["A94"] == ("Cough",)


def test_icd10cm_a_part_of_the_body_below_a_fracture_is_not_a_name(aliases_of):
    named = section("A90", "Fracture of nose", ["Septum", "Broken nose"])
    assert aliases_of(named) == {"A90": ("Fracture of Septum", "Broken nose")}


@pytest.mark.parametrize("name", ["TAB.XML", "tabular.txt.Xml.GZ"])
def test_icd10cm_tabular_list_in_capitals(data, tmp_path, name):
    content = (data / "icd10cm_tabular.xml").read_bytes()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("GZ") else content)
    assert list(by_id(stream_ontology(tmp_path / name))) == ["A90", "A90.0", "A90.1"]


def tabular(*sections, encoding="utf8"):
    """A tabular list without line breaks."""
    head = f'<?xml version="1.0" encoding="{encoding}"?><ICD10CM.tabular><chapter><desc>é</desc>'
    return f"{head}{''.join(sections)}</chapter></ICD10CM.tabular>".encode(encoding)


def section(code, name="", terms=(), includes=()):
    """A section with one code, its name, inclusion terms and notes of what it includes."""
    notes = [
        f"<{kind}>{''.join(f'<note>{note}</note>' for note in each)}</{kind}>"
        for kind, each in (("inclusionTerm", terms), ("includes", includes))
    ]
    inside = f"<name>{code}</name><desc>{name or f'café {code}'}</desc>{''.join(notes)}"
    return f"<section><diag>{inside}</diag></section>"


def test_the_encoding_that_the_tabular_list_declares_is_read(tmp_path):
    path = tmp_path / "a.xml"
    path.write_bytes(tabular(section("A90"), encoding="iso-8859-1"))
    (concept,) = stream_ontology(path)
    assert (concept.canonical_name, concept.types) == ("café A90", ("é",))


def test_a_tabular_list_without_line_breaks_is_not_read_whole(tmp_path):
    path = tmp_path / "a.xml"
    path.write_bytes(
        tabular(*(section(f"A{number}", includes=["x " * 20_000]) for number in range(10, 99)))
    )
    tracemalloc.start()
    try:
        assert sum(1 for _ in stream_ontology(path)) == 89
        assert tracemalloc.get_traced_memory()[1] < 1_500_000
    finally:
        tracemalloc.stop()

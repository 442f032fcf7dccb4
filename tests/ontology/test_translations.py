"""Names in other languages, from tables beside an ontology."""

import pytest

from spacy_connorm import build_index, convert_ontology, read_ontology, search
from spacy_connorm.concepts import Concept, Ontology
from spacy_connorm.errors import ConnormError
from spacy_connorm.ontology import ReadReport, stream_ontology

from .conftest import by_id, counts

OBO = """format-version: 1.2

[Term]
id: T:1
name: All

[Term]
id: T:2
name: Short stature
synonym: "Small stature" EXACT []
synonym: "Dwarfism" RELATED []
is_a: T:1

[Term]
id: T:3
name: Mild short stature
is_a: T:2

[Term]
id: T:4
name: Pain
def: "It hurts." []
alt_id: T:9
is_a: T:3
"""
BABELON = """\
translation_status\tsubject_id\tpredicate_id\ttranslation_language\tsource_language\
\ttranslation_value
OFFICIAL\tT:1\trdfs:label\tfr\ten\tTous
OFFICIAL\tT:2\trdfs:label\tfr\ten\tPetite taille
CANDIDATE\tT:2\toboInOwl:hasBroadSynonym\tfr\ten\tTaille
CANDIDATE\tT:4\trdfs:label\tfr\ten\tDouleur
OFFICIAL\tT:4\tIAO:0000115\tfr\ten\tÇa fait mal.
NOT_TRANSLATED\tT:3\trdfs:label\tfr\ten\tMild short stature
OFFICIAL\tT:2\trdfs:label\tes\ten\tTalla baja
OFFICIAL\tT:8\trdfs:label\tfr\ten\tAutre
"""
SYNONYMS = """subject_id\ttranslation_value\tStatus
ID\tAL oboInOwl:hasExactSynonym@fr\t
T:9\tDouleurs\tCANDIDATE
T:2\tNanisme\tOFFICIAL
"""


@pytest.fixture
def files(tmp_path):
    contents = {"t.obo": OBO, "t-fr.babelon.tsv": BABELON, "t-fr.synonyms.tsv": SYNONYMS}
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    return [tmp_path / name for name in contents]


def test_names_are_those_of_the_language(files):
    obo, *tables = files
    report = ReadReport()
    read = stream_ontology(obo, translations=tables, language=["fr"], report=report)
    concepts = by_id(read)
    assert concepts["T:2"].names == ("Petite taille", "Taille", "Nanisme")
    assert concepts["T:2"].broad == ("Taille",) and not concepts["T:2"].related
    assert concepts["T:4"].names == ("Douleur", "Douleurs")
    assert concepts["T:4"].definition == "Ça fait mal."
    assert dict(concepts["T:2"].languages) == dict.fromkeys(concepts["T:2"].names, "fr")
    assert report.languages == {"fr": 6, "fr, made word by word": 0}
    assert counts(report) == {
        "a translation with the status NOT_TRANSLATED": 1,
        "a translation into another language": 1,
        "a concept without a name in fr": 1,
        "a translation of a concept that is not here": 1,
    }


def test_a_synonym_that_only_says_what_is_abnormal_is_left_out(files):
    labels = "OFFICIAL\tT:1\trdfs:label\tfr\ten\tAnomalie des orteils\n"
    files[1].write_text(BABELON + labels.replace("T:1", "T:3").replace("orteils", "parodontes"))
    files[2].write_text(f"{SYNONYMS}T:1\tOrteil\tCANDIDATE\nT:3\tParodontite\tCANDIDATE\n")
    more = files[0].with_name("more.tsv")
    more.write_text(BABELON.splitlines()[0] + "\n" + labels)
    report = ReadReport()
    read = stream_ontology(
        files[0], translations=[*files[1:], more], language=["fr"], report=report
    )
    concepts = by_id(read)
    assert "Orteil" not in concepts["T:1"].names and "Parodontite" in concepts["T:3"].names
    assert counts(report)["a synonym that names no finding"] == 1


def write_labels(tmp_path, labels):
    """RETURNS (Tuple[Path, Path]): An ontology and its Spanish labels."""
    obo, table = tmp_path / "joints.obo", tmp_path / "joints-es.tsv"
    terms = "".join(
        f"\n[Term]\nid: J:{number}\nname: {name}\n"
        + "".join(f'synonym: "{s}" EXACT []\n' for s in more)
        for number, (name, _, *more) in enumerate(labels)
    )
    obo.write_text(f"format-version: 1.2\n{terms}")
    rows = "".join(f"J:{number}\tes\t{row[1]}\n" for number, row in enumerate(labels))
    table.write_text(f"subject_id\ttranslation_language\ttranslation_value\n{rows}")
    return obo, table


def test_synonyms_are_translated_word_by_word(tmp_path):
    labels = [
        ("Muscle pain", "Dolor muscular"),
        ("Muscle swelling", "Hinchazón muscular"),
        ("Swelling", "Hinchazón"),
        ("Joint swelling", "Hinchazón articular"),
        ("Joint abnormality", "Anomalía articular"),
        ("Arthralgia", "Artralgia", "Joint pain", "Painful hinge"),
    ]
    obo, table = write_labels(tmp_path, labels)
    report = ReadReport()
    read = list(stream_ontology(obo, translations=[table], language=["es"], report=report))
    assert read[-1].names == ("Artralgia", "dolor articular")
    assert dict(read[-1].languages)["dolor articular"] == "es"
    assert report.languages == {"es": 6, "es, made word by word": 1}
    official = read_ontology(obo, translations=[table], language=["es"], translation_status=[""])
    assert [concept.names for concept in official][-1] == ("Artralgia",)


def test_concepts_without_a_translation_get_names_made_word_by_word(tmp_path):
    labels = [("Muscle pain", "Dolor muscular"), ("Joint swelling", "Hinchazón articular")]
    labels += [("Muscle swelling", "Hinchazón muscular"), ("Swelling", "Hinchazón")]
    labels += [("Joint abnormality", "Anomalía articular")]
    obo, table = write_labels(tmp_path, labels)
    with obo.open("a") as file:
        file.write('\n[Term]\nid: J:9\nname: Joint pain\nsynonym: "Pain of joint" NARROW []\n')
        file.write("\n[Term]\nid: J:10\nname: Headache\n")
    read = read_ontology(obo, translations=[table], language=["es"])
    assert "J:10" not in read
    assert read["J:9"].names == ("dolor articular",)
    assert read["J:9"].shown_name == "Joint pain" and not read["J:9"].narrow


def test_a_label_of_several_concepts_is_that_of_the_most_alike(tmp_path):
    labels = [("Shivering", "Temblores"), ("Tremor", "Temblores"), ("Wheals", "Habones")]
    obo, table = write_labels(tmp_path, labels)
    concepts = list(read_ontology(obo, translations=[table], language=["es"]))
    assert [concept.names for concept in concepts] == [
        ("Temblores (Shivering)", "Temblores"),
        ("Temblores",),
        ("Habones",),
    ]


def test_a_concept_below_one_that_is_left_out_gets_its_parents(files):
    concepts = by_id(read_ontology(files[0], translations=files[1:], language=["fr"]))
    assert "T:3" not in concepts
    assert concepts["T:4"].parents == ("T:2",)


def test_untranslated_concepts_are_kept_if_asked_for(files):
    settings = {"translations": files[1:], "language": ["fr"], "keep_untranslated": True}
    concepts = by_id(read_ontology(files[0], **settings))
    assert concepts["T:3"].languages == (("Mild short stature", "en"),)
    assert concepts["T:4"].parents == ("T:3",)


def test_a_status_can_be_required(files):
    settings = {"translations": files[1:], "language": ["fr"], "translation_status": ["official"]}
    concepts = by_id(read_ontology(files[0], **settings))
    assert concepts["T:2"].names == ("Petite taille", "Nanisme")
    assert "T:4" not in concepts


def test_an_ontology_may_have_several_languages(files):
    read = read_ontology(files[0], translations=files[1:], language=["es", "fr", "en"])
    concepts = by_id(read)
    names = concepts["T:2"].names
    assert names == (
        *("Talla baja", "Petite taille", "Taille", "Nanisme"),
        *("Short stature", "Small stature", "Dwarfism"),
    )
    assert concepts["T:2"].related == ("Dwarfism",)
    assert dict(concepts["T:2"].languages)["Dwarfism"] == "en"


def test_results_may_show_the_names_of_another_language(files, tmp_path):
    settings = {"language": ["fr"], "translations": files[1:], "shown_language": "en"}
    built = build_index(files[0], tmp_path / "index", encoder="ngrams", **settings)
    assert built.report.languages["fr"] == 6
    ((found, *_),) = search(built.path, ["nanisme"])
    assert (found.name, found.text, found.language) == ("Short stature", "Nanisme", "fr")
    assert not any(each.text == "Dwarfism" for each in search(built.path, ["dwarfism"])[0])
    converted = tmp_path / "t.jsonl"
    convert_ontology(files[0], converted, **settings)
    build_index(converted, tmp_path / "again", encoder="ngrams")
    ((again, *_),) = search(tmp_path / "again", ["nanisme"])
    assert again == found


@pytest.mark.parametrize(
    ("name", "old", "new", "settings", "error"),
    [
        ("t-fr.babelon.tsv", "subject_id", "subject", {}, "CN128.*babelon.*subject_id"),
        ("t-fr.babelon.tsv", "OFFICIAL\tT:1\trdfs", "OFFICIAL\tT:1\trdf", {}, "CN115.*line 2"),
        ("t-fr.babelon.tsv", "\tT:1\t", "\t\t", {}, "CN115.*line 2.*names no concept"),
        ("t-fr.babelon.tsv", "Tous", "Tous\tTous", {}, "CN115.*line 2.*7 fields"),
        ("t-fr.synonyms.tsv", "AL obo", "AL ", {}, "CN115.*line 2.*predicate"),
        ("t-fr.synonyms.tsv", "@fr", "@fr", {"language": ["de"]}, "CN118.*de.*en, es, fr"),
        ("t-fr.synonyms.tsv", "@fr", "@fr", {"translation_status": ["X"]}, "CN118.*OFFICIAL"),
        ("t-fr.synonyms.tsv", "@fr", "@fr", {"language": []}, "CN733.*--language"),
        ("t-fr.synonyms.tsv", "@fr", "@fr", {"translations": []}, "CN733.*--translation-status"),
    ],
)
def test_errors_name_file_line_and_mend(files, name, old, new, settings, error):
    (path,) = (file for file in files if file.name == name)
    path.write_text(path.read_text().replace(old, new))
    given = {"translations": files[1:], "language": ["fr"], "max_odd": 0, **settings}
    if not given["translations"]:
        given |= {"translation_status": ["OFFICIAL"], "language": []}
    with pytest.raises(ConnormError, match=error):
        read_ontology(files[0], **given)


def test_a_translation_without_a_text_is_reported(files):
    files[1].write_text(BABELON.replace("Douleur\n", "\n"))
    with pytest.warns(UserWarning, match=r"CNW110.*t-fr\.babelon\.tsv', line 5: .*it has no text"):
        read_ontology(files[0], translations=files[1:2], language=["fr"])


def test_an_ontology_in_memory_has_its_names(files, tmp_path):
    ontology = Ontology([Concept("T:1", "all")])
    with pytest.raises(ConnormError, match="CN733.*translations"):
        build_index(ontology, tmp_path / "index", translations=files[1:], language=["fr"])


def test_owl_may_have_several_languages(tmp_path):
    path = tmp_path / "t.ttl"
    path.write_text(
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
        '<http://x.org/1> a skos:Concept ; skos:prefLabel "Pain"@en, "Douleur"@fr, "Dolor"@es ; '
        'skos:altLabel "Mal"@fr .\n'
    )
    (concept,) = read_ontology(path, language=["fr", "en"])
    assert concept.names == ("Douleur", "Pain", "Mal")
    assert dict(concept.languages) == {"Douleur": "fr", "Mal": "fr", "Pain": "en"}

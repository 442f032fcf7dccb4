"""An ontology alone: D is empty, and mentions are processed as a pipeline does."""

import gzip
import re

NOTE = (
    "1|t|Atrial fibrillation (AFB).\n"
    "1|a|AFB in heart attack and stroke, apoplexy.\n"
    "1\t27\t30\tAFB\tDisease\tD3\n"
    "1\t34\t57\theart attack and stroke\tDisease\tD1|D2\n"
    "1\t59\t67\tapoplexy\tDisease\tD2\n\n"
)
MEDIC = "D1||Heart Attack\nD2||Stroke\nD3||Atrial Fibrillation\n"


def test_documents_are_not_searched(rows_of, data):
    (data / "medic_2012" / "medic_06Jul2012.txt.gz").write_bytes(gzip.compress(MEDIC.encode()))
    (data / "bc5cdr" / "test.pubtator.txt.gz").write_bytes(gzip.compress(NOTE.encode()))
    given = ["--dataset", "bc5cdr-d", "--encoder", "ngram", "--data", data]
    rows = rows_of("ontology_alone.py", *given)
    right = {row["steps"]: round(row["strict@1"] * row["mentions"] / 100) for row in rows}
    # "apoplexy" is in the train part of the corpus, but in no name.
    assert right == {
        "none": 0,
        "abbreviations, composites": 2,
        "abbreviations, composites, words": 2,
    }
    assert {row["search"] for row in rows} == {"O-T"}


def test_gold_ids_become_those_of_an_ontology_that_refers_to_them(rows_of, data):
    note = re.sub(r"\bD(\d)\b", r"D00000\1", NOTE)
    concept = "[Term]\nid: DOID:{number}\nname: {name}\nxref: MSH:D00000{number}\n\n"
    names = ("heart attack", "stroke")
    terms = "".join(
        concept.format(number=number, name=name) for number, name in enumerate(names, start=1)
    )
    path = data / "disease_ontology" / "doid_2016-09-01.obo.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress(f"format-version: 1.2\n\n{terms}".encode()))
    (data / "bc5cdr" / "test.pubtator.txt.gz").write_bytes(gzip.compress(note.encode()))
    given = ["--dataset", "bc5cdr-d-do", "--encoder", "ngram", "--data", data]
    as_read = rows_of("ontology_alone.py", *given)[1]
    # "AFB" is not in the ontology, "apoplexy" in no name.
    assert as_read["strict@1"] == 33.33
    assert (as_read["mentions"], as_read["in_ontology_lenient@1"]) == (3, 50.0)


def test_a_corpus_with_other_ids_is_another_one(data, modules):
    from _common.datasets import Data

    path = data / "disease_ontology" / "doid_2016-09-01.obo.gz"
    path.parent.mkdir()
    path.write_bytes(b"")
    as_it_is, translated = Data("ncbi", data, ontology=path), Data("ncbi-do", data)
    assert as_it_is.digest(with_data=False) == translated.digest(with_data=False)
    assert as_it_is.digest(with_data=True) != translated.digest(with_data=True)


def test_labels_of_another_language_are_linked_to_english_names(rows_of, data, monkeypatch):
    labels = [
        ("Muscle pain", "Dolor muscular"),
        ("Muscle swelling", "Hinchazón muscular"),
        ("Joint swelling", "Hinchazón articular"),
        ("Pain", "Dolor"),
        ("Swelling", "Hinchazón"),
        ("Joint pain", "Dolor articular"),
    ]
    terms = "".join(f"[Term]\nid: HP:{n}\nname: {name}\n\n" for n, (name, _) in enumerate(labels))
    head = "subject_id\tpredicate_id\ttranslation_language\ttranslation_status\tsource_value\t"
    rows = "".join(
        f"HP:{n}\trdfs:label\tes\tOFFICIAL\t{name}\t{label}\n"
        for n, (name, label) in enumerate(labels)
    )
    files = {
        "hpo_2025/hp_2025-01-16.obo.gz": f"format-version: 1.2\n\n{terms}",
        "hpo_translations/hp-es.babelon.tsv.gz": f"{head}translation_value\n{rows}",
    }
    for name, content in files.items():
        (data / name).parent.mkdir()
        (data / name).write_bytes(gzip.compress(content.encode()))
    monkeypatch.setattr("_common.translated_labels.Random", lambda seed: Last)
    given = ["--encoder", "ngram", "--data", data, "--dataset"]
    plain = rows_of("ontology_alone.py", *given, "hpo-labels-es")[0]
    assert plain["mentions"] == 1
    made = rows_of("ontology_alone.py", *given, "hpo-labels-es-made")[0]
    assert (made["mentions"], made["strict@1"]) == (1, 100)


class Last:
    """Draws the last row."""

    @staticmethod
    def sample(rows, count):
        return rows[-1:]

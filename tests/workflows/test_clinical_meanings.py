"""The ontology decides what short forms of notes mean."""

import pytest
import spacy

from spacy_connorm import Concept, Ontology, build_index
from spacy_connorm.errors import ConnormWarning

from .building import NGRAMS, build_finder, found_in


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
    # The short forms are saved with the pipeline.
    assert "requirements" not in nlp.meta or nlp.meta["requirements"] == []
    build_index(ontology, built.path, clinical=True, overrides=NGRAMS)


def test_clinical_notes_in_another_language_are_warned_of(tmp_path):
    ontology = Ontology([Concept("C1", "Fieber")])
    overrides = {**NGRAMS, "nlp.lang": "sv"}
    with pytest.warns(ConnormWarning, match="CNW406.*'sv'.*assertion_marker"):
        built = build_index(ontology, tmp_path / "out", clinical=True, overrides=overrides)
    assert spacy.load(built.path).lang == "sv"


@pytest.mark.parametrize("name", ["Insuficiencia renal crónica", "Enfermedad renal crónica"])
def test_a_long_form_is_what_the_ontology_calls_it(tmp_path, name):
    overrides = {**NGRAMS, "nlp.lang": "es"}
    settings = {"find_mentions": True, "clinical": True, "overrides": overrides}
    built = build_index(Ontology([Concept("C1", name)]), tmp_path / "out", **settings)
    assert found_in("Paciente con IRC y erc.", built) == [("IRC", "C1"), ("erc", "C1")]


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

import json
import os
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import pytest
from correcting import NOTE, OTHER_NOTE

from spacy_connorm import Concept, Ontology
from spacy_connorm.errors import ConnormError
from spacy_connorm.workflows import CorrectedPipeline, CorrectionsFile
from spacy_connorm.workflows.annotation import to_record
from spacy_connorm.workflows.corrections import Correction


def test_nothing_changes_without_corrections(corrected, pipeline):
    normalizer = pipeline.get_pipe("concept_normalizer")
    assert corrected.annotate([NOTE, ""]) == [
        to_record(pipeline(text), normalizer) for text in (NOTE, "")
    ]
    assert corrected.revision == 0


def test_a_correction_changes_all_texts_at_once(corrected, answers, correct):
    assert answers(corrected, OTHER_NOTE)["cold"] == "C3"
    correct(corrected, NOTE, "cold", "C4", author="Ann")
    assert answers(corrected, NOTE)["cold"] == answers(corrected, OTHER_NOTE)["cold"] == "C4"
    ((kb_id, candidates),) = corrected.search(["cold"])
    assert kb_id == candidates[0].concept_id == "C4"


def test_a_correction_helps_similar_texts(corrected, correct):
    def score():
        ((first, *_),) = corrected.normalizer.candidates(["head spinnings"])
        return first.score if first.concept_id == "C5" else 0

    before = score()
    correct(corrected, NOTE, "head spinning", "C5")
    assert score() > max(before, 0.8)


def test_none_of_these_holds_for_all_texts(corrected, answers, correct):
    correct(corrected, NOTE, "cold", "NIL")
    assert answers(corrected, OTHER_NOTE)["cold"] == "NIL"
    assert corrected.search(["Cold"])[0][0] == "NIL"
    assert answers(corrected, OTHER_NOTE)["aspirin"] == "C6"
    assert corrected.normalizer.lookup.changed_synonyms() == []


@pytest.mark.parametrize("sieve", [("O-T",), ("OD-C",)])
def test_a_correction_counts_whatever_the_sieve_searches(
    sieve, make_pipeline, path, answers, correct
):
    settings = {"@misc": "spacy-connorm.Sieve.v1", "searches": list(sieve), "thresholds": []}
    corrected = CorrectedPipeline(make_pipeline(sieve=settings), path)
    correct(corrected, NOTE, "cold", "C6")
    assert answers(corrected, OTHER_NOTE)["cold"] == "C6"


def test_short_forms_of_the_pipeline_mean_the_same_alone(make_pipeline, path):
    nlp = make_pipeline()
    table = {"short_forms": {"CCD": "common cold"}}
    nlp.add_pipe("abbreviation_resolver", before="concept_normalizer", config=table)
    corrected = CorrectedPipeline(nlp, path)
    ((answer, _),) = corrected.search(["CCD"])
    assert answer == "C3"
    assert corrected.explain("CCD").parts[0].searched == "common cold"


def test_an_undo_brings_the_old_answer_back(corrected, answers, correct):
    before = corrected.annotate([NOTE, OTHER_NOTE])
    first = correct(corrected, NOTE, "cold", "NIL")
    second = correct(corrected, NOTE, "head spinning", "C5")
    corrected.undo(first.id, author="Bob")
    assert answers(corrected, OTHER_NOTE) == {"head spinning": "C5", "cold": "C3", "aspirin": "C6"}
    corrected.undo(second.id)
    assert corrected.annotate([NOTE, OTHER_NOTE]) == before
    assert corrected.normalizer.lookup.changed_synonyms() == []
    with pytest.raises(ConnormError, match="CN754"):
        corrected.undo(first.id)
    with pytest.raises(ConnormError, match="CN753"):
        corrected.undo("unknown")
    assert corrected.revision == 4


def test_an_undo_keeps_what_the_pipeline_knew(changed, make_pipeline, path, answers, correct):
    nlp = make_pipeline()
    nlp.get_pipe("concept_normalizer").add_synonyms([("head spinning", "C5")])
    known = nlp.get_pipe("concept_normalizer").lookup.changed_synonyms()
    corrected = CorrectedPipeline(nlp, path)
    correction = correct(corrected, NOTE, "head spinning", "C5")
    corrected.undo(correction.id)
    assert corrected.normalizer.lookup.changed_synonyms() == known
    assert answers(corrected, NOTE)["head spinning"] == "C5"


def test_the_last_correction_of_a_text_answers(corrected, answers, correct):
    correct(corrected, NOTE, "cold", "C4")
    last = correct(corrected, OTHER_NOTE, "cold", "C1")
    assert answers(corrected, NOTE)["cold"] == "C1"
    corrected.undo(last.id)
    assert answers(corrected, OTHER_NOTE)["cold"] == "C4"


def test_a_missed_mention_is_marked_in_all_texts(corrected, answers, correct):
    said = "Feels very dizzy today."
    assert answers(corrected, said) == {}
    correction = correct(corrected, said, "very dizz", "C5", marked=True)
    assert correction.mention == "very dizzy" and correction.label == "Chemical"
    assert answers(corrected, "Very dizzy, and aspirin.") == {"Very dizzy": "C5", "aspirin": "C6"}
    corrected.undo(correction.id)
    assert answers(corrected, said) == {}


def test_other_boundaries_replace_those_of_the_pipeline(corrected, answers, correct):
    start = NOTE.index("head spinning")
    correct(corrected, NOTE, "spinning", "C5", replaces=(start, start + 13))
    assert answers(corrected, NOTE) == {"spinning": "C5", "cold": "C3"}
    assert answers(corrected, OTHER_NOTE)["spinning"] == "C5"


def test_a_longer_mention_of_the_pipeline_stays(corrected, answers, correct):
    said = "The head is fine."
    correct(corrected, said, "head", "C1", marked=True)
    assert answers(corrected, NOTE)["head spinning"]
    assert "head" not in answers(corrected, NOTE)


def test_case_counts_in_abbreviations_alone(corrected, answers, correct):
    correct(corrected, "An AsA was given.", "AsA", "C6", marked=True)
    assert answers(corrected, "asa AsA") == {"AsA": "C6"}


def test_spans_in_groups_are_corrected_too(make_pipeline, path, answers, correct):
    corrected = CorrectedPipeline(make_pipeline(spans_key="found"), path)
    correct(corrected, NOTE, "cold", "C4", marked=True)
    assert answers(corrected, OTHER_NOTE) == {"cold": "C4"}
    start = OTHER_NOTE.index("cold")
    (record,) = corrected.annotate([OTHER_NOTE], [[(start, start + 4, ""), (0, 2, "X")]])
    assert [ent["text"] for ent in record["ents"]] == ["No", "cold"]


def test_a_defined_abbreviation_is_corrected_with_its_long_form(resolving, answers, correct):
    said = "A mitral insufficiency (MI) was found. MI is worse."
    correct(resolving, said, "MI", "C1")
    assert set(answers(resolving, said).values()) == {"C1"}
    changed = resolving.normalizer.lookup.changed_synonyms()
    assert changed == [("mitral insufficiency", "C1", 1)]
    assert answers(resolving, "Known MI.")["MI"] == "C2"
    assert answers(resolving, "A myocardial infarction (MI) was found.")["MI"] == "C2"


def test_a_composite_gets_several_concepts(corrected, answers, correct):
    correct(corrected, NOTE, "head spinning", "C5|OMIM:2")
    assert answers(corrected, OTHER_NOTE)["head spinning"] == "C5|C2"


def test_known_mentions_are_normalized(corrected):
    (record,) = corrected.annotate(["Some vertigo."], [[(5, 12, "Symptom")]])
    assert [(ent["label"], ent["kb_id"]) for ent in record["ents"]] == [("Symptom", "C5")]
    with pytest.raises(ConnormError, match="CN755"):
        corrected.annotate(["Some"], [[(5, 12, "Symptom")]])


def test_a_pipeline_that_finds_nothing(path, ontology, answers, correct, make_pipeline):
    nlp = make_pipeline()
    nlp.remove_pipe("entity_ruler")
    corrected = CorrectedPipeline(nlp, path)
    assert corrected.labels == ["MENTION"]
    assert answers(corrected, NOTE) == {}
    correct(corrected, NOTE, "head spinning", "C5", marked=True)
    assert answers(corrected, OTHER_NOTE) == {"head spinning": "C5"}


def test_a_new_start_reads_all(corrected, make_pipeline, path, answers, correct):
    for mention, kb_id in (("cold", "NIL"), ("head spinning", "C5")):
        correct(corrected, NOTE, mention, kb_id, author="Ann")
    undone = correct(corrected, OTHER_NOTE, "aspirin", "NIL")
    corrected.undo(undone.id)
    again = CorrectedPipeline(make_pipeline(), path)
    assert again.revision == corrected.revision == 4
    assert again.records == corrected.records
    assert again.annotate([NOTE, OTHER_NOTE]) == corrected.annotate([NOTE, OTHER_NOTE])


LOAD = """
import json, sys, spacy
nlp = spacy.load(sys.argv[1])
heavy = [name for name in ("fastapi", "uvicorn") if name in sys.modules]
print(json.dumps([[ent.kb_id_ for ent in nlp(sys.argv[2]).ents], heavy]))
from spacy_connorm.workflows import CorrectedPipeline
(record,) = CorrectedPipeline(nlp, sys.argv[3]).annotate([sys.argv[2]])
print(json.dumps([ent["kb_id"] for ent in record["ents"]]))
"""


def test_a_pipeline_saved_meanwhile_is_loaded_elsewhere(
    corrected, correct, path, tmp_path, without_torch
):
    correct(corrected, NOTE, "Complains", "C5", marked=True)
    corrected.nlp.to_disk(tmp_path / "saved")
    # As what is installed here may be older than `setup.cfg`.
    setup = ConfigParser(interpolation=None)
    setup.read(Path(__file__).parents[2] / "setup.cfg", encoding="utf8")
    told = tmp_path / "told-1.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: told\nVersion: 1\n")
    points = setup["options.entry_points"]["spacy_factories"]
    (told / "entry_points.txt").write_text(f"[spacy_factories]{points}\n")
    folders = (str(tmp_path), str(Path(__file__).parents[2]), without_torch["PYTHONPATH"])
    loaded = subprocess.run(
        [sys.executable, "-c", LOAD, str(tmp_path / "saved"), NOTE, str(path)],
        env={**without_torch, "PYTHONPATH": os.pathsep.join(folders)},
        stdout=subprocess.PIPE,
        check=True,
    )
    alone, served = map(json.loads, loaded.stdout.splitlines())
    # The mention that people have marked is in their file alone.
    ids, heavy = alone
    assert (len(ids), heavy) == (2, [])
    assert served == ["C5", *ids]


def test_two_processes_see_each_other(corrected, make_pipeline, path, answers, correct):
    other = CorrectedPipeline(make_pipeline(), path)
    correct(corrected, NOTE, "cold", "C4", author="Ann")
    assert answers(other, OTHER_NOTE)["cold"] == "C4"
    undo = other.undo(other.effective[0].id, author="Bob")
    assert answers(corrected, OTHER_NOTE)["cold"] == "C3"
    assert corrected.records[-1] == undo


def test_concepts_that_this_ontology_lacks_wait(corrected, blank_pipeline, path, answers, correct):
    correct(corrected, NOTE, "cold", "C4")
    nlp = blank_pipeline()
    smaller = Ontology([Concept("C3", "cold")])
    nlp.get_pipe("concept_normalizer").initialize(lambda: [], nlp=nlp, ontology=smaller)
    assert answers(CorrectedPipeline(nlp, path), NOTE)["cold"] == "C3"


def test_texts_leave_nothing_in_the_vocabulary(resolving, correct, answers, monkeypatch):
    monkeypatch.setattr("spacy_connorm.workflows.memory_zones._KEPT_WORDS", 0)
    said = "Wibbly mitral insufficiency (MI) wobbly."
    start = said.index("MI")
    before = set(resolving.nlp.vocab.strings)
    for _ in range(2):
        (record,) = resolving.annotate([said], [[(0, 6, "Timey")]])
        assert {ent["text"] for ent in record["ents"]} >= {"Wibbly", "MI"}
        explained = resolving.explain("MI", text=said, start=start)
        assert explained.interpretations[0].texts == ("mitral insufficiency",)
        with pytest.raises(ConnormError, match="CN755"):
            resolving.explain("wobbly", text=said, start=99)
    assert correct(resolving, said, "wobbly", "C1").mention == "wobbly"
    assert set(resolving.nlp.vocab.strings) == before
    # What is marked stays, and whatever has been read before is read again.
    correct(resolving, said, "Wibbly", "C5", marked=True, label="Spacey")
    assert answers(resolving, said)["Wibbly"] == "C5"
    (record,) = resolving.annotate([said])
    assert record["ents"][0]["label"] == "Spacey"


@pytest.fixture
def write(path):
    """A function that appends corrections to the file, as another process does."""

    def append(*pairs):
        file = CorrectionsFile(path)
        with file.locked():
            file.read()
            for text, kb_id in pairs:
                file.append(Correction(text, 0, len(text), kb_id, marked=True, label="Disease"))

    return append


# N-grams know nothing of these characters, and nobody knows anything of the last one.
UNREADABLE = ("ღღ", "ღღღ", "\0")
WITH_UNREADABLE = [("cold", "C4"), *((text, "C1") for text in UNREADABLE), ("ღ", "NIL")]


@pytest.mark.parametrize("is_there_at_the_start", [True, False])
def test_texts_that_the_encoder_can_not_read_wait(
    is_there_at_the_start, make_pipeline, path, answers, correct, write
):
    if is_there_at_the_start:
        write(*WITH_UNREADABLE)
    corrected = CorrectedPipeline(make_pipeline(), path)
    if not is_there_at_the_start:
        write(*WITH_UNREADABLE)
    assert answers(corrected, OTHER_NOTE)["cold"] == "C4"
    assert corrected.revision == len(corrected.effective) == 5
    last = correct(corrected, NOTE, "head spinning", "C5")
    assert answers(corrected, OTHER_NOTE)["head spinning"] == "C5"
    corrected.undo(last.id)
    corrected.undo(corrected.effective[2].id)
    assert answers(corrected, OTHER_NOTE)["cold"] == "C4"
    assert len(corrected.effective) == 4
    synonyms = corrected.normalizer.lookup.changed_synonyms()
    assert [synonym[:2] for synonym in synonyms] == [("cold", "C4")]


def test_a_better_encoder_reads_what_waits(make_pipeline, path, answers, write, hashes):
    write(*WITH_UNREADABLE)
    assert answers(CorrectedPipeline(make_pipeline(**hashes), path), "ღღ") == {"ღღ": "C1"}


def test_what_the_encoder_can_not_read_is_not_written(corrected, path):
    for text in UNREADABLE:
        with pytest.raises(ConnormError, match="CN009"):
            corrected.correct(text, 0, len(text), "C1")
    assert not path.exists()
    assert corrected.correct("ღღ", 0, 2, "NIL").kb_id == "NIL"


def test_what_can_not_be_applied_is_tried_again(corrected, answers, write, monkeypatch):
    def fail(corrections):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(corrected._applied, "use", fail)
        write(("cold", "C4"))
        for _ in range(2):
            with pytest.raises(MemoryError):
                answers(corrected, OTHER_NOTE)
            assert corrected.revision == 0
    assert answers(corrected, OTHER_NOTE)["cold"] == "C4"
    assert corrected.revision == 1


@pytest.mark.parametrize(
    ("place", "kb_id", "code"),
    [
        ((0, 99), "C4", "CN755"),
        ((9, 10), "C4", "CN755"),
        ((0, 4), "X9", "CN411"),
        ((0, 4), " \u2003", "CN006"),
        ((0, 4), "| +", "CN006"),
    ],
)
def test_what_makes_no_sense_is_not_written(corrected, path, place, kb_id, code):
    with pytest.raises(ConnormError, match=code):
        corrected.correct(NOTE, *place, kb_id)
    assert not path.exists()


@pytest.mark.parametrize("kb_id", ["NIL", "-1", "CUI-less", " NIL |"])
def test_no_concept_is_said_in_words(corrected, correct, kb_id):
    assert correct(corrected, NOTE, "cold", kb_id).kb_id == "NIL"


def test_an_error_names_the_characters_that_were_asked_for(corrected):
    with pytest.raises(ConnormError, match="CN755.* from character 7 to 9 of 11 "):
        corrected.annotate(["vertigo   x"], [[(7, 9, "X")]])


def test_what_can_not_be_written_changes_nothing(corrected, answers, correct, monkeypatch):
    def fail(record):
        raise ConnormError("full")

    before = answers(corrected, NOTE)
    monkeypatch.setattr(corrected._file, "append", fail)
    for kb_id in ("NIL", "C4"):
        with pytest.raises(ConnormError, match="full"):
            correct(corrected, NOTE, "cold", kb_id, marked=True)
    assert answers(corrected, NOTE) == before
    assert corrected.revision == 0 and corrected.effective == []


def test_explanations_know_the_text(resolving):
    said = "A mitral insufficiency (MI)."
    explained = resolving.explain("MI", text=said, start=said.index("MI"))
    assert explained.interpretations[0].kind == "long form"
    assert resolving.explain("MI").interpretations[0].kind == "as written"

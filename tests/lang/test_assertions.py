"""Every row of a table of cues has examples, in which what is said of each finding stands in braces
after it: "No fever{no}, cough{}" is negated, and present.
"""

import csv
from pathlib import Path

import pytest
from asserted_pipeline import marked

import spacy_connorm.lang
from spacy_connorm.lang import load_language

FOLDER = Path(spacy_connorm.lang.__file__).parent
TABLES = sorted(FOLDER.glob("*/assertions.tsv"))


def read_rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def examples():
    for path in TABLES:
        for row in read_rows(path):
            for example in row["example"].split(" || "):
                name = f"{row['category']}, {row['direction']}: {row['cue']}: {example}"
                yield pytest.param(path.parent.name, example.replace("\\n", "\n"), id=name)


@pytest.mark.parametrize("code, example", list(examples()))
def test_an_example_of_a_cue_is_marked_as_its_row_says(code, example):
    assert example and marked(example, code) == example


@pytest.mark.parametrize("code", [path.parent.name for path in TABLES])
def test_every_part_of_cues_is_used(code):
    language = load_language(code)
    items = (item for part in language.cue_parts.values() for item in part)
    used = " ".join([*(cue.text for cue in language.cues), *items])
    assert [name for name in language.cue_parts if f"{{{name}}}" not in used] == []

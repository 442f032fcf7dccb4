"""Every row of the tables of a language has an example that shows what the row is for, and the name
of an ontology that the example has because of it.
"""

import csv
from collections import Counter, defaultdict
from functools import cache
from itertools import chain
from pathlib import Path

import pytest
from finding import make_finder

import spacy_connorm.lang
from spacy_connorm import Concept
from spacy_connorm.text.opposites import are_contrary, opposites_of
from spacy_connorm.text.words import words_of

LANGUAGES = Path(spacy_connorm.lang.__file__).parent
CODES = sorted(path.name for path in LANGUAGES.iterdir() if (path / "words.toml").exists())
# What is a mention, or is not, because of these.
PHRASES, NAMES = "phrases.tsv", "meanings.tsv"
MEANINGS = (NAMES, PHRASES, "derivations.tsv")
CAUSED_BY = {"de": "durch", "nl": "door"}
OTHER_MEANINGS = "other_meanings.tsv"
# These have tests of their own: test_short_form_classes.py and pipeline/test_short_form_files.py.
SHORT_FORMS = ("finding_cues.tsv", "short_form_meanings.tsv")
# How words are written.
FORMS = ("plurals.tsv", "spellings.tsv")
# These have tests of their own: `test_assertions.py`, `test_cues.py`.
CUES = ("assertions.tsv", "inflections.tsv")
OPPOSITES = "opposites.tsv"


def read_rows(code, table):
    path = LANGUAGES / code / table
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    if table == PHRASES:
        return [{**row, **_phrase_itself(row)} for row in rows]
    if table == NAMES:
        return [row if row["example"] else {**row, **_caused(row, code)} for row in rows]
    return rows


def _caused(row, code):
    """RETURNS (Dict[str, str]): An example and a name of a word, for a row without: both are caused
    by something that has the same letters as the word and is in no other row.
    """
    cause = f"{CAUSED_BY[code]} {row['word'][::-1].capitalize()}ol"
    first = row["stands_for"].partition(",")[0]
    return {"example": f"{row['word']} {cause}", "name": f"{first} {cause}"}


def _phrase_itself(row):
    """RETURNS (Dict[str, str]): The columns of a phrase's example, the phrase itself if empty, and
    the first name that it stands for.
    """
    phrase = " ".join(word.split("/")[0] for word in row["phrase"].split())
    names = (name.strip() for name in row["stands_for"].split(","))
    others = [name for name in names if name != phrase]
    return {"example": row["example"] or phrase, "name": row["name"] or others[0]}


# Each row names its test.
EXAMPLES = [
    pytest.param(
        code, table, row["example"], row["name"], id=f"{code}/{table}: {next(iter(row.values()))}"
    )
    for code in CODES
    for table in (*MEANINGS, OTHER_MEANINGS, *FORMS)
    for row in read_rows(code, table)
]


@cache
def names_in_examples(code, table):
    """RETURNS (Dict[str, Set[str]]): The names that each example has. A name is its own concept
    id.
    """
    found = {}
    for group in _groups(code, read_rows(code, table)):
        names = dict.fromkeys(row["name"] for row in group)
        nlp = make_finder(
            [Concept(name, name) for name in names], code=code, normalizer={"top_k": 1}
        )
        docs = nlp.pipe(row["example"] for row in group)
        found |= {doc.text: {ent.kb_id_ for ent in doc.ents} for doc in docs}
    return found


def _groups(code, rows):
    """What is another name of the same ontology would be found as itself: "picor" is "prurito", and
    "prurito" is "picor".

    YIELDS (List[Dict[str, str]]): Rows none of whose examples has the name of another row, or its
        words.
    """
    bag = words_of(code).known_bag
    while rows:
        group, others = [], []
        # Most have no word in common, and are not compared.
        names_with, examples_with = defaultdict(list), defaultdict(list)
        for row in rows:
            name, example = Counter(bag(row["name"])), Counter(bag(row["example"]))
            near = chain.from_iterable(map(names_with.__getitem__, example))
            is_shown = any(example >= other for other in near if other != name)
            near = chain.from_iterable(map(examples_with.__getitem__, name | example))
            shows = any(shown == example or shown >= name for of, shown in near if of != name)
            if is_shown or shows:
                others.append(row)
                continue
            group.append(row)
            for word in name:
                names_with[word].append(name)
            for word in example:
                examples_with[word].append((name, example))
        yield group
        rows = others


@pytest.mark.parametrize(("code", "table", "example", "name"), EXAMPLES)
def test_an_example_shows_what_its_row_is_for(code, table, example, name):
    if table in FORMS:
        words, written = (" ".join(words_of(code).normalized(text)) for text in (example, name))
        assert f" {written} " in f" {words} "
    elif table == OTHER_MEANINGS:
        assert name not in names_in_examples(code, table)[example]
    else:
        assert name in names_in_examples(code, table)[example]


@pytest.mark.parametrize(
    ("code", "sides", "text", "name"),
    [
        pytest.param(code, row["sides"], row["text"], row["name"], id=f"{code}: {row['sides']}")
        for code in CODES
        for row in read_rows(code, OPPOSITES)
    ],
)
def test_a_name_contradicts_a_text_because_of_its_row(code, sides, text, name):
    words, opposites = words_of(code), opposites_of(code)
    said, other = (opposites.stated(words.bag(each)) for each in (text, name))
    assert are_contrary(said, other)
    assert any(sides in about for about, _ in said) and any(sides in about for about, _ in other)


def test_all_tables_have_examples():
    tables = {path.name for path in (LANGUAGES / "en").glob("*.tsv")}
    assert tables == {*MEANINGS, OTHER_MEANINGS, *FORMS, *SHORT_FORMS, *CUES, OPPOSITES}


def test_a_table_has_the_same_columns_in_all_languages():
    # Rows are read by the order of their columns.
    headers = {
        (path.name, path.read_text(encoding="utf-8").partition("\n")[0])
        for path in LANGUAGES.glob("*/*.tsv")
    }
    assert len(headers) == len({name for name, _ in headers})

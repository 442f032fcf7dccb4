"""Changed synonyms in a file: everything comes back, in this and in other indexes."""

import gzip
import random

import pytest
import spacy
from finding import make_finder
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spacy_connorm import Concept
from spacy_connorm.errors import ConnormError
from spacy_connorm.linker.synonym_changes import ChangedSynonym, read_synonyms, write_synonyms
from spacy_connorm.text.cleaning import clean

MENTIONS = ["MI", "cold", "head spinning", "heart attack", "heart stroke", "myocardial infarct"]
TEXTS = st.text(min_size=1).map(clean).filter(bool)


@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(rows=st.lists(st.tuples(TEXTS, TEXTS, st.integers(0, 999_999)), max_size=5))
def test_whatever_is_written_is_read(tmp_path, rows):
    synonyms = [ChangedSynonym(*row) for row in rows]
    for name in ("synonyms.tsv", "synonyms.tsv.gz"):
        write_synonyms(tmp_path / name, synonyms)
        assert list(read_synonyms(tmp_path / name)) == synonyms


def test_a_mark_at_the_start_is_part_of_a_text(tmp_path):
    synonyms = [ChangedSynonym("\ufeffheart", "C1")]
    write_synonyms(tmp_path / "synonyms.tsv", synonyms)
    assert list(read_synonyms(tmp_path / "synonyms.tsv")) == synonyms


def test_a_synonym_without_a_count_counts_once(tmp_path):
    (tmp_path / "synonyms.tsv").write_text("head spinning\tC5\n\n MI \t C2 \t 3 \n")
    found = list(read_synonyms(tmp_path / "synonyms.tsv"))
    assert found == [("head spinning", "C5", 1), ("MI", "C2", 3)]


@pytest.mark.parametrize(
    "line",
    [
        "no tab",
        "\tC1",
        "text\t",
        *(f"text\tC1\t{rest}" for rest in ("more", "", "1\t1", "-1", "1.5", "²", "1000000")),
    ],
)
def test_lines_of_another_shape(tmp_path, line):
    path = tmp_path / "synonyms.tsv"
    path.write_text(f"fine\tC1\n{line}\n", encoding="utf8")
    with pytest.raises(ConnormError, match="CN115.*line 2"):
        list(read_synonyms(path))


def test_counts_that_could_not_be_read_are_refused(make_normalizer, tmp_path):
    normalizer = make_normalizer()
    for count in (1_000_000, 1.5):
        with pytest.raises(ConnormError, match=f"CN006.*`count`.*{count}"):
            normalizer.add_synonyms([("head spinning", "C5")], count=count)
    normalizer.add_synonyms([("head spinning", "C5")], count=999_999)
    with pytest.raises(ConnormError, match="CN006.*`count`.*1000000"):
        normalizer.add_synonyms([("head spinning", "C5")])
    normalizer.save_synonyms(tmp_path / "synonyms.tsv")
    assert list(read_synonyms(tmp_path / "synonyms.tsv")) == normalizer.lookup.changed_synonyms()


@pytest.fixture(params=["ngrams", "hashes", "hybrid"])
def config(request, hashes, hybrid):
    return {"ngrams": {}, "hashes": hashes, "hybrid": hybrid}[request.param]


def test_a_fresh_component_gets_all_changes(changed, make_pipeline, config, tmp_path):
    normalizer = changed(**config)
    normalizer.add_synonyms([("heart stroke", "C2"), ("Head Spinning", "C1")])
    normalizer.add_synonyms([("myocardial infarct", "C2"), ("heart stroke", "C1")], count=4)
    normalizer.remove_synonyms([("MI", "C2"), ("common cold", "C3")])
    normalizer.add_synonyms([("common cold", "C3")], count=2)
    normalizer.save_synonyms(tmp_path / "synonyms.tsv")
    other = make_pipeline(synonyms=[("myocardial infarct", "C2")], **config)
    fresh = other.get_pipe("concept_normalizer")
    fresh.add_synonyms([("left behind", "C6")])
    fresh.load_synonyms(tmp_path / "synonyms.tsv")
    overlay, expected = fresh.lookup.overlay, normalizer.lookup.overlay
    assert overlay.added == expected.added and overlay.removed == expected.removed
    assert fresh.candidates(MENTIONS) == normalizer.candidates(MENTIONS)
    fresh.save_synonyms(tmp_path / "again.tsv")
    assert (tmp_path / "again.tsv").read_bytes() == (tmp_path / "synonyms.tsv").read_bytes()


def test_saved_synonyms_are_a_table_of_texts_ids_and_counts(changed, tmp_path):
    changed().save_synonyms(tmp_path / "synonyms.tsv.gz")
    with gzip.open(tmp_path / "synonyms.tsv.gz", "rt", encoding="utf8") as file:
        assert file.read() == "cold\tC3\t0\nhead spinning\tC5\t2\n"


@pytest.mark.parametrize("text", ["broken", "broken\tC99\t1", "\u2060\t?\t0"])
def test_a_file_that_cant_be_read_changes_nothing(changed, tmp_path, text):
    normalizer = changed()
    before = normalizer.candidates(MENTIONS)
    (tmp_path / "synonyms.tsv").write_text(f"cold\tC4\t0\n{text}\n", encoding="utf8")
    with pytest.raises(ConnormError, match="CN115|CN411"):
        normalizer.load_synonyms(tmp_path / "synonyms.tsv")
    assert normalizer.candidates(MENTIONS) == before


def test_a_failed_write_leaves_the_old_file(changed, tmp_path, monkeypatch):
    path = tmp_path / "synonyms.tsv"
    path.write_text("old\n")

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("spacy_connorm.files.atomic.open_text", fail)
    with pytest.raises(ConnormError, match="CN108"):
        changed().save_synonyms(path)
    assert path.read_text() == "old\n"
    assert [path.name for path in tmp_path.iterdir()] == ["synonyms.tsv"]


def test_scores_of_added_synonyms_are_the_same_after_saving_and_loading(tmp_path):
    words = [
        "heart",
        "attack",
        "fever",
        "acute",
        "renal",
        "failure",
        "cold",
        "pain",
        "chronic",
        "lung",
        "nose",
        "severe",
    ]
    draw = random.Random(0)
    texts = [" ".join(draw.sample(words, draw.randint(1, 5))) for _ in range(250)]
    nlp = make_finder([Concept(f"C{number}", f"{texts[number]} {number}") for number in range(40)])
    added = [(f"{text} x", f"C{number % 40}") for number, text in enumerate(texts[40:])]
    normalizer = nlp.get_pipe("concept_normalizer")
    normalizer.add_synonyms(added)
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path).get_pipe("concept_normalizer")
    queries = texts + [text for text, _ in added]
    assert loaded.candidates(queries) == normalizer.candidates(queries)

"""A process that is killed at any step leaves what was there before, or what it was to write."""

import os
import shutil

import pytest
import spacy
from pipeline_package import make_package

from spacy_connorm import check, save_pipeline
from spacy_connorm.files import atomic as exchange
from spacy_connorm.files.atomic import atomic_file, atomic_folder

from .killing import kill_at_each_step

pytestmark = pytest.mark.skipif(os.name != "posix", reason="forks")


def write_file(path, content):
    with atomic_file(path) as part:
        part.write_text(content)


def write_folder(path, content):
    with atomic_folder(path) as part:
        for name in ("one", "other"):
            (part / name).write_text(content)


def read(path):
    if path.is_file():
        return path.read_text()
    contents = {(path / name).read_text() for name in ("one", "other")}
    assert len(contents) == 1
    return contents.pop()


@pytest.mark.parametrize("write", [write_file, write_folder])
def test_old_or_new_at_every_moment(tmp_path, write):
    out = tmp_path / "out"
    write(out, "old")
    seen = [read(out) for _ in kill_at_each_step(lambda: write(out, "new"))]
    assert len(seen) >= 8
    # Once it is new it stays so.
    assert seen == sorted(seen, key=["old", "new"].index)
    assert seen[0] == "old" and read(out) == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("write", [write_file, write_folder])
def test_none_or_all_of_the_first(tmp_path, write):
    out = tmp_path / "out"

    def work():
        if out.exists():
            shutil.rmtree(out) if out.is_dir() else out.unlink()
        write(out, "new")

    for _ in kill_at_each_step(work):
        assert not out.exists() or read(out) == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_where_names_cant_be_swapped_the_old_one_waits_beside(tmp_path, monkeypatch):
    monkeypatch.setattr(exchange, "_system_call", lambda: None)
    out = tmp_path / "out"
    write_folder(out, "old")
    missing = 0
    for _ in kill_at_each_step(lambda: write_folder(out, "new")):
        if not out.exists():
            missing += 1
            (old,) = tmp_path.glob(".out.old-*")
            assert read(old) == "old"
            old.rename(out)
    assert missing == 1 and read(out) == "new"


def test_a_saved_normalizer_is_old_or_new(tmp_path, changed, trials):
    normalizer = changed()
    saved = tmp_path / "saved"
    normalizer.to_disk(saved)
    before = normalizer.candidates(["heart stroke"])
    normalizer.add_synonyms([("heart stroke", "C2")])
    after = normalizer.candidates(["heart stroke"])
    assert before != after
    nlp = spacy.blank("en")
    again = nlp.add_pipe(
        "concept_normalizer",
        config={"encoder": {"@architectures": "spacy-connorm.NgramEncoder.v1"}},
    )
    every = trials(short=7, long=1)
    answers = []
    for _ in kill_at_each_step(lambda: normalizer.to_disk(saved), every=every):
        answers.append(again.from_disk(saved).candidates(["heart stroke"]))
    assert answers[0] == before
    assert all(answer in (before, after) for answer in answers)
    assert again.from_disk(saved).candidates(["heart stroke"]) == after
    assert [path.name for path in tmp_path.iterdir()] == ["saved"]


def test_saved_synonyms_are_old_or_new(tmp_path, changed):
    normalizer = changed()
    path = tmp_path / "synonyms.tsv"
    normalizer.save_synonyms(path)
    old = path.read_text()
    normalizer.add_synonyms([("heart stroke", "C2")])
    seen = [path.read_text() for _ in kill_at_each_step(lambda: normalizer.save_synonyms(path))]
    assert seen[0] == old != path.read_text()
    assert set(seen) <= {old, path.read_text()}
    assert [path.name for path in tmp_path.iterdir()] == ["synonyms.tsv"]


def test_a_saved_pipeline_is_old_or_new(tmp_path, pipeline, trials):
    saved = tmp_path / "saved"
    pipeline.meta["version"] = "1"
    save_pipeline(pipeline, saved)
    pipeline.meta["version"] = "2"
    pipeline.get_pipe("concept_normalizer").add_synonyms([("heart stroke", "C2")])
    every = trials(short=60, long=1)
    for _ in kill_at_each_step(lambda: save_pipeline(pipeline, saved), every=every):
        assert check(saved).unlisted == []
        nlp = spacy.load(saved)
        (best, *_) = nlp.get_pipe("concept_normalizer").candidates(["heart stroke"])[0]
        assert (best.score == 1) == (nlp.meta["version"] == "2")
    assert spacy.load(saved).meta["version"] == "2"
    assert [path.name for path in tmp_path.iterdir()] == ["saved"]


def test_spacy_package_leaves_out_hidden_files(tmp_path, pipeline):
    pipeline.to_disk(tmp_path / "saved")
    (tmp_path / "saved" / ".concept_normalizer.lock").touch()
    (tmp_path / "packed").mkdir()
    made = make_package(tmp_path / "saved", tmp_path / "packed", "pipeline", "0.0.0")
    setup = made / "setup.py"
    content = setup.read_text(encoding="utf8").replace("setup_package()", "pass")
    assert "not filename.startswith('.')" in content

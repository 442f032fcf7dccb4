"""Every command on a disk that gets full, and with outputs that would replace what it reads."""

import errno
import json
import os
import re
import resource
import shutil
import signal
import stat
from pathlib import Path

import pytest
import torch
from spacy.tokens import DocBin

from spacy_connorm import (
    Concept,
    Ontology,
    annotate,
    build_index,
    calibrate,
    convert_corpus,
    convert_ontology,
    evaluate,
    save_encoder,
    save_pipeline,
    train,
)
from spacy_connorm.cli import app
from spacy_connorm.errors import ConnormError
from spacy_connorm.pipeline.loading import load_pipeline

from . import gated

pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits of file sizes")
LEAST = 3000  # bytes of a file that even a full disk takes: the tests read what is printed


@pytest.fixture(scope="module")
def inputs(tmp_path_factory, tiny_folder, ngrams):
    """Inputs of all commands, which write files of more than `LEAST` bytes."""
    folder = tmp_path_factory.mktemp("inputs")
    names = [f"disease number {n} of {n * n} kinds" for n in range(150)]
    ontology = Ontology(Concept(f"C{n}", name) for n, name in enumerate(names))
    ontology.to_disk(folder / "in.jsonl")
    (folder / "train.pubtator").write_text("\n\n".join(map(pubtator, range(150), names)) + "\n")
    convert_corpus(folder / "train.pubtator", folder / "in.spacy")
    overrides = {ngrams[0].removeprefix("--"): ngrams[1]}
    build_index(folder / "in.jsonl", folder / "pipeline", overrides=overrides)
    notes = (json.dumps({"text": f"Patient {n}.", "more": "x" * 90}) for n in range(150))
    (folder / "notes.jsonl").write_text("\n".join(notes))
    evaluate(folder / "pipeline", folder / "in.spacy", json_path=folder / "scores.json")
    (folder / "encoder").symlink_to(tiny_folder)
    return folder


def pubtator(number, name):
    start = len(str(number)) + 5
    mention = (number, start, start + len(name), name, "Disease", f"C{number}")
    text = f"{number}|t|{number}\n{number}|a|Had {name} once.\n"
    return text + "\t".join(map(str, mention))


@pytest.fixture
def folder(inputs, tmp_path, monkeypatch):
    """A copy, as the current folder."""
    shutil.copytree(inputs, tmp_path, symlinks=True, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


COMMANDS = {
    "ontology": ("ontology", "in.jsonl", "OUT.jsonl"),
    "join": ("join", "in.jsonl", "OUT.jsonl"),
    "corpus": ("corpus", "train.pubtator", "OUT.spacy"),
    "annotate": ("annotate", "pipeline", "notes.jsonl", "OUT.jsonl"),
    "annotate with workers": ("annotate", "pipeline", "notes.jsonl", "OUT.jsonl", "-n", "2"),
    "annotate documents": ("annotate", "pipeline", "in.spacy", "OUT.spacy"),
    "index": ("index", "in.jsonl", "OUT", "-d", "in.spacy"),
    "save": ("save", "pipeline", "OUT"),
    "encoder": ("encoder", "encoder", "OUT"),
    "list": ("evaluate", "pipeline", "in.spacy", "--search", "D-T", "--errors", "OUT.tsv"),
}


def run(arguments, limit, folder, ngrams):
    """Run a command in a process whose files get no longer."""

    def work():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        app([*arguments, *(ngrams if arguments[0] == "index" else ())])

    output = folder / "printed"
    output.unlink(missing_ok=True)
    code = gated.exit_code(gated.fork(work, output))
    return code, " ".join(output.read_text().split())


def content(path):
    if path.is_dir():
        return {file.relative_to(path): file.read_bytes() for file in path.rglob("*.*")}
    return path.read_bytes() if path.exists() else None


def names():
    return {path.name for path in Path().iterdir()}


def longest(path):
    return max(map(len, content(path).values())) if path.is_dir() else path.stat().st_size


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_loses_nothing(folder, ngrams, trials, name):
    arguments = COMMANDS[name]
    out = folder / next(argument for argument in arguments if argument.startswith("OUT"))
    code, output = run(arguments, 1 << 40, folder, ngrams)
    assert code == 0, output
    before, size, beside = content(out), longest(out), names()
    assert size > LEAST + 10
    count = trials(short=1, long=12)
    for limit in range(LEAST, size - 1, -(-(size - 1 - LEAST) // count)):
        code, output = run(arguments, limit, folder, ngrams)
        assert code == 1, output
        assert "[CN108]" in output, output
        assert len(re.findall(r"\[CN\d", output)) == 1 and "Traceback" not in output
        assert content(out) == before
        assert names() == beside


def fails_at(call, function, error):
    """A function that fails when it is called for the nth time."""
    calls = 0

    def failing(*arguments, **options):
        nonlocal calls
        calls += 1
        if calls == call:
            raise error
        return function(*arguments, **options)

    return failing


ERRORS = {
    "system": OSError(errno.ENOSPC, "No space left on device"),
    "torch": RuntimeError("[enforce fail at inline_container.cc:672] . unexpected pos 576 vs 534"),
}


@pytest.mark.filterwarnings("ignore:.*CNW810")
@pytest.mark.parametrize("kind", ERRORS)
def test_training_keeps_its_last_checkpoint(
    tmp_path, training_config, training_settings, monkeypatch, kind
):
    overrides = {**training_settings, "training.arguments.num_train_epochs": 3}
    whole = train(training_config, tmp_path / "whole", overrides=overrides)
    with monkeypatch.context() as patch:
        patch.setattr(torch, "save", fails_at(5, torch.save, ERRORS[kind]))
        with pytest.raises(ConnormError, match=r"CN108.*broken\.checkpoints.*full"):
            train(training_config, tmp_path / "broken", overrides=overrides)
    assert not (tmp_path / "broken").exists()
    resumed = train(training_config, tmp_path / "broken", overrides=overrides, resume=True)
    for name, tensor in whole.trained.module.state_dict().items():
        assert torch.equal(resumed.trained.module.state_dict()[name], tensor), name
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken", "whole"]


def test_all_that_is_written_has_the_usual_rights(folder):
    before = os.umask(0o027)
    try:
        save_encoder("encoder", "saved")
        convert_ontology("in.jsonl", "new.jsonl", licence="Free.")
        save_pipeline(load_pipeline("pipeline"), "copy")
        evaluate("pipeline", "in.spacy", json_path="scores.json", errors_path="errors.tsv")
    finally:
        os.umask(before)
    files = [Path("new.jsonl"), Path("new.jsonl.licence.txt"), Path("scores.json")]
    for name in ("saved", "copy"):
        files += (path for path in Path(name).rglob("*") if path.is_file())
        assert stat.S_IMODE(Path(name).stat().st_mode) == 0o750
    assert Path("saved", "model.safetensors") in files
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o640}


@pytest.mark.parametrize(
    ("source", "call"),
    [
        ("in.jsonl", convert_ontology),
        ("in.spacy", convert_corpus),
        ("notes.jsonl", lambda source, out: annotate("pipeline", source, out)),
        ("in.jsonl", build_index),
        ("in.spacy", lambda source, out: build_index("in.jsonl", out, corpora=[source])),
        ("in.spacy", lambda source, out: evaluate("pipeline", source, json_path=out)),
        ("in.spacy", lambda source, out: evaluate("pipeline", source, markdown_path=out)),
        ("encoder", save_encoder),
        ("pipeline", lambda source, out: calibrate(source, "in.spacy", out)),
    ],
)
def test_nothing_replaces_what_it_is_made_of(folder, source, call):
    source = folder / source
    (folder / f"link{source.suffix}").symlink_to(source)
    others = [source, folder / "pipeline" / ".." / source.name, folder / f"link{source.suffix}"]
    if source.is_file():
        os.link(source, folder / f"hard{source.suffix}")
        others.append(folder / f"hard{source.suffix}")
    before = content(source)
    for out in others:
        with pytest.raises(ConnormError, match=f"CN121.*{out.name}.*{source.name}"):
            call(source, out)
    assert content(source) == before


def test_nothing_in_a_folder_is_replaced_with_it(folder, training_config, training_settings):
    inside = folder / "pipeline" / "concepts.jsonl"
    inside.write_bytes((folder / "in.jsonl").read_bytes())
    with pytest.raises(ConnormError, match=r"CN121.*pipeline.*concepts\.jsonl"):
        build_index(inside, folder / "pipeline")
    save_encoder("encoder", "start")
    for name, value in (
        ("encoder.name", "start"),
        ("data.ontology", "start/concepts.jsonl"),
        ("data.dev", ["start/dev.spacy"]),
    ):
        Path("start", "concepts.jsonl").touch()
        DocBin().to_disk("start/dev.spacy")
        with pytest.raises(ConnormError, match=r"CN121.*'start'"):
            train(training_config, "start", overrides={**training_settings, name: value})
    assert Path("start", "concepts.jsonl").exists()


def test_places_that_cannot_be_written(folder, ngrams):
    Path("file").touch()
    for name, arguments in COMMANDS.items():
        out = next(argument for argument in arguments if argument.startswith("OUT"))
        command = [argument.replace("OUT", "file/OUT") for argument in arguments]
        code, output = run(command, 1 << 40, folder, ngrams)
        assert code == 1 and "Traceback" not in output, name
        assert output.count("[CN") == 1 and f"file/{out}" in output, name

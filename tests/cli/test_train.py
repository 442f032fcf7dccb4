import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("torch")


@pytest.fixture
def options(training_settings):
    """The settings that name encoder and data, as options."""
    pairs = training_settings.items()
    return [part for key, value in pairs for part in (f"--{key}", json.dumps(value))]


def test_counts_losses_and_dev_scores_are_shown(invoke, words, tmp_path, training_config, options):
    out = tmp_path / "out"
    result = invoke("train", training_config, out, *options, "--training.seed", "7")
    assert result.exit_code == 0, result.output
    shown = words(result)
    assert "Concepts not in the ontology 1" in shown
    assert "Epoch 2: loss" in shown
    assert "Dev after epoch 2.0: lenient@1" in shown
    assert "Wrote the encoder" in shown
    assert "seed = 7" in (out / "training.cfg").read_text()


# What torch prints when a C++ thread of its own ends a process, about once in twenty runs of two
# processes on a CPU (torch 2.13.0), in the midst of the first all-reduce.
ABORTED_BY_TORCH = "terminate called without an active exception"


def test_processes_share_the_work(tmp_path, training_config, options):
    def train_with_torchrun(out):
        command = (
            sys.executable,
            "-m",
            "torch.distributed.run",
            "--nproc-per-node",
            "2",
            "--standalone",
            "-m",
            "spacy",
            "connorm",
            "train",
            str(training_config),
            str(out),
            *options,
        )
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "USE_LIBUV": "0"}
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)

    out = tmp_path / "out"
    result = train_with_torchrun(out)
    if ABORTED_BY_TORCH in result.stderr:
        out = tmp_path / "again"
        result = train_with_torchrun(out)
    assert result.returncode == 0, result.stdout + result.stderr[-3000:]
    assert result.stdout.count("Wrote the encoder") == 1
    assert "2 process(es)" in (out / "README.md").read_text(encoding="utf8")


def test_train_refuses_missing_configs_and_unknown_options(
    invoke, refused, tmp_path, training_config, tiny_folder
):
    out = tmp_path / "out"
    refused(invoke("train", tmp_path / "none.cfg", out), "CN100")
    assert "No such option: --seed" in invoke("train", training_config, out, "--seed", "7").output
    assert not out.exists()
    (tmp_path / "letter.txt").touch()
    refused(invoke("encoder", tiny_folder, tmp_path), "CN705")


def test_the_width_is_shown(invoke, words, tmp_path, tiny_folder):
    result = invoke("encoder", tiny_folder, tmp_path / "copy")
    assert result.exit_code == 0, result.output
    assert "16 components" in words(result)

"""What the benchmark of encoding promises, on data of a few lines; no time is looked at."""

import json
import shutil

import pytest

pytest.importorskip("onnxscript")

NAMES = ["PyTorch fp32", "ONNX fp32", "ONNX int8", "DAN, one core"]


@pytest.fixture
def measure(run, data, work, tiny_folder):
    def invoke(*arguments):
        out = data / "out.json"
        run("encoding.py", "--data", data, "--json", out, *arguments)
        return json.loads(out.read_text())

    return invoke


@pytest.fixture
def exported(exported_tiny, work, tiny_folder, modules):
    """The tiny transformer's exports, as an earlier run leaves them."""
    from _common.builders import load_encoder

    from spacy_connorm.encoders import fingerprint

    block = {"@architectures": "spacy-connorm.TransformerEncoder.v1", "name": str(tiny_folder)}
    key = fingerprint(load_encoder(block))
    for precision, folder in exported_tiny.items():
        shutil.copytree(folder, work / f"onnx-{precision}-{key}")


def test_encoders_take_turns_and_are_scored(measure, exported, tiny_folder):
    rows = measure("--transformer", tiny_folder, "--dan", tiny_folder, "--accuracy", "--names", "3")
    speeds = [row for row in rows if row["table"] == "Names a second"]
    assert [row["encoder"] for row in speeds] == NAMES
    for row in speeds:
        assert (row["names"], row["repeats"]) == (3, 5)
        assert row["slowest"] <= row["names_per_s"] <= row["fastest"]
        assert row["lowest_ratio"] <= row["ratio"] <= row["highest_ratio"]
    assert speeds[0]["ratio"] == 1
    scores = [row for row in rows if row["table"] == "Accuracy"]
    assert [row["encoder"] for row in scores] == NAMES * 2
    assert [row["dataset"] for row in scores] == ["ncbi"] * 4 + ["bc5cdr-d"] * 4
    for row in scores[:2]:
        assert (row["mentions"], row["same_first"]) == (4, 100)
        assert row["lenient_difference"] == row["strict_difference"] == 0


def test_a_device_that_is_a_processor(measure, tiny_folder):
    device = ("--device", "cpu", "--shape", tiny_folder, "--batch", "2")
    (row,) = measure(*device, "--peak-tflops", "2")
    assert (row["device"], row["shape"], row["names"]) == ("cpu", "2 x 16", 5)
    assert row["slowest"] <= row["names_per_s"] <= row["fastest"]
    assert row["peak_tflops"] == 2


def test_no_gpu(measure, capsys):
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(SystemExit) as exit:
        measure("--device", "cuda")
    assert exit.value.code == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("There is no GPU")


def test_operations_of_a_forward_pass(modules):
    torch = pytest.importorskip("torch")
    from _measure.device import forward_flops
    from torch.utils.flop_counter import FlopCounterMode
    from transformers import BertConfig, BertModel

    sizes = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 24}
    config = BertConfig(vocab_size=10, num_hidden_layers=3, **sizes, attn_implementation="eager")
    model = BertModel(config, add_pooling_layer=False)
    counter = FlopCounterMode(display=False)
    with counter, torch.no_grad():
        for length in (5, 9):
            model(torch.zeros(1, length, dtype=torch.long))
    expected = forward_flops([5, 9], layers=3, width=16, inner=24)
    assert counter.get_total_flops() == expected


def test_peaks_are_found_by_name(modules):
    from _measure.device import peak_tflops

    assert peak_tflops("NVIDIA H200") == peak_tflops("NVIDIA H100 80GB HBM3") == 989
    assert peak_tflops("NVIDIA H100 PCIe") == 756
    assert peak_tflops("NVIDIA A100-SXM4-80GB") == 312
    assert peak_tflops("NVIDIA GeForce RTX 3090") is None


def test_a_sample_has_every_length(modules):
    from _measure.stopwatch import Seconds
    from encoding import sample, speed_row

    names = ["a" * length for length in range(1, 11)]
    assert [len(name) for name in sample(names, 5)] == [1, 3, 5, 7, 9]
    assert sample(names, None) == sample(names, 99) == names
    row = speed_row([Seconds(1, 1), Seconds(2, 1), Seconds(4, 1)], [Seconds(4, 3)] * 3, 8)
    assert (row["names_per_s"], row["slowest"], row["fastest"]) == (4, 2, 8)
    assert (row["ratio"], row["lowest_ratio"], row["highest_ratio"]) == (2, 1, 4)
    assert row["processor_ratio"] == 3

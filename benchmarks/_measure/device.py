"""How much of a device's bf16 peak an encoder reaches, for `encoding.py`."""

from argparse import Namespace
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from _common.builders import load_encoder
from _common.cli import fail

from _measure.interleaved import speed_columns, spread, take_turns
from _measure.stopwatch import time_call
from spacy_connorm.encoders.devices import choose_device
from spacy_connorm.encoders.model_packages import MINILM
from spacy_connorm.encoders.pretrained import find_folder
from spacy_connorm.encoders.protocol import encode, trainable
from spacy_connorm.evaluation.report import Row

# Dense bf16 TFLOP/s from NVIDIA's data sheets, by a part of the name that PyTorch gives; special
# cards before the common one.
PEAKS = {
    "H100 PCIe": 756.0,
    "H100 NVL": 835.0,
    "H100": 989.0,
    "H200": 989.0,
    "A100": 312.0,
}


def measure_device(texts: Sequence[str], arguments: Namespace) -> list[Row]:
    """Encode texts in bf16 with transformers of several shapes.

    texts (Sequence[str]): The texts.
    arguments (Namespace): Device, batch, repeats and peak.
    RETURNS (List[Dict[str, Any]]): One row a transformer.
    """
    device = _choose(arguments.device)
    peak = arguments.peak_tflops or peak_tflops(device)
    shapes = arguments.shape or [MINILM, str(random_bert(arguments.work))]
    return [_measure_one(name, texts, device, peak, arguments) for name in shapes]


def _choose(device: str) -> str:
    import torch

    if device == "cpu":
        return "cpu"
    if not torch.cuda.is_available():
        fail("There is no GPU that PyTorch can use, so nothing was measured on one.")
    choose_device(0)
    return torch.cuda.get_device_name()


def peak_tflops(device: str) -> float | None:
    """RETURNS (Optional[float]): The dense bf16 peak of a device by its name; None if unknown."""
    return next((peak for name, peak in PEAKS.items() if name in device), None)


def random_bert(work: Path) -> Path:
    """Make a transformer of BERT-base's shape, unless an earlier run did.

    work (Path): Where to.
    RETURNS (Path): Its folder, with MiniLM's tokenizer.
    """
    import torch
    from transformers import AutoTokenizer, BertConfig, BertModel

    folder = work / "bert-base-random"
    if not (folder / "config.json").is_file():
        torch.manual_seed(0)
        AutoTokenizer.from_pretrained(find_folder(MINILM) or MINILM).save_pretrained(folder)
        BertModel(BertConfig()).save_pretrained(folder)
    return folder


def _measure_one(
    name: str, texts: Sequence[str], device: str, peak: float | None, arguments: Namespace
) -> Row:
    block = {
        "@architectures": "spacy-connorm.TransformerEncoder.v1",
        "name": name,
        "batch_size": arguments.batch,
        "transformer_config": {"torch_dtype": "bfloat16"},
    }
    encoder = load_encoder(block)
    module: Any = trainable(encoder)
    config = module.transformer.config
    flops = forward_flops(
        map(len, module.rows(list(texts))),
        layers=config.num_hidden_layers,
        width=config.hidden_size,
        inner=config.intermediate_size,
    )
    (turns,) = take_turns(
        [lambda repeat: time_call(lambda: encode(encoder, texts))], arguments.repeats, warm_up=1
    )
    speed = speed_columns([len(texts) / turn.clock for turn in turns], "names_per_s")
    reached = flops / spread([turn.clock for turn in turns]).median / 1e12
    return {
        "device": device,
        "shape": f"{config.num_hidden_layers} x {config.hidden_size}",
        "names": len(texts),
        "batch": arguments.batch,
        "repeats": len(turns),
        **speed,
        "tflops": round(reached, 3),
        "peak_tflops": peak,
        "share_of_peak": 100 * reached / peak if peak else float("nan"),
    }


def forward_flops(lengths: Iterable[int], *, layers: int, width: int, inner: int) -> int:
    """Count the operations that a BERT needs for texts: matrix products, with multiplications and
    additions counted separately. Padding is not counted: it is no use.

    lengths (Iterable[int]): Tokens of each text.
    layers (int): Layers.
    width (int): Width of a token's vector.
    inner (int): Width of the feed-forward layer.
    RETURNS (int): Floating-point operations.
    """
    linear = 4 * width * width + 2 * width * inner
    return sum(layers * (2 * length * linear + 4 * length * length * width) for length in lengths)

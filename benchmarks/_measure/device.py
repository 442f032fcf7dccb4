"""How much of a device's bf16 peak an encoder reaches, for `encoding.py`. Imports torch: in
functions.
"""

from argparse import Namespace
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from _common.cli import fail
from spacy import registry

from spacy_connorm.encoders.devices import choose_device
from spacy_connorm.encoders.pretrained import MINILM, find_folder
from spacy_connorm.encoders.protocol import Encoder, encode, trainable
from spacy_connorm.evaluation.report import Row

# Dense bf16 TFLOP/s as NVIDIA's data sheets have them, by a part of the name that PyTorch gives;
# special cards come before the common one.
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
    RETURNS (List[Dict[str, Any]]): A row a transformer.
    """
    device = _use(arguments.device)
    peak = arguments.peak_tflops or peak_tflops(device)
    shapes = arguments.shape or [MINILM, str(random_bert(arguments.work))]
    return [_measure_one(name, texts, device, peak, arguments) for name in shapes]


def _use(device: str) -> str:
    """Choose a device; RETURNS (str): its name."""
    import torch

    if device == "cpu":
        return "cpu"
    if not torch.cuda.is_available():
        fail("There is no GPU that PyTorch can use, so nothing was measured on one.")
    choose_device(0)
    return torch.cuda.get_device_name()


def peak_tflops(device: str) -> float | None:
    """RETURNS (Optional[float]): The dense bf16 peak of a device by its name, if it is known."""
    return next((peak for name, peak in PEAKS.items() if name in device), None)


def random_bert(work: Path) -> Path:
    """Make a transformer of BERT-base's shape, unless there is one.

    work (Path): Keeps it.
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
    encoder = _load(name, batch=arguments.batch)
    module: Any = trainable(encoder)
    config = module.transformer.config
    flops = forward_flops(
        map(len, module.rows(list(texts))),
        layers=config.num_hidden_layers,
        width=config.hidden_size,
        inner=config.intermediate_size,
    )
    encode(encoder, texts)  # the first fills caches
    seconds = []
    for _ in range(arguments.repeats):
        start = perf_counter()
        encode(encoder, texts)
        seconds.append(perf_counter() - start)
    reached = flops / median(seconds) / 1e12
    return {
        "device": device,
        "shape": f"{config.num_hidden_layers} x {config.hidden_size}",
        "names": len(texts),
        "batch": arguments.batch,
        "repeats": len(seconds),
        "names_per_s": round(len(texts) / median(seconds)),
        "slowest": round(len(texts) / max(seconds)),
        "fastest": round(len(texts) / min(seconds)),
        "tflops": round(reached, 3),
        "peak_tflops": peak,
        "share_of_peak": 100 * reached / peak if peak else float("nan"),
    }


def _load(name: str, *, batch: int) -> Encoder:
    block = {
        "@architectures": "spacy-connorm.TransformerEncoder.v1",
        "name": name,
        "batch_size": batch,
        "transformer_config": {"torch_dtype": "bfloat16"},
    }
    encoder = registry.resolve({"encoder": block})["encoder"]
    encoder.initialize()
    return encoder


def forward_flops(lengths: Iterable[int], *, layers: int, width: int, inner: int) -> int:
    """Count the operations that a BERT needs for texts: products of matrices, each multiplication
    and each addition as one. What padding costs is not counted, as it is of no use.

    lengths (Iterable[int]): Tokens of each text.
    layers (int): Layers.
    width (int): Width of a token's vector.
    inner (int): Units of the layer between two of that width.
    RETURNS (int): Floating-point operations.
    """
    linear = 4 * width * width + 2 * width * inner
    return sum(layers * (2 * length * linear + 4 * length * length * width) for length in lengths)

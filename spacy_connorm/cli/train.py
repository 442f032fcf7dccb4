"""`connorm train` and `connorm encoder`: write encoders to folders."""

from typing import Any

import typer
from tqdm import tqdm
from wasabi import msg

from ..training import PoolReport, TrainingObserver, save_encoder, train
from ..training.training_run import is_main_process
from .app import command, parse_overrides
from .options import options_of


@command("train", overridable=True)
@options_of(train, flags={"gpu_id": "-g"}, hidden=("overrides", "observer"))
def train_cli(ctx: typer.Context, **given: Any) -> None:
    """Train an encoder on an ontology's synonyms.

    It also learns from annotated mentions. The folder that is written can be the `name` of an
    encoder in a concept normalizer. Checkpoints and logs are kept in OUT.checkpoints until then.

    Settings of the config can be overridden: --data.ontology doid.jsonl --training.seed 1

    Several GPUs: torchrun --nproc-per-node 4 -m spacy connorm train CONFIG OUT --gpu-id 0

    Example: connorm train assets/dan.cfg training/encoder
    """
    train(**given, overrides=parse_overrides(ctx), observer=_Show())
    if is_main_process():
        msg.good(f"Wrote the encoder: {given['output_path']}")


class _Show(TrainingObserver):
    def on_pool(self, report: PoolReport) -> None:
        rows = [(label, f"{count:,}") for label, count in report.lines()]
        msg.table(rows, aligns=("l", "r"))

    def on_epoch(self, epoch: float, loss: float) -> None:
        _show(f"Epoch {epoch:.0f}: loss {loss:.4f}")

    def on_dev_score(self, epoch: float, scores: dict[str, float]) -> None:
        listed = ", ".join(f"{name} {value:g}" for name, value in scores.items())
        _show(f"Dev after epoch {epoch:.1f}: {listed}")


def _show(line: str) -> None:
    with tqdm.external_write_mode():
        msg.text(line)


@command("encoder")
@options_of(save_encoder)
def encoder_cli(**given: Any) -> None:
    """Save a transformer from the hub, for use without a network.

    TransformerEncoder.v1 takes OUT as its `name`.

    Example: connorm encoder cambridgeltl/SapBERT-from-PubMedBERT-fulltext sapbert
    """
    path, width = save_encoder(**given)
    msg.good(f"Wrote the transformer, whose vectors have {width} components: {path}")

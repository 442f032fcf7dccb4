"""`connorm train`: an ontology, with or without annotated data, to an encoder."""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from spacy.util import registry
from spacy.vocab import Vocab
from thinc.api import Config
from wasabi import msg

from ..annotations.mentions import Mention, annotated_mentions
from ..annotations.synonyms import expanded_mentions
from ..concepts import Ontology
from ..encoders import encoder_inputs, require_trainable, trainable
from ..encoders.devices import choose_device
from ..errors import ConnormError, Errors
from ..evaluation.pipelines.gold import warn_of_strange_ids
from ..files.atomic import atomic_file
from ..files.configs import config_errors, read_config, require_sections
from ..files.docbin import read_docs
from ..files.folders import read_object, replaced, require_replaceable
from ..files.text import sha256
from ..ontology import read_ontology
from ..training.checkpoints import last_checkpoint
from ..training.config import TrainingData
from ..training.model_card import CardFacts, make_card
from ..training.pool import build_pool
from ..training.pool_report import PoolReport
from .app import command, parse_overrides

if TYPE_CHECKING:
    from ..training.dev_score import DevScore, ToSearch
    from ..training.trainer import Trained

_SECTIONS = ("encoder", "data", "training")
_LIBRARIES = ("torch", "transformers", "accelerate", "pytorch_metric_learning")
_CONFIG, _CARD, _ENCODER_CONFIG = "training.cfg", "README.md", "config.json"
_LEARNED = "learned.json"
_HYBRID, _NGRAMS = "spacy-connorm.HybridEncoder.v1", "spacy-connorm.NgramEncoder.v1"
_PROBE = "heart attack"


@command("train", overridable=True)
def train_cli(
    ctx: typer.Context,
    config_path: Path = typer.Argument(..., metavar="CONFIG", help="E.g. assets/dan.cfg."),
    output_path: Path = typer.Argument(..., metavar="OUT", help="The encoder's folder."),
    gpu_id: int = typer.Option(-1, "--gpu-id", "-g", help="GPU to train on; -1 for the CPU."),
    resume: bool = typer.Option(
        False, "--resume", help="Continue an interrupted run from OUT.checkpoints, exactly."
    ),
) -> None:
    """Train an encoder on the synonyms of an ontology and on annotated mentions, and write a folder
    that an encoder of a concept normalizer takes as its `name`. Checkpoints and logs stand in
    OUT.checkpoints until the encoder is written.

    Settings of the config can be overridden: --data.ontology doid.jsonl --training.seed 1

    Several GPUs: torchrun --nproc-per-node 4 -m spacy connorm train CONFIG OUT --gpu-id 0

    Example: python -m spacy connorm train assets/dan.cfg training/encoder
    """
    config = read_config(config_path, parse_overrides(ctx.args))
    train(config, output_path, gpu_id=gpu_id, resume=resume)
    if is_main_process():
        msg.good(f"Wrote the encoder: {output_path}")


def train(config: Config, output_path: Path, *, gpu_id: int = -1, resume: bool = False) -> None:
    """Train an encoder and write it.

    config (Config): Blocks [encoder], [data] and [training].
    output_path (Path): The folder to make or replace.
    gpu_id (int): The GPU; -1 for the CPU. Under torchrun each process takes its own instead.
    resume (bool): Continue an interrupted run.
    RAISES (ConnormError): CN711 for a wrong config, CN705 if something else is at the path, CN714
        if an interrupted run is there, CN715 if it was begun with another config, CN810 and CN811
        if there is nothing to learn, CN820 to CN826 as `run_training`.
    """
    require_sections(config, _SECTIONS)
    require_replaceable(output_path, is_ours=_is_encoder)
    _require_libraries()
    choose_device(int(os.environ.get("LOCAL_RANK", gpu_id)) if gpu_id >= 0 else gpu_id)
    with config_errors():
        blocks = registry.resolve({name: config[name] for name in _SECTIONS})
    data, training = blocks["data"], blocks["training"]
    require_trainable(blocks["encoder"])
    work = _begin(output_path, config, resume=resume)
    ontology = read_ontology(Path(data.ontology))
    mentions = list(_read_mentions(data.corpora, data))
    blocks["encoder"].initialize()
    pool, report = build_pool(
        ontology,
        mentions,
        inputs=partial(encoder_inputs, blocks["encoder"]),
        use_ontology=data.use_ontology,
        data_share=data.data_share,
    )
    _show(report)
    to_search = partial(_to_search, config=config, objective=training.objective)
    from ..training.trainer import run_training
    from .progress import ShowProgress

    trained = run_training(
        trainable(blocks["encoder"]),
        pool,
        training,
        folder=work,
        use_cpu=gpu_id < 0,
        score=_dev_score(config, data, ontology, mentions, to_search=to_search),
        resume=resume,
        callbacks=[ShowProgress(training.metric)],
    )
    if is_main_process():
        facts = CardFacts(
            encoder=config["encoder"],
            search=to_search({**config["encoder"], "name": str(output_path)}),
            config=config.to_str(),
            sources=[*_sources(data, ontology), *((k, str(v)) for k, v in report.lines())],
            trained=trained,
        )
        _write(trained, facts, config, output_path)
        _remove(work)


def is_main_process() -> bool:
    """RETURNS (bool): Whether this process writes; under torchrun one of them does."""
    return int(os.environ.get("RANK", 0)) == 0


def _require_libraries() -> None:
    for library in _LIBRARIES:
        if find_spec(library) is None:
            raise ConnormError(Errors.CN824.format(library=library))


def _is_encoder(folder: Path) -> bool:
    return "model_type" in read_object(folder / _ENCODER_CONFIG)


def _begin(output_path: Path, config: Config, *, resume: bool) -> Path:
    """Make the folder of checkpoints, or find what an interrupted run left in it."""
    output_path = output_path.resolve()
    work = output_path.with_name(f"{output_path.name}.checkpoints")
    begun_with = work / _CONFIG
    if resume:
        if not begun_with.is_file():
            raise ConnormError(Errors.CN822.format(path=work))
        if begun_with.read_text(encoding="utf8") != config.to_str():
            raise ConnormError(Errors.CN715.format(path=begun_with))
    elif is_main_process():
        if last_checkpoint(work) is not None:
            raise ConnormError(Errors.CN714.format(path=work))
        if work.exists() and any(work.iterdir()) and not begun_with.is_file():
            raise ConnormError(Errors.CN705.format(path=work))
        shutil.rmtree(work, ignore_errors=True)
        with atomic_file(begun_with) as aside:
            aside.write_text(config.to_str(), encoding="utf8")
    return work


def _read_mentions(paths: Sequence[str], data: TrainingData) -> Iterator[Mention]:
    vocab = Vocab()
    read = expanded_mentions if data.expand_abbreviations else annotated_mentions
    for path in paths:
        for doc in read_docs(Path(path), vocab):
            for mention in read(doc, spans_key=data.spans_key):
                if not data.labels or mention.label in data.labels:
                    yield mention


def _to_search(block: dict[str, Any], *, config: Config, objective: Any) -> dict[str, Any]:
    """Put n-grams beside an encoder that was trained to rank with them."""
    if not getattr(objective, "ranked", False):
        return block
    lexical = config["training"]["batcher"].get("lexical") or {"@architectures": _NGRAMS}
    both = {"dense": block, "lexical": lexical}
    return {"@architectures": _HYBRID, **objective.learned(), **both}


def _dev_score(
    config: Config,
    data: TrainingData,
    ontology: Ontology,
    mentions: Sequence[Mention],
    *,
    to_search: "ToSearch",
) -> "DevScore | None":
    if not data.dev:
        return None
    gold = list(_read_mentions(data.dev, data))
    if not any(mention.concept_ids for mention in gold):
        paths = ", ".join(data.dev)
        raise ConnormError(Errors.CN600.format(count=len(gold), path=paths, chosen=""))
    synonyms = [
        (mention.text, concept_id) for mention in mentions for concept_id in mention.concept_ids
    ]
    in_data = {concept_id for _, concept_id in synonyms}
    if not any(each in ontology or each in in_data for m in gold for each in m.concept_ids):
        example = next(iter(ontology)).concept_id
        warn_of_strange_ids(gold, Path(data.dev[0]), example=example)
    from ..training.dev_score import DevScore

    return DevScore(config["encoder"], ontology, synonyms, gold, to_search=to_search)


def _show(report: PoolReport) -> None:
    if is_main_process():
        rows = [(label, f"{count:,}") for label, count in report.lines()]
        msg.table(rows, aligns=("l", "r"))


def _sources(data: TrainingData, ontology: Ontology) -> Iterator[tuple[str, str]]:
    source = ontology.source
    yield "Ontology", f"{source.path} (SHA-256 {source.sha256})"
    if source.licence:
        yield "Its terms", source.licence
    for label, paths in (("Corpus", data.corpora), ("Dev corpus", data.dev)):
        for path in map(Path, paths):
            yield label, f"{path.name} (SHA-256 {sha256(path)})"


def _write(trained: "Trained", facts: CardFacts, config: Config, path: Path) -> None:
    with replaced(path, is_ours=_is_encoder) as folder:
        trained.module.save(folder)
        _require_sound(config, folder)
        (folder / _CARD).write_text(make_card(facts), encoding="utf8")
        (folder / _CONFIG).write_text(config.to_str(), encoding="utf8")
        if trained.learned:
            (folder / _LEARNED).write_text(json.dumps(trained.learned) + "\n", encoding="utf8")
        if trained.logs.is_dir():
            shutil.copytree(trained.logs, folder / trained.logs.name)


def _remove(work: Path) -> None:
    # Renamed first: half a folder would pass for an interrupted run.
    removed = work.with_name(f".{work.name}.removed")
    shutil.rmtree(removed, ignore_errors=True)
    work.rename(removed)
    shutil.rmtree(removed)


def _require_sound(config: Config, folder: Path) -> None:
    """Load what was written, as a pipeline will."""
    block = {**config["encoder"], "name": str(folder)}
    encoder = registry.resolve({"encoder": block})["encoder"]
    encoder.initialize()
    encoder.predict([_PROBE])

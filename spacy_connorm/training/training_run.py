"""Train an encoder from a config, and write its folder."""

import os
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from spacy.util import registry
from thinc.api import Config

from ..concepts import Ontology
from ..encoders import choose_device, encoder_inputs, require_trainable, trainable
from ..errors import Errors, require_installed
from ..files.atomic import require_apart, write_errors
from ..files.configs import config_errors, read_config
from ..files.folders import require_replaceable
from ..files.text import existing_file, sha256
from .checkpoints import remove_work, require_no_work, require_same_start, start_work, work_folder
from .config import (
    AnyObjective,
    TrainingData,
    TrainingObserver,
    read_mentions,
    warn_of_shared_files,
)
from .encoder_folder import CardFacts, is_encoder, write_encoder
from .pool import PoolReport, build_pool

if TYPE_CHECKING:
    from .trainer import Trained

_SECTIONS = ("encoder", "data", "training")
_LIBRARIES = ("torch", "transformers", "accelerate", "pytorch_metric_learning")
_HYBRID, _NGRAMS = "spacy-connorm.HybridEncoder.v1", "spacy-connorm.NgramEncoder.v1"
# The readers of ontologies are not imported here: training uses the registered one.
_ONTOLOGY = "spacy-connorm.Ontology.v1"


class TrainingResult(NamedTuple):
    """A trained encoder.

    path (Path): Its folder, the `name` of an encoder in a pipeline's config.
    pool_report (PoolReport): Counts of the texts and concepts that it learned from.
    trained (Trained): The encoder's module, the log and the dev scores.
    """

    path: Path
    pool_report: PoolReport
    trained: "Trained"


def train(
    config: str | Path | Config,
    output_path: str | Path,
    *,
    overrides: Mapping[str, Any] | None = None,
    gpu_id: int = -1,
    resume: bool = False,
    observer: TrainingObserver | None = None,
) -> TrainingResult:
    """Train an encoder on the synonyms of an ontology and on annotated mentions, and write it:
    `connorm train`. Checkpoints and logs are kept beside the folder, in
    `<output_path>.checkpoints`, until the encoder is written.

    config (Union[str, Path, Config]): A config, or its file, with blocks [encoder], [data] and
        [training].
    output_path (Union[str, Path]): The folder to create or replace.
    overrides (Optional[Mapping[str, Any]]): Settings by their dotted names, such as
        "training.seed".
    gpu_id (int): The GPU; -1 for the CPU. Under torchrun, each process uses its own GPU instead.
    resume (bool): Continue an interrupted training exactly where it stopped.
    observer (Optional[TrainingObserver]): Called with counts, losses and dev scores as they are
        computed.
    RETURNS (TrainingResult): The encoder; under torchrun one process writes it.
    RAISES (ConnormError): CN121 if the output would replace an input, CN108 if the disk is full,
        CN100 for a missing file, CN105 for a folder, CN711 for an invalid config, CN705 if
        something else is at the path, CN714 if an interrupted training is there, CN828 if it was
        started with another config, CN810 if there is nothing to learn, CN126 if a library
        is missing, CN828 if the training data has changed since the interrupted training started,
        CN839 for a share of D that the batcher would not draw, and the errors of `run_training`.
    WARNS (ConnormWarning): CNW810 for ids that are not in the ontology, CNW811 and CNW812 for
        documents that have no mentions or are also in `dev`.
    """
    config_path, output_path = config, Path(output_path)
    config = read_config(config, overrides)
    missing = [f"[{name}]" for name in _SECTIONS if not config.get(name)]
    if missing:
        raise Errors.CN711(reason=f"it has no {', '.join(missing)}")
    require_replaceable(output_path, is_ours=is_encoder)
    require_installed("Training", "train", *_LIBRARIES)
    choose_device(int(os.environ.get("LOCAL_RANK", gpu_id)) if gpu_id >= 0 else gpu_id)
    with config_errors():
        blocks = registry.resolve({name: config[name] for name in _SECTIONS})
    data, training, encoder = blocks["data"], blocks["training"], blocks["encoder"]
    if data.data_share is not None and training.batcher.each_once:
        raise Errors.CN839(batcher=type(training.batcher).__name__)
    require_trainable(encoder)
    work = work_folder(output_path)
    for folder in (output_path, work):
        inputs = (data.ontology, *data.corpora, *data.dev, config["encoder"].get("name"))
        require_apart(folder, config_path, *inputs)
    for path in (*data.corpora, *data.dev):
        existing_file(path)
    if resume:
        require_same_start(work, config, data.dev)
    elif is_main_process():
        require_no_work(work)
    ontology = registry.get("readers", _ONTOLOGY)(Path(data.ontology))()
    warn_of_shared_files(data)
    mentions = list(read_mentions(data.corpora, data))
    encoder.initialize()
    pool, report = build_pool(
        ontology,
        mentions,
        inputs=partial(encoder_inputs, encoder),
        use_ontology=data.use_ontology,
        data_share=data.data_share,
    )
    observer = observer or TrainingObserver()
    if is_main_process():
        observer.on_pool(report)
    from .dev_score import make_dev_score, score_saved
    from .trainer import Reporter, run_training

    block_of = partial(_block_to_search, config, training.objective)
    dev_score = make_dev_score(data, training, ontology, mentions)
    score = None if dev_score is None else partial(score_saved, score=dev_score, block_of=block_of)
    if is_main_process() and not resume:
        start_work(work, config, data.dev)
    with write_errors(work):
        trained = run_training(
            trainable(encoder),
            pool,
            training,
            folder=work,
            use_cpu=gpu_id < 0,
            score=score,
            resume=resume,
            callbacks=[Reporter(observer)] * is_main_process(),
        )
    if is_main_process():
        facts = CardFacts(
            search=block_of(output_path),
            metric=training.objective.metric,
            sources=[*_sources(data, ontology), *((k, str(v)) for k, v in report.lines())],
        )
        write_encoder(trained, facts, config, output_path)
        remove_work(work)
    logs = output_path / trained.logs.name
    return TrainingResult(output_path, report, trained._replace(logs=logs))


def is_main_process() -> bool:
    """Check whether this process writes files. Under torchrun, only one of them does.

    RETURNS (bool): True if it does.
    """
    return int(os.environ.get("RANK", 0)) == 0


def _block_to_search(config: Config, objective: AnyObjective, folder: Path) -> dict[str, Any]:
    """Make the config block of a trained encoder, together with the n-grams that it was trained to
    rank with, if any.
    """
    block = {**config["encoder"], "name": str(folder)}
    learned = objective.learned()
    if not learned:
        return block
    lexical = config["training"]["batcher"].get("lexical") or {"@architectures": _NGRAMS}
    return {"@architectures": _HYBRID, **learned, "dense": block, "lexical": lexical}


def _sources(data: TrainingData, ontology: Ontology) -> Iterator[tuple[str, str]]:
    source = ontology.source
    yield "Ontology", f"{source.path} (SHA-256 {source.sha256})"
    if source.licence:
        yield "Its terms", source.licence
    for label, paths in (("Corpus", data.corpora), ("Dev corpus", data.dev)):
        for path in map(Path, paths):
            yield label, f"{path.name} (SHA-256 {sha256(path)})"

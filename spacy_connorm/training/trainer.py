"""The training loop: `transformers.Trainer` over whole batches. Imports torch and transformers, so
import this module only inside functions.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, cast

import numpy as np
import torch
from accelerate.utils import send_to_device
from torch.utils.data import DataLoader
from transformers.trainer import Trainer
from transformers.trainer_callback import (
    EarlyStoppingCallback,
    PrinterCallback,
    ProgressCallback,
    TrainerCallback,
    TrainerState,
)
from transformers.trainer_utils import IntervalStrategy
from transformers.training_args import TrainingArguments

from ..encoders.protocol import GroundedModule, TrainableModule
from ..errors import Errors, require_choice
from ..files.progress import progress_bar
from ..index.search import COSINE
from .adapters import FinalWeights, trained_share
from .arguments import describe_hardware, make_arguments
from .batchers import Ranking
from .checkpoints import STATE, is_finished, kept_checkpoint, last_checkpoint
from .config import Training, TrainingObserver
from .micro_batches import BatchEncoder, BatchLoss, EpochBatches
from .objectives.objective import Objective
from .pool import SynonymPool

# Computes the dev scores of an encoder, by name; higher is better.
Score = Callable[[TrainableModule], dict[str, float]]


class Trained(NamedTuple):
    """The result of a training run.

    module (TrainableModule): The encoder with its `FinalWeights`: from the best epoch if there were
        dev data, otherwise from the last.
    arguments (Dict[str, Any]): All arguments of the trainer.
    history (List[Dict[str, float]]): The log, in order.
    best (Optional[Dict[str, float]]): The best dev scores.
    seconds (float): The duration; after a resume, since then.
    trained_share (float): The share of the weights that were trained, 0 to 1.
    learned (Dict[str, float]): The values that the objective learned.
    hardware (str): The devices or threads that it ran on.
    logs (Path): The folder of the reporters.
    """

    module: TrainableModule
    arguments: dict[str, Any]
    history: list[dict[str, float]]
    best: dict[str, float] | None
    seconds: float
    trained_share: float
    learned: dict[str, float]
    hardware: str
    logs: Path


def run_training(
    module: TrainableModule,
    pool: SynonymPool,
    training: Training,
    *,
    folder: Path,
    use_cpu: bool,
    score: Score | None = None,
    resume: bool = False,
    callbacks: Sequence[TrainerCallback] = (),
) -> Trained:
    """Train an encoder's module.

    module (TrainableModule): The module from `encoders.protocol`, changed in place.
    pool (SynonymPool): Texts and concepts.
    training (Training): The settings.
    folder (Path): The folder for checkpoints and logs; created if missing.
    use_cpu (bool): Whether to train on the CPU even if there is a GPU.
    score (Optional[Score]): Scores the encoder on dev data; the best epoch is kept.
    resume (bool): Whether to continue exactly from the last complete checkpoint in the folder.
    callbacks (Sequence[transformers.TrainerCallback]): Further callbacks.
    RETURNS (Trained): The result.
    RAISES (ConnormError): CN820 for a loss that is not finite, CN711 for invalid arguments of the
        trainer, CN822 if there is no checkpoint to resume from, CN118 if the dev data have no score
        of the wanted name, CN828 if the interrupted run had another pool, CN829 if its checkpoint
        is damaged, CN830 if the encoder can't be grounded.
    """
    arguments = make_arguments(training, folder, use_cpu=use_cpu, scored=score is not None)
    checkpoint = last_checkpoint(folder) if resume else None
    if resume and checkpoint is None:
        raise Errors.CN822(path=folder)
    final = FinalWeights(module, adapter=training.adapter, interpolation=training.interpolation)
    torch.manual_seed(training.seed)
    if isinstance(module, GroundedModule):
        module.fit(pool.texts, pool.members)
    training.objective.prepare(module)
    if training.adapter is not None:
        training.adapter.add(module)
    batches = EpochBatches(
        pool,
        training.batcher,
        module,
        micro_batch_tokens=training.micro_batch_tokens,
        seed=training.seed,
        folder=folder,
    )
    encoder = BatchEncoder(module, cache_gradients=training.cache_gradients)
    loss = BatchLoss(encoder, cast(Objective, training.objective))
    trainer = _ObjectiveTrainer(loss, batches, arguments, final=final, score=score)
    trainer.remove_callback(PrinterCallback)
    trainer.remove_callback(ProgressCallback)
    if score is not None and training.patience is not None:
        trainer.add_callback(EarlyStoppingCallback(early_stopping_patience=training.patience))
    for callback in (_Epochs(trainer), *callbacks):
        trainer.add_callback(callback)
    if not resume and trainer.is_world_process_zero():
        batches.remove_old()
    # The trainer must know the number of batches before the first epoch begins.
    trainer.begin_epoch(0)
    seconds = trainer.run(checkpoint)
    return Trained(
        module=final(module),
        arguments=arguments.to_sanitized_dict(),
        history=trainer.state.log_history,
        best=_find_best(trainer.state.log_history, training.metric),
        seconds=seconds,
        trained_share=trained_share(module),
        learned=training.objective.learned(),
        hardware=describe_hardware(arguments),
        logs=Path(arguments.logging_dir or folder / "runs"),
    )


def _find_best(history: list[dict[str, float]], metric: str) -> dict[str, float] | None:
    scored = [entry for entry in history if f"eval_{metric}" in entry]
    return max(scored, key=lambda entry: entry[f"eval_{metric}"]) if scored else None


class _ObjectiveTrainer(Trainer):
    """Computes the loss of whole batches."""

    def __init__(
        self,
        loss: BatchLoss,
        batches: EpochBatches,
        arguments: TrainingArguments,
        *,
        final: FinalWeights,
        score: Score | None,
    ) -> None:
        # The trainer requires evaluation data; `score` has its own.
        super().__init__(loss, arguments, train_dataset=batches, eval_dataset=[])
        self._loss = loss
        self._batches = batches
        self._final = final
        self._score = score

    def run(self, checkpoint: Path | None) -> float:
        """Train, from a checkpoint if there is one. Then close the process group that torchrun
        started: if it is still open at exit, its threads sometimes abort the interpreter.

        RETURNS (float): The duration in seconds.
        """
        seconds = 0.0
        try:
            if checkpoint is not None and is_finished(checkpoint):
                # Otherwise, the trainer would continue, since it forgets why it stopped.
                self.state = TrainerState.load_from_json(str(checkpoint / STATE))
                self._load_from_checkpoint(str(kept_checkpoint(checkpoint)))
            else:
                output = self.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
                seconds = output.metrics["train_runtime"]
            self.accelerator.wait_for_everyone()
        finally:
            self.accelerator.end_training()
        return seconds

    def begin_epoch(self, epoch: int) -> None:
        """Draw the batches of an epoch in one process; the other processes read them."""
        objective = self._loss.objective
        weight = objective.learned().get("lexical_weight", 0.0)
        ranking = Ranking(self._vectors, objective.metric == COSINE, weight)
        with self.args.main_process_first(local=False, desc="draw batches"):
            self._batches.begin_epoch(epoch, ranking)

    def _vectors(self, rows: np.ndarray) -> np.ndarray:
        with preserved_state(self._loss.encoder):
            vectors = np.empty((len(rows), 0), dtype="float32")
            for part, inputs in self._batches.micro_batches(rows):
                with self.accelerator.autocast():
                    encoded = self._loss.encoder.module(**self._prepare_inputs(inputs))
                if not vectors.shape[1]:
                    vectors = np.empty((len(rows), encoded.shape[1]), dtype="float32")
                vectors[part] = encoded.float().cpu().numpy()
        return vectors

    def get_train_dataloader(self) -> DataLoader:
        # If the last step of an epoch accumulated fewer batches, the trainer would lose its place
        # when resuming there. So the step is filled with the first batches.
        at_once = self.args.gradient_accumulation_steps * self.args.world_size
        count = len(self._batches)
        loader = DataLoader(
            self._batches,
            sampler=[step % count for step in range(-(-count // at_once) * at_once)],
            batch_size=1,
            collate_fn=itemgetter(0),
            num_workers=self.args.dataloader_num_workers,
            pin_memory=self.args.dataloader_pin_memory,
        )
        return self.accelerator.prepare(loader)

    def _prepare_inputs(self, inputs: Any) -> Any:
        # The trainer's own method does not move tensors in named tuples.
        return send_to_device(inputs, self.args.device)

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        with Errors.CN829.instead_of(Exception, path=resume_from_checkpoint):
            super()._load_from_checkpoint(resume_from_checkpoint, model)

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        with Errors.CN829.instead_of(Exception, path=checkpoint):
            super()._load_optimizer_and_scheduler(checkpoint)

    def _load_rng_state(self, checkpoint: str | None) -> None:
        with Errors.CN829.instead_of(Exception, path=checkpoint):
            super()._load_rng_state(checkpoint)

    def create_optimizer(self) -> torch.optim.Optimizer:
        created = self.optimizer is None
        optimizer = super().create_optimizer()
        if created:
            self._loss.separate_parameters(optimizer)
        return optimizer

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        learned = self._loss.objective.learned()
        super().log({**logs, **learned} if "loss" in logs else logs, start_time)

    # The other arguments of the two are for evaluation data, which this trainer never reads.
    def compute_loss(
        self, model: torch.nn.Module, inputs: dict[str, Any], *_: Any, **__: Any
    ) -> torch.Tensor:
        loss = model(**inputs)
        if not torch.isfinite(loss):
            self._stop("values of the loss")
        return loss

    def _save_checkpoint(self, model: torch.nn.Module, trial: Any) -> None:
        # Gradients that overflow after a finite loss are detected here first.
        if not all(torch.isfinite(weights).all() for weights in self._loss.parameters()):
            self._stop("weights")
        super()._save_checkpoint(model, trial)

    def _stop(self, what: str) -> NoReturn:
        raise Errors.CN820(what=what, step=self.state.global_step + 1, path=self.args.output_dir)

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        scores = [self._scores()]
        if torch.distributed.is_initialized():
            torch.distributed.broadcast_object_list(scores, src=0)
        metrics = {f"eval_{name}": value for name, value in scores[0].items()}
        wanted = self.args.metric_for_best_model
        require_choice("metric", str(wanted), scores[0])
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(
            self.args, self.state, self.control, metrics
        )
        return metrics

    def _scores(self) -> dict[str, float]:
        if self._score is None or not self.is_world_process_zero():
            return {}
        with preserved_state(self._loss.encoder):
            return self._score(self._final(self._loss.encoder.module))


class _Epochs(TrainerCallback):
    """Draws the batches of each epoch, and requests a log at its end, and a score of the last
    weights, which are saved, even if no scoring is due at the last step.
    """

    def __init__(self, trainer: _ObjectiveTrainer) -> None:
        self._begin_epoch = trainer.begin_epoch

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        # The trainer counts in fractions: resumed within the third epoch, it reports 2.4.
        self._begin_epoch(int(state.epoch or 0))

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        control.should_log = True

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if args.eval_strategy == IntervalStrategy.STEPS and state.global_step >= state.max_steps:
            control.should_evaluate = True


class Reporter(TrainerCallback):
    """Shows a progress bar of steps on a terminal, with the last loss, and passes epochs and dev
    scores to an observer. Of several processes, only the main one has it.
    """

    def __init__(self, observer: TrainingObserver) -> None:
        """Store the observer.

        observer (TrainingObserver): The observer.
        """
        self._observer = observer
        self._bar: Any = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._bar = progress_bar(unit="batches", total=state.max_steps, initial=state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._bar.update(state.global_step - self._bar.n)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._bar.close()

    def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if "loss" in kwargs["logs"]:
            loss = kwargs["logs"]["loss"]
            self._bar.set_postfix_str(f"epoch {state.epoch:.1f}, loss {loss:.4f}")
            if state.epoch == int(state.epoch) or state.global_step >= state.max_steps:
                self._observer.on_epoch(state.epoch, loss)

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        # The trainer adds the epoch.
        scores = {
            key.removeprefix("eval_"): value
            for key, value in kwargs["metrics"].items()
            if key.startswith("eval_")
        }
        best = args.metric_for_best_model
        self._observer.on_dev_score(state.epoch, {best: scores.pop(best), **scores})


@contextmanager
def preserved_state(model: torch.nn.Module) -> Iterator[None]:
    """Preserve training mode and random state; the block runs in evaluation mode without gradients.

    model (torch.nn.Module): The model in training.
    """
    was_training = model.training
    with torch.random.fork_rng(), torch.no_grad():
        model.eval()
        try:
            yield
        finally:
            model.train(was_training)

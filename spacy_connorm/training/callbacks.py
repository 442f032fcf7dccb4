"""Callbacks of the trainer. Imports transformers: import it in functions."""

from collections.abc import Callable
from typing import Any

from tqdm import tqdm
from transformers.trainer_callback import TrainerCallback
from transformers.trainer_utils import IntervalStrategy

from .observer import TrainingObserver


class BeginEpoch(TrainerCallback):
    """Draws the batches of each epoch."""

    def __init__(self, begin_epoch: Callable[[int], None]) -> None:
        """begin_epoch (Callable[[int], None]): Draws the batches of an epoch, by its number."""
        self._begin_epoch = begin_epoch

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        # The trainer counts in fractions: resumed within the third epoch, it says 2.4.
        self._begin_epoch(int(state.epoch or 0))


class ScoreLastStep(TrainerCallback):
    """Scores the last weights, which are saved, even if no scoring is due at the last step."""

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if args.eval_strategy == IntervalStrategy.STEPS and state.global_step >= state.max_steps:
            control.should_evaluate = True


class ProgressBar(TrainerCallback):
    """A bar of steps on a terminal, with the last loss."""

    def __init__(self) -> None:
        self._bar: tqdm | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.is_world_process_zero:
            self._bar = tqdm(
                total=state.max_steps,
                initial=state.global_step,
                unit=" batches",
                delay=2,
                leave=False,
                disable=None,
            )

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self._bar is not None:
            self._bar.update(state.global_step - self._bar.n)

    def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        loss = kwargs["logs"].get("loss")
        if self._bar is not None and loss is not None:
            self._bar.set_postfix_str(f"epoch {state.epoch:.1f}, loss {loss:.4f}")

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self._bar is not None:
            self._bar.close()


class Notify(TrainerCallback):
    """Passes epochs and dev scores on to an observer."""

    def __init__(self, observer: TrainingObserver) -> None:
        """observer (TrainingObserver): Who is told."""
        self._observer = observer
        self._logged_at = 0
        self._has_ended = False
        self._loss = 0.0

    def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        loss = kwargs["logs"].get("loss")
        if loss is None:
            return
        self._logged_at, self._loss = state.global_step, loss
        if self._has_ended:
            self._pass_on(state)

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        # The trainer logs nothing twice for one step.
        if self._logged_at == state.global_step:
            self._pass_on(state)
        else:
            self._has_ended = control.should_log = True

    def _pass_on(self, state: Any) -> None:
        self._has_ended = False
        if state.is_world_process_zero:
            self._observer.on_epoch(state.epoch, self._loss)

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.is_world_process_zero:
            # The trainer adds the epoch.
            scores = {
                key.removeprefix("eval_"): each
                for key, each in kwargs["metrics"].items()
                if key.startswith("eval_")
            }
            best = args.metric_for_best_model
            self._observer.on_dev_score(state.epoch, {best: scores.pop(best), **scores})

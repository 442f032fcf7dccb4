"""What the trainer is told to do besides. Imports transformers: import it in functions."""

from collections.abc import Callable
from typing import Any

from transformers.trainer_callback import TrainerCallback
from transformers.trainer_utils import IntervalStrategy


class BeginEpoch(TrainerCallback):
    """Lets the batches of an epoch be drawn."""

    def __init__(self, begin_epoch: Callable[[int], None]) -> None:
        """begin_epoch (Callable[[int], None]): Draws those of the epoch of this number."""
        self._begin_epoch = begin_epoch

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        # The trainer counts epochs in fractions: resumed in the midst of the third, it says 2.4.
        self._begin_epoch(int(state.epoch or 0))


class ScoreTheEnd(TrainerCallback):
    """Lets the last weights be scored, wherever the last step falls: they are saved too."""

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if args.eval_strategy == IntervalStrategy.STEPS and state.global_step >= state.max_steps:
            control.should_evaluate = True

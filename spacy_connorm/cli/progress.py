"""What a training shows of itself. Imports transformers: import it in functions."""

from typing import Any

from tqdm import tqdm
from transformers import TrainerCallback
from wasabi import msg


class ShowProgress(TrainerCallback):
    """A bar of steps on a terminal, and a line for each dev score everywhere."""

    def __init__(self, metric: str) -> None:
        """metric (str): The dev score that tells the best epoch."""
        self._metric = metric
        self._bar: tqdm | None = None
        self._loss: float | None = None

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
        self._loss = kwargs["logs"].get("loss", self._loss)
        if self._bar is not None and self._loss is not None:
            self._bar.set_postfix_str(f"epoch {state.epoch:.1f}, loss {self._loss:.4f}")

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self._bar is not None and self._loss is not None:
            self._show(f"Epoch {state.epoch:.0f}: loss {self._loss:.4f}")

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self._bar is not None:
            scores = {key.removeprefix("eval_"): each for key, each in kwargs["metrics"].items()}
            first = {self._metric: scores.pop(self._metric)}
            told = ", ".join(f"{name} {value:g}" for name, value in {**first, **scores}.items())
            self._show(f"Dev after epoch {state.epoch:.1f}: {told}")

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self._bar is not None:
            self._bar.close()

    @staticmethod
    def _show(line: str) -> None:
        with tqdm.external_write_mode():
            msg.text(line)

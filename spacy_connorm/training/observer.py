"""Callbacks of a training."""

from .pool_report import PoolReport


class TrainingObserver:
    """Its methods are called in the process that writes the encoder. A subclass overrides what
    it wants to know.
    """

    def on_pool(self, report: PoolReport) -> None:
        """Called before training starts.

        report (PoolReport): Counts of what there is to learn from.
        """

    def on_epoch(self, epoch: float, loss: float) -> None:
        """Called after every epoch.

        epoch (float): How many epochs are done.
        loss (float): The mean over its last batches.
        """

    def on_dev_score(self, epoch: float, scores: dict[str, float]) -> None:
        """Called after every dev score.

        epoch (float): How many epochs are done.
        scores (Dict[str, float]): In percent; the one that chooses the best epoch comes first.
        """

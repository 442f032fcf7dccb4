"""Cross-validation: mentions are held out, so that settings are judged on unseen ones."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

FOLDS = 10
SEED = 0


class Split(NamedTuple):
    """Mentions to fit to, and mentions to judge on.

    kept (Bools1d): bool (n,), the mentions to fit to.
    held_out (Bools1d): bool (n,), the mentions to judge on.
    """

    kept: np.ndarray
    held_out: np.ndarray


def make_folds(texts: Sequence[str], *, folds: int = FOLDS, seed: int = SEED) -> list[Split]:
    """Hold each mention out once. Mentions with the same text stay together, as they have the same
    answer: it would be known from the other folds.

    texts (Sequence[str]): n mentions, of at least as many different texts as folds.
    folds (int): The number of folds, with about equally many texts.
    seed (int): Of the random order of the texts.
    RETURNS (List[Split]): One split per fold.
    """
    distinct, text_of = np.unique(np.asarray([text.lower() for text in texts]), return_inverse=True)
    dealt = np.random.default_rng(seed).permutation(len(distinct)) % folds
    fold_of = dealt[text_of]
    return [Split(fold_of != fold, fold_of == fold) for fold in range(folds)]

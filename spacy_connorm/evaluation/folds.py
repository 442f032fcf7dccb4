"""Mentions held out, so that what is fitted to some is judged by others."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

FOLDS = 10
SEED = 0


class Split(NamedTuple):
    """Mentions to fit to, and those to judge by.

    kept (Bools1d): (n,), the former.
    held_out (Bools1d): (n,), the latter.
    """

    kept: np.ndarray
    held_out: np.ndarray


def make_folds(texts: Sequence[str], *, folds: int = FOLDS, seed: int = SEED) -> list[Split]:
    """Hold each mention out once. Mentions with one text stay together: they have one answer, and
    who knows it from elsewhere has not been tested.

    texts (Sequence[str]): n mentions, of at least as many different texts as there are folds.
    folds (int): How many parts of about equally many texts.
    seed (int): Of the order in which texts are dealt out.
    RETURNS (List[Split]): One a fold.
    """
    distinct, text_of = np.unique(np.asarray([text.lower() for text in texts]), return_inverse=True)
    dealt = np.random.default_rng(seed).permutation(len(distinct)) % folds
    fold_of = dealt[text_of]
    return [Split(fold_of != fold, fold_of == fold) for fold in range(folds)]

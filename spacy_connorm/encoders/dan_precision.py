"""How precisely a deep averaging network stores the vectors of its features."""

from typing import Literal

import numpy as np

Precision = Literal["float32", "float16", "int8"]
PRECISIONS = ("float32", "float16", "int8")
EMBEDDINGS = "embeddings.weight"
# The length of one step of each row, if rows are whole numbers of steps.
STEPS = "embeddings.step"
_LEVELS = 127


def round_weights(weights: dict[str, np.ndarray], dtype: Precision) -> dict[str, np.ndarray]:
    """Round the vectors of features. Those of layers stay as they are: they are few.

    weights (Dict[str, np.ndarray]): As in `Dan`, float32.
    dtype (str): "float32", "float16" or "int8": a component is then a multiple of 1/127 of the
        largest one of its row.
    RETURNS (Dict[str, np.ndarray]): The weights to store.
    """
    embeddings = weights[EMBEDDINGS]
    if dtype != "int8":
        return {**weights, EMBEDDINGS: embeddings.astype(dtype, copy=False)}
    steps = np.abs(embeddings).max(axis=1, initial=0) / np.float32(_LEVELS)
    shares = embeddings / np.where(steps > 0, steps, 1)[:, None]
    return {**weights, EMBEDDINGS: np.rint(shares).astype("int8"), STEPS: steps}


def restore_weights(weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """RETURNS (Dict[str, np.ndarray]): Rounded weights in float32, to go on training them."""
    everything = feature_vectors(weights, slice(None))
    others = {name: array for name, array in weights.items() if name != STEPS}
    return {**others, EMBEDDINGS: everything}


def feature_vectors(weights: dict[str, np.ndarray], ids: np.ndarray | slice) -> np.ndarray:
    """RETURNS (np.ndarray): The vectors of features, float32 (features, width)."""
    vectors = weights[EMBEDDINGS][ids].astype("float32", copy=False)
    return vectors * weights[STEPS][ids][:, None] if STEPS in weights else vectors


def mean_vectors(weights: dict[str, np.ndarray], ids: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Average the vectors of each text's features. Only the rows that are needed are read.

    weights (Dict[str, np.ndarray]): As `round_weights` returns them.
    ids (np.ndarray): Features, int32, text by text.
    bounds (np.ndarray): Shape (texts + 1,): text i has the features `ids[bounds[i] :
        bounds[i + 1]]`.
    RETURNS (np.ndarray): Shape (texts, width), float32; zeros for a text without features. A mean
        does not depend on the other texts.
    """
    embeddings, steps = weights[EMBEDDINGS], weights.get(STEPS)
    means = np.zeros((len(bounds) - 1, embeddings.shape[1]), dtype="float32")
    counts = np.diff(bounds)
    shares = np.repeat(1 / np.maximum(counts, 1).astype("float32"), counts)
    if steps is not None:
        shares *= steps[ids]
    # A product for each text reads less memory than one for all: rows are converted as they come.
    for text in np.flatnonzero(counts):
        own = slice(bounds[text], bounds[text + 1])
        means[text] = shares[own] @ embeddings[ids[own]].astype("float32", copy=False)
    return means

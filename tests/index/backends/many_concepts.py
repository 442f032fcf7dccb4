"""150 concepts of 20 names each: enough vectors for 120 lists, and queries near them."""

import numpy as np

from spacy_connorm.index.backends.ivf import IvfIndex
from spacy_connorm.index.vectors.kinds import from_raw

_RNG = np.random.default_rng(3)
CONCEPTS = _RNG.normal(size=(150, 24)).repeat(20, axis=0)
RAW = (CONCEPTS + 0.3 * _RNG.normal(size=CONCEPTS.shape)).astype("float32")
RAW[[5, 17, 2999]] = 0
VECTORS = from_raw(RAW)
QUERIES = from_raw((CONCEPTS[::60] + 0.3 * _RNG.normal(size=(50, 24))).astype("float32")).unit
SETTINGS = IvfIndex(lists=120, probes=20, exact_below=1000)

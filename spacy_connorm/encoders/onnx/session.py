"""An ONNX graph that survives forks and pickling. Imports onnxruntime, so import this module only
inside functions.
"""

import os
from contextlib import AbstractContextManager
from typing import Any
from weakref import WeakSet

import numpy as np

# Texts may be about patients. From 1.29 on, the wheels of ONNX Runtime report models and sessions
# to Microsoft unless this is set before the import. The reporting thread would also keep a forked
# process from ending.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
import onnxruntime

from ...errors import Errors
from ...files.threads import thread_count

_CPU = "CPUExecutionProvider"
# On a CPU, these fusions are slower than the separate operations: layer normalization eight times,
# in ONNX Runtime 1.31.
_SLOWER = ("SkipLayerNormFusion", "BiasGeluFusion")
_WARNING = 3

_OPEN: "WeakSet[GraphSession]" = WeakSet()


class GraphSession:
    """Opens an ONNX Runtime session on first use, and a new one after a fork: threads do not
    survive a fork, and a session without its threads never closes. Copies and pickles contain only
    the graph.
    """

    def __init__(self, graph: bytes) -> None:
        """Store the graph.

        graph (bytes): See `OnnxModel`.
        """
        self._graph = graph
        self._session: onnxruntime.InferenceSession | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"_graph": self._graph, "_session": None}

    def run(self, input_ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Compute vectors.

        input_ids (np.ndarray): Shape (texts, tokens), int64.
        mask (np.ndarray): Shape (texts, tokens), bool: False for padding.
        RETURNS (np.ndarray): Shape (texts, width), float32.
        RAISES (ConnormError): CN333 if the installed version can't run the graph.
        """
        if self._session is None:
            self._session = _open(self._graph)
            _OPEN.add(self)
        with _refusals():
            return np.asarray(self._session.run(None, {"input_ids": input_ids, "mask": mask})[0])


def _close_all() -> None:
    for session in list(_OPEN):
        session._session = None  # the next `run` opens a new one


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_close_all)


def _open(graph: bytes) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = thread_count()
    options.log_severity_level = _WARNING
    # Threads that keep spinning after a run would block the cores for the next step.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    with _refusals():
        return onnxruntime.InferenceSession(
            graph, options, providers=[_CPU], disabled_optimizers=_SLOWER
        )


def _refusals() -> AbstractContextManager[None]:
    return Errors.CN333.instead_of(Exception, tell=str, version=onnxruntime.__version__)

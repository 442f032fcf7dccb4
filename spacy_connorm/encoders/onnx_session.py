"""An ONNX graph that computes, whatever process it finds itself in. Imports onnxruntime: import it
in functions.
"""

import multiprocessing
import os
from typing import Any

import numpy as np
import onnxruntime

from ..errors import ConnormError, Errors

_CPU, _GPU = "CPUExecutionProvider", "CUDAExecutionProvider"
# What they join is slower on a processor than the single steps: layer normalization eight times in
# ONNX Runtime 1.31.
_SLOWER = ("SkipLayerNormFusion", "BiasGeluFusion")
_WARNING = 3


class GraphSession:
    """Opens ONNX Runtime when it is first needed, and again in a process that was forked: the
    threads of its parent are not there. Copies and pickles have only the graph.
    """

    def __init__(self, graph: bytes) -> None:
        """graph (bytes): As `OnnxModel` has it."""
        self._graph = graph
        # A forked process keeps its parent's session untouched: to close it, it would wait for ever
        # for threads that it does not have.
        self._sessions: dict[tuple[int, bool], onnxruntime.InferenceSession] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"_graph": self._graph, "_sessions": {}}

    def run(self, input_ids: np.ndarray, mask: np.ndarray, *, use_gpu: bool = False) -> np.ndarray:
        """Compute vectors.

        input_ids (np.ndarray): Shape (texts, tokens), int64.
        mask (np.ndarray): The same shape, bool: False where a token is padding.
        use_gpu (bool): Whether to compute on a GPU, if this build of ONNX Runtime can.
        RETURNS (np.ndarray): Shape (texts, width), float32.
        RAISES (ConnormError): CN333 if the installed version cannot read the graph.
        """
        key = os.getpid(), use_gpu
        if key not in self._sessions:
            self._sessions[key] = _open(self._graph, use_gpu=use_gpu)
        return self._sessions[key].run(None, {"input_ids": input_ids, "mask": mask})[0]


def thread_count() -> int:
    """RETURNS (int): The threads to compute with: one in a worker of another process, or else
    OMP_NUM_THREADS or the cores.
    """
    if multiprocessing.parent_process() is not None:
        return 1
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return int(asked) if asked.isdigit() else os.cpu_count() or 1


def _open(graph: bytes, *, use_gpu: bool) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = thread_count()
    options.log_severity_level = _WARNING
    usable = onnxruntime.get_available_providers()
    providers = [_GPU, _CPU] if use_gpu and _GPU in usable else [_CPU]
    try:
        return onnxruntime.InferenceSession(
            graph, options, providers=providers, disabled_optimizers=_SLOWER
        )
    except Exception as error:
        version = onnxruntime.__version__
        raise ConnormError(Errors.CN333.format(version=version, reason=error)) from error

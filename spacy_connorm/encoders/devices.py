"""The device that encoders compute on."""

from thinc.api import require_gpu

from ..errors import ConnormError, Errors


def choose_device(gpu_id: int) -> None:
    """Put everything that is loaded afterwards on a GPU.

    gpu_id (int): The GPU; -1 changes nothing: the CPU, unless a GPU was chosen before.
    RAISES (ConnormError): CN713 if there is no such GPU, or no library for it.
    """
    if gpu_id < 0:
        return
    try:
        require_gpu(gpu_id)
    except Exception as error:  # CuPy raises its own without a driver or for a missing device
        raise ConnormError(Errors.CN713.format(gpu_id=gpu_id, reason=error)) from error

"""The device that encoders compute on."""

from thinc.api import require_gpu

from ..errors import Errors


def choose_device(gpu_id: int) -> None:
    """Choose the device of all encoders that are loaded afterwards.

    gpu_id (int): The GPU, or -1 to change nothing.
    RAISES (ConnormError): CN713 if the GPU or a library for it is missing.
    """
    if gpu_id < 0:
        return
    try:
        require_gpu(gpu_id)
    except Exception as error:  # CuPy has its own errors if the driver or the device is missing
        raise Errors.CN713(gpu_id=gpu_id, reason=error) from error

"""The device that encoders compute on."""

from thinc.api import require_gpu

from ..errors import Errors


def choose_device(gpu_id: int) -> None:
    """Choose the device of all encoders that are loaded afterwards.

    gpu_id (int): The GPU, or -1 to change nothing.
    RAISES (ConnormError): CN713 if the GPU or a library for it is missing.
    """
    # CuPy has its own errors if the driver or the device is missing.
    with Errors.CN713.instead_of(Exception, gpu_id=gpu_id):
        if gpu_id >= 0:
            require_gpu(gpu_id)

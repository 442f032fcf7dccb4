"""The device on which encoders compute."""

from spacy.cli._util import setup_gpu

from ..errors import ConnormError, Errors


def choose_device(gpu_id: int) -> None:
    """Let everything that is loaded from now on compute on a GPU, or on the CPU.

    gpu_id (int): The GPU; -1 for the CPU.
    RAISES (ConnormError): CN713 if there is no such GPU or no library for it.
    """
    try:
        setup_gpu(gpu_id, silent=True)
    except Exception as error:  # CuPy's own where there is no driver, or no such device
        raise ConnormError(Errors.CN713.format(gpu_id=gpu_id, reason=error)) from error

"""How encoders refuse a setting."""

from typing import NoReturn

from ..errors import ConnormError, Errors


def refuse_setting(setting: str, expected: str) -> NoReturn:
    """Refuse the value of an encoder's setting.

    setting (str): The setting's name.
    expected (str): What it may be.
    RAISES (ConnormError): CN309.
    """
    raise ConnormError(Errors.CN309.format(setting=setting, expected=expected))

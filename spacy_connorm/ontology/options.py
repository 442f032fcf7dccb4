"""The settings of the readers of all formats."""

from collections.abc import Collection

from ..concepts import SCOPES
from ..errors import ConnormError, Errors

EXACT = "EXACT"
ALL_SCOPES = (EXACT, *map(str.upper, SCOPES))


def require_known(setting: str, values: Collection[str], known: Collection[str]) -> None:
    """Refuse unknown values of a reader's setting.

    setting (str): Its name.
    values (Collection[str]): Its values.
    known (Collection[str]): Those that are known.
    RAISES (ConnormError): CN118.
    """
    if unknown := [value for value in values if value not in known]:
        raise ConnormError(
            Errors.CN118.format(setting=setting, value=repr(unknown[0]), known=", ".join(known))
        )

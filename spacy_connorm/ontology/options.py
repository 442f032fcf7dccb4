"""The settings of the readers of all formats."""

from ..concepts import SCOPES

EXACT = "EXACT"
ALL_SCOPES = (EXACT, *map(str.upper, SCOPES))

"""Checks of settings that several formats share."""

from datetime import date

from ..errors import refuse


def today_if_empty(value: str) -> str:
    """Choose a date.

    value (str): `YYYY-MM-DD`, or nothing.
    RETURNS (str): The date; today's for nothing.
    RAISES (ConnormError): CN006 for what is no date.
    """
    if not value:
        return date.today().isoformat()
    try:
        return date.fromisoformat(value).isoformat()
    except (TypeError, ValueError):
        refuse("date", value, "a date such as 2024-05-31")

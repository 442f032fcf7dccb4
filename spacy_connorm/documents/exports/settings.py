"""Settings that several formats share."""

from dataclasses import dataclass
from datetime import date as Date

from ...errors import refuse


@dataclass(frozen=True, slots=True)
class Dated:
    """The settings of a format that tells when documents were annotated.

    date (str): `YYYY-MM-DD`; today if empty.
    """

    date: str = ""

    def __post_init__(self) -> None:
        self.day()

    def day(self) -> str:
        """RETURNS (str): The date.
        RAISES (ConnormError): CN006 if the setting is no date.
        """
        if not self.date:
            return Date.today().isoformat()
        try:
            return Date.fromisoformat(self.date).isoformat()
        except (TypeError, ValueError):
            refuse("date", self.date, "a date such as 2024-05-31")

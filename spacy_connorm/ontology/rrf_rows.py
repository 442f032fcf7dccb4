"""Stream the rows of UMLS release files by CUI, so that files of any size can be joined."""

from collections.abc import Collection, Iterator
from pathlib import Path

from ..errors import ConnormError, Errors, quote_id
from ..files.text import read_lines

RrfRow = list[str]
_AFTER_ALL_CUIS = "\U0010ffff"


def find_rrf(folder: Path, name: str) -> Path | None:
    """RETURNS (Optional[Path]): The file `name.RRF` or `name.RRF.gz` of a folder, if any."""
    files = (folder / f"{name}.RRF", folder / f"{name}.RRF.gz")
    return next((file for file in files if file.is_file()), None)


def read_groups(
    path: Path, *, width: int, containing: Collection[str] = ()
) -> Iterator[tuple[str, list[RrfRow]]]:
    """Read a file CUI by CUI.

    path (Path): A file sorted by its first column, CUI.
    width (int): The minimum number of columns.
    containing (Collection[str]): Read only lines that contain one of these strings.
    YIELDS (Tuple[str, List[RrfRow]]): A CUI and its rows.
    RAISES (ConnormError): CN115 for a row that is too short, CN116 if the file is not sorted,
        and what `read_lines` raises.
    """
    current = ""
    group: list[RrfRow] = []
    for number, line in read_lines(path):
        if containing and not any(text in line for text in containing):
            continue
        row = line.split("|")
        if len(row) < width:
            reason = f"{len(row)} columns, {width} expected"
            message = Errors.CN115.format(path=path, line=number, format="RRF", reason=reason)
            raise ConnormError(message)
        cui = row[0]
        if cui != current:
            if cui < current:
                found, before = quote_id(cui), quote_id(current)
                message = Errors.CN116.format(path=path, line=number, found=found, before=before)
                raise ConnormError(message)
            if group:
                yield current, group
            current, group = cui, []
        group.append(row)
    if group:
        yield current, group


class Follower:
    """The second side of a merge join: gives the rows of one file for the CUIs of another. Both are
    sorted by CUI.
    """

    def __init__(self, groups: Iterator[tuple[str, list[RrfRow]]]) -> None:
        """Start before the first CUI.

        groups (Iterator[Tuple[str, List[RrfRow]]]): From `read_groups`.
        """
        self._groups = groups
        self._cui = ""
        self._rows: list[RrfRow] = []

    def rows_of(self, cui: str) -> list[RrfRow]:
        """Read up to a CUI.

        cui (str): Not before the CUIs of earlier calls.
        RETURNS (List[RrfRow]): Its rows, if any.
        """
        while self._cui < cui:
            self._cui, self._rows = next(self._groups, (_AFTER_ALL_CUIS, []))
        return self._rows if self._cui == cui else []

    def finish(self) -> None:
        """Read to the end, so that unsorted rows there are found too."""
        self.rows_of(_AFTER_ALL_CUIS)

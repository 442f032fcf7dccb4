"""Rows of UMLS release files, streamed CUI by CUI, so that files of any size can be joined."""

from collections.abc import Collection, Iterator
from pathlib import Path

from ..errors import ConnormError, Errors
from ..files.text import read_lines

Row = list[str]
_AFTER_ALL_CUIS = "\U0010ffff"


def find_rrf(folder: Path, name: str) -> Path | None:
    """RETURNS (Optional[Path]): The file `name.RRF` of a folder, perhaps compressed."""
    files = (folder / f"{name}.RRF", folder / f"{name}.RRF.gz")
    return next((file for file in files if file.is_file()), None)


def read_groups(
    path: Path, *, width: int, containing: Collection[str] = ()
) -> Iterator[tuple[str, list[Row]]]:
    """Read the rows of one CUI at a time.

    path (Path): A file sorted by its first column, CUI.
    width (int): How many columns a row must have at least.
    containing (Collection[str]): Read only lines that contain one of these strings.
    YIELDS (Tuple[str, List[Row]]): A CUI and its rows.
    RAISES (ConnormError): CN115 for a row that is too short, CN116 if the file is not sorted,
        and what `read_lines` raises.
    """
    current = ""
    group: list[Row] = []
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
                message = Errors.CN116.format(path=path, line=number, found=cui, before=current)
                raise ConnormError(message)
            if group:
                yield current, group
            current, group = cui, []
        group.append(row)
    if group:
        yield current, group


class Follower:
    """The merge join: rows of one file, asked for by CUIs that ascend as another file's do."""

    def __init__(self, groups: Iterator[tuple[str, list[Row]]]) -> None:
        """Start before the first CUI.

        groups (Iterator[Tuple[str, List[Row]]]): From `read_groups`.
        """
        self._groups = groups
        self._cui = ""
        self._rows: list[Row] = []

    def rows_of(self, cui: str) -> list[Row]:
        """Read on as far as a CUI.

        cui (str): Must not come before one that was asked for earlier.
        RETURNS (List[Row]): Its rows, perhaps none.
        """
        while self._cui < cui:
            self._cui, self._rows = next(self._groups, (_AFTER_ALL_CUIS, []))
        return self._rows if self._cui == cui else []

    def finish(self) -> None:
        """Read on to the end: a row out of order there would be lost without a word."""
        self.rows_of(_AFTER_ALL_CUIS)

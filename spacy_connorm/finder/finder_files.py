"""Files that list what a mention finder must not find."""

from pathlib import Path

from ..files.text import read_lines
from ..text.everyday_words import frequent_words


def read_everyday_words(path: str | Path, per_million: float) -> list[str]:
    """path (Union[str, Path]): A file of plain text.
    per_million (float): How many of a million words a frequent one makes up, at least.
    RETURNS (List[str]): Its frequent words.
    RAISES (ConnormError): CN100, CN105, CN106 and CN107 for a file that can't be read.
    """
    return frequent_words((line for _, line in read_lines(path)), per_million=per_million)


def read_stop_list(path: str | Path) -> list[str]:
    """path (Union[str, Path]): A file with one text per line.
    RETURNS (List[str]): The texts.
    RAISES (ConnormError): As `read_everyday_words`.
    """
    return [text for _, line in read_lines(path) if (text := line.strip())]

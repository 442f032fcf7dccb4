"""Files that list what a mention finder must not find."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from ..files.text import read_lines
from ..text.word_bags import STOP_WORDS, normalized_words

_MILLION = 1_000_000


def frequent_words(lines: Iterable[str], *, per_million: float) -> list[str]:
    """Find the words that are frequent in a text.

    lines (Iterable[str]): The lines of the text.
    per_million (float): How many of a million words a frequent one makes up, at least.
    RETURNS (List[str]): These words as `normalized_words` gives them, most frequent first.
    """
    counts = Counter(word for line in lines for word in normalized_words(line))
    least = per_million * counts.total() / _MILLION
    return [
        word
        for word, count in counts.most_common()
        if count >= least and word not in STOP_WORDS and word.isalpha()
    ]


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

"""Files that list texts that a mention finder must not find."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from ..files.text import read_lines
from ..text.word_bags import STOP_WORDS, normalized_words

_MILLION = 1_000_000


def frequent_words(lines: Iterable[str], *, per_million: float) -> list[str]:
    """Find the frequent words of a text.

    lines (Iterable[str]): The lines of the text.
    per_million (float): How often a word occurs in a million words, at least, to count as frequent.
    RETURNS (List[str]): These words in the form of `normalized_words`, the most frequent first.
    """
    counts = Counter(word for line in lines for word in normalized_words(line))
    least = per_million * counts.total() / _MILLION
    return [
        word
        for word, count in counts.most_common()
        if count >= least and word not in STOP_WORDS and word.isalpha()
    ]


def read_everyday_words(path: str | Path, per_million: float) -> list[str]:
    """Find the frequent words of a file.

    path (Union[str, Path]): A file of plain text.
    per_million (float): How often a word occurs in a million words, at least, to count as frequent.
    RETURNS (List[str]): The words, the most frequent first.
    RAISES (ConnormError): CN100, CN105, CN106 and CN107 for a file that can't be read.
    """
    return frequent_words((line for _, line in read_lines(path)), per_million=per_million)


def read_stop_list(path: str | Path) -> list[str]:
    """Read a list of texts that are never mentions.

    path (Union[str, Path]): A file with one text per line.
    RETURNS (List[str]): The texts.
    RAISES (ConnormError): The errors of `read_everyday_words`.
    """
    return [text for _, line in read_lines(path) if (text := line.strip())]

"""Find names in scripts that write no spaces between words, where a token is a character or a word:
any tokens in a row that are written as a name.
"""

import re
from collections.abc import Iterator
from itertools import accumulate, pairwise, takewhile

import numpy as np

from ..documents.token_texts import JoinedTexts
from ..text.bag_hashes import hash_bag
from .known_names import KnownNames
from .name_windows import Windows

# Chinese characters, and the two alphabets of Japanese.
_SCRIPT = re.compile(r"[\u3005\u3041-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_MOST_TOKENS = 20


def count_letters(text: str) -> int:
    """Count the letters and digits of a word. A character of these scripts says as much as two
    letters of an alphabet: "头痛" is not too short to be a mention.

    text (str): The word.
    RETURNS (int): Their number.
    """
    return len(text) + len(_SCRIPT.findall(text))


def find_unspaced(texts: JoinedTexts, known: KnownNames) -> Windows:
    """Find the windows that are written as names.

    texts (JoinedTexts): The documents.
    known (KnownNames): The names.
    RETURNS (Windows): The windows; none in other scripts.
    """
    places = list(_candidates(texts)) if _SCRIPT.search(texts.text) else []
    starts, ends, names = zip(*places, strict=True) if places else ((), (), ())
    values = np.array([hash_bag(known.index.words.bag(name)) for name in names], dtype="uint64")
    matching = known.contain(values)
    count = int(matching.sum())
    return Windows(
        np.array(starts, "int64")[matching],
        np.array(ends, "int64")[matching],
        values[matching],
        np.array([*map(count_letters, names)], "int32")[matching],
        np.ones(count),
        np.zeros(count, "bool"),
    )


def _candidates(texts: JoinedTexts) -> Iterator[tuple[int, int, str]]:
    """YIELDS (Tuple[int, int, str]): The first token, the token after it, and the text of each
    window that may be a name.
    """
    bounds = pairwise([*texts.starts, len(texts.text)])
    tokens = [texts.text[start:end] for start, end in bounds]
    for start in range(len(tokens)):
        run = takewhile(str.isalnum, tokens[start : start + _MOST_TOKENS])
        for size, text in enumerate(accumulate(run), start=1):
            if _SCRIPT.search(text):
                yield start, start + size, text

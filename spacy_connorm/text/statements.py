"""Find where the statements of a note begin: sentences, but also list items and headings."""

import re
from collections.abc import Sequence

_ENDS = frozenset(".!?")
# Headings of an examination or a review of systems, which notes also write on one line: "Lungs: no
# wheeze Heart: murmur".
_HEADINGS = frozenset(
    (
        "abd",
        "abdomen",
        "cardiac",
        "cardio",
        "cardiovascular",
        "chest",
        "constitutional",
        "cv",
        "cvs",
        "derm",
        "ears",
        "endo",
        "endocrine",
        "ent",
        "ext",
        "extremities",
        "eyes",
        "gen",
        "general",
        "gi",
        "gu",
        "heart",
        "heent",
        "heme",
        "lungs",
        "msk",
        "musculoskeletal",
        "neck",
        "neuro",
        "neurologic",
        "neurological",
        "psych",
        "pulm",
        "pulmonary",
        "resp",
        "respiratory",
        "skin",
    )
)
_CONTINUED = re.compile(r"(?:,|\b(?:and|or|of|with|the|no|without))\s*\Z", re.IGNORECASE)


def find_statements(words: Sequence[str]) -> list[int]:
    """Find the words that begin a statement. A statement ends with its sentence, with an empty
    line, with a line if the next one does not continue in lower case, and before the heading of a
    part of an examination.

    words (Sequence[str]): The words and signs of a text; white space with a line break is a word,
        too.
    RETURNS (List[int]): Their numbers, in order; 0 is the first, if there are any.
    """
    starts = [0] if words else []
    for number, word in enumerate(words[1:], start=1):
        before, earlier = words[number - 1], words[max(0, number - 2) : number - 1]
        if (
            # The tokenizer takes "on d/c." for "d", "/" and "c."
            (before.endswith(".") and earlier == ["/"])
            or (before in _ENDS and not _is_initial(before, earlier, word))
            or _is_line_end(before, earlier, word)
            or (words[number + 1 : number + 2] == [":"] and word.lower() in _HEADINGS)
        ):
            starts.append(number)
    return starts


def _is_initial(sign: str, before: Sequence[str], word: str) -> bool:
    """Check whether a full stop belongs to a name such as "E. coli"."""
    is_letter = sign == "." and any(len(each) == 1 and each.isupper() for each in before)
    return is_letter and word[:1].islower()


def _is_line_end(white_space: str, before: Sequence[str], word: str) -> bool:
    if "\n" not in white_space:
        return False
    if white_space.count("\n") > 1:
        return True
    return not (word[:1].islower() or any(map(_CONTINUED.search, before)))

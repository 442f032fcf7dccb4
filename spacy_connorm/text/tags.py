"""Tags that terminologies add to names and that nobody writes in a text."""

import re

# Semantic tags of SNOMED CT's fully specified names: the redundant ones that Fivez et al. 2021 list
# (appendix A, disorders and neighbours), and other common ones. "disease" is Mondo's.
_IN_BRACKETS = frozenset(
    {
        "administrative concept",
        "assessment scale",
        "attribute",
        "body structure",
        "cell",
        "cell structure",
        "clinical",
        "clinical drug",
        "context-dependent category",
        "disease",
        "disorder",
        "environment",
        "event",
        "finding",
        "function",
        "medicinal product",
        "morphologic abnormality",
        "nec",
        "nos",
        "observable entity",
        "occupation",
        "organism",
        "person",
        "physical force",
        "physical object",
        "procedure",
        "product",
        "qualifier value",
        "record artifact",
        "regime/therapy",
        "situation",
        "social concept",
        "specimen",
        "staging scale",
        "substance",
        "tumor staging",
    }
)
# UMLS marks homonyms, ICD and SNOMED residual classes, OMIM old and included titles. "NEC" needs
# its comma, since it is also necrotizing enterocolitis; "unspecified", since "type" may precede it.
_ENDINGS = (
    " [ambiguous]",
    " nos",
    ", nec",
    ", unspecified",
    ", not elsewhere classifiable",
    ", not elsewhere classified",
    ", not otherwise specified",
    " not otherwise specified",
    ", formerly",
    ", included",
)
# Chapters of Read codes, OBO's mark of retired terms, ICD's residual classes.
_BEGINNINGS = ("[d]", "[m]", "[q]", "[so]", "[v]", "[x]", "obsolete ", "unspecified ")


def strip_tags(text: str) -> str:
    """Remove the tags of SNOMED CT, UMLS, ICD, OMIM, OBO and Read codes from both ends of a name:
    "Asthma (disorder)", "Asthma, NOS", "Cold <1>", "[X]Asthma".

    text (str): A cleaned text.
    RETURNS (str): The text without its tags; empty if it had nothing else.
    """
    # Lower-casing may change the length of a text, but not of ASCII.
    lowered = text.lower() if text.isascii() else "".join(map(_lower_ascii, text))
    start, end = 0, len(text)
    while (after := _skip_beginning(lowered, start)) > start:
        start = after
    while (before := _skip_ending(lowered, start, end)) < end:
        end = before
    return text[start:end].rstrip(" ,") if end - start < len(text) else text


def _lower_ascii(character: str) -> str:
    return character.lower() if character.isascii() else character


# Both work in place: copying the rest of the text for each tag would take quadratic time.
def _skip_beginning(lowered: str, start: int) -> int:
    """RETURNS (int): The end of the tag that starts at `start`, or `start` if there is none."""
    if not lowered.startswith(_BEGINNINGS, start):
        return start
    start += next(len(tag) for tag in _BEGINNINGS if lowered.startswith(tag, start))
    while lowered.startswith(" ", start):
        start += 1
    return start


def _skip_ending(lowered: str, start: int, end: int) -> int:
    """RETURNS (int): The start of the tag that ends at `end`, or `end` if there is none."""
    bare = end
    while lowered.endswith((" ", ","), start, bare):
        bare -= 1
    if lowered.endswith(_ENDINGS, start, bare):
        return bare - next(len(tag) for tag in _ENDINGS if lowered.endswith(tag, start, bare))
    for opening, closing in ("()", "<>"):
        if not lowered.endswith(closing, start, bare):
            continue
        bracket = lowered.rfind(opening, start, bare)
        if bracket >= 0 and _is_tag(opening, lowered[bracket + 1 : bare - 1]):
            while lowered.endswith(" ", start, bracket):
                bracket -= 1
            return bracket
    return end


def _is_tag(opening: str, inside: str) -> bool:
    return inside in _IN_BRACKETS if opening == "(" else inside.isdecimal()


_MOST_COMMAS = 2
_COMMA = re.compile(" ?, ")
# Such words start a qualifier of the whole name, which belongs at its end.
_STAYS = re.compile(
    r"^(?:and|as|associated|by|due|from|in|of|or|secondary|susceptibility|to|with|without)\b"
    r"|\b(?:and|or|to)$|\b(?:and|or)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+[A-Za-z]?|[IVX]+")


def turn_inversion(text: str) -> str:
    """Move the qualifiers of an inverted name before its head: "Leukemia, Myeloid, Acute" becomes
    "Acute Myeloid Leukemia", "Tooth Agenesis, Selective, 6" "Selective Tooth Agenesis 6". Names
    with a conjunction, a qualifier such as "due to ..." or more than two commas do not change. A
    list of two ("nausea, vomiting") looks like an inverted name, so it changes too.

    text (str): A cleaned text.
    RETURNS (str): The name in natural order.
    """
    if ", " not in text or text.count(",") > _MOST_COMMAS:
        return text
    head, *qualifiers = _COMMA.split(text)
    if any(not part.strip(", ") or _STAYS.search(part) for part in (head, *qualifiers)):
        return text
    if any(part.endswith(",") for part in (head, *qualifiers)):
        return text
    number = qualifiers.pop() if _NUMBER.fullmatch(qualifiers[-1]) else ""
    return " ".join([*reversed(qualifiers), head, number])

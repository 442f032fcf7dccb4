"""How a term is related to the concept that was found for it, and what that is based on."""

from typing import NamedTuple

from ..text.word_bags import word_bag

EXACT, CLOSE = "skos:exactMatch", "skos:closeMatch"
BROAD, NARROW = "skos:broadMatch", "skos:narrowMatch"
LEXICAL = "semapv:LexicalMatching"
SPELLING = "semapv:LexicalSimilarityThresholdMatching"
MEANING = "semapv:SemanticSimilarityThresholdMatching"
# Words of code lists that make no difference.
_EMPTY = frozenset(["nos", "unspecified"])
# Words after which a term does not say more than a name, but something else.
_TURNING = frozenset(["except", "excluding", "no", "non", "not", "other", "without"])


class Relation(NamedTuple):
    """What is claimed of a term and a concept.

    predicate (str): Of SKOS.
    justification (str): Of the semantic mapping vocabulary.
    match_string (str): The text that both share; empty if they share none.
    """

    predicate: str
    justification: str
    match_string: str


def find_relation(term: str, name: str, *, is_exact: bool, by_spelling: bool) -> Relation:
    """Find what can be claimed of a term and the concept with a name.

    term (str): The term.
    name (str): The name of the concept that was found for it.
    is_exact (bool): Whether it names the concept exactly, as its ontology says.
    by_spelling (bool): Whether the encoder compares spellings, not meanings.
    RETURNS (Relation): The same words are an exact match, in any order and inflection, and without
        "unspecified" and "NOS". If the term says more than the name, the concept is broader; if it
        says less, narrower.
    """
    ours, theirs = _words(term), _words(name)
    if ours == theirs:
        return Relation(EXACT if is_exact else CLOSE, LEXICAL, name)
    predicate = CLOSE
    if is_exact and not (ours ^ theirs) & _TURNING:
        predicate = BROAD if theirs < ours else NARROW if ours < theirs else CLOSE
    return Relation(predicate, SPELLING if by_spelling else MEANING, "")


def _words(text: str) -> frozenset[str]:
    words = frozenset(word_bag(text))
    # Signs alone have no words.
    return (words - _EMPTY) or words or frozenset([text.casefold()])

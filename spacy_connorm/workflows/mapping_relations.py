"""The relation that a mapping claims between a term and a concept."""

from typing import NamedTuple

from ..text.words import Words

EXACT, CLOSE = "skos:exactMatch", "skos:closeMatch"


BROAD, NARROW = "skos:broadMatch", "skos:narrowMatch"


LEXICAL = "semapv:LexicalMatching"


SPELLING = "semapv:LexicalSimilarityThresholdMatching"


MEANING = "semapv:SemanticSimilarityThresholdMatching"


class Relation(NamedTuple):
    """The claimed relation between a term and a concept.

    predicate (str): A SKOS predicate.
    justification (str): A term of the semantic mapping vocabulary.
    match_string (str): The text that both share; empty if they share none.
    """

    predicate: str
    justification: str
    match_string: str


def find_relation(
    term: str, name: str, words: Words, *, is_exact: bool, by_spelling: bool
) -> Relation:
    """Find the relation between a term and the concept with a name.

    term (str): The term.
    name (str): The name of the concept that was found for it.
    words (Words): Reads the words of their language.
    is_exact (bool): Whether it is an exact name of the concept in its ontology.
    by_spelling (bool): Whether the encoder compares spellings, not meanings.
    RETURNS (Relation): An exact match if both have the same words, in any order and inflection,
        ignoring "unspecified" and "NOS". If the term has all words of the name and more, the
        concept is broader; in the reverse case, narrower.
    """
    ours, theirs = _words(term, words), _words(name, words)
    if ours == theirs:
        return Relation(EXACT if is_exact else CLOSE, LEXICAL, name)
    predicate = CLOSE
    if is_exact and not (ours ^ theirs) & words.classes.turning_words:
        predicate = BROAD if theirs < ours else NARROW if ours < theirs else CLOSE
    return Relation(predicate, SPELLING if by_spelling else MEANING, "")


def _words(text: str, words: Words) -> frozenset[str]:
    bag = frozenset(words.bag(text))
    # A text of signs has no words.
    return (bag - words.classes.residual_words) or bag or frozenset([text.casefold()])


RELATED = "skos:relatedMatch"


PREDICATES = (EXACT, CLOSE, BROAD, NARROW, RELATED)

"""More names to train on: those of the ontology, in other words."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ..concepts import Concept
from ..text.paraphrases import Paraphraser
from ..text.substitutions import Substitution
from ..text.word_bags import word_bag

# A substitution that is right less often than this teaches more wrong names than right ones.
_MIN_CERTAINTY = 0.5


def with_paraphrases(
    concepts: Iterable[Concept], substitutions: Iterable[Substitution], *, limit: int
) -> Iterator[Concept]:
    """Add paraphrases of its names to each concept. Those that name another concept, or that two
    concepts would get, are left out.

    concepts (Iterable[Concept]): O, with all concepts in memory.
    substitutions (Iterable[Substitution]): Words that stand in place of each other; those with a
        certainty under 0.5 are not used.
    limit (int): At most how many each concept gets, the most certain ones.
    YIELDS (Concept): The concepts, with more synonyms.
    """
    concepts = list(concepts)
    paraphraser = Paraphraser(substitutions, min_certainty=_MIN_CERTAINTY)
    known = {word_bag(name) for concept in concepts for name in concept.names}
    made = [_paraphrase(concept, paraphraser) for concept in concepts]
    owners = Counter(bag for each in made for bag in each)
    for concept, by_bag in zip(concepts, made, strict=True):
        own = [text for bag, text in by_bag.items() if bag not in known and owners[bag] == 1]
        yield replace(concept, aliases=(*concept.aliases, *own[:limit]))


def _paraphrase(concept: Concept, paraphraser: Paraphraser) -> dict[tuple[str, ...], str]:
    """RETURNS (Dict[Tuple[str, ...], str]): The best paraphrase of each bag of words, the most
    certain first.
    """
    found = (each for name in _distinct(concept.names) for each in paraphraser.paraphrase(name))
    best: dict[tuple[str, ...], str] = {}
    for text, _ in sorted(found, key=lambda each: (-each.certainty, each.text)):
        best.setdefault(word_bag(text), text)
    return best


def _distinct(names: Sequence[str]) -> Iterable[str]:
    """RETURNS (Iterable[str]): The first of the names with the same words."""
    by_bag: dict[tuple[str, ...], str] = {}
    for name in names:
        by_bag.setdefault(word_bag(name), name)
    return by_bag.values()

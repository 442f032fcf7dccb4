"""Names that an ontology leaves out because they follow from others. A "posterior subcapsular
cataract" is a "subcapsular cataract", which is also called "subcapsular opacity", so that a text
may speak of a "posterior subcapsular opacity". What is called increased in two ways is decreased in
both, too: "increased bone density" tells what a "reduced bone density" is. What has a mild and a
severe form is named by what their names have in common. What is named by its side and its organ,
"trigger thumb, left thumb", is named by its side alone. And texts leave out what names have in
brackets or say to be unspecified, "generalized tonic-clonic seizure (without specification of
onset)" and "burn of unspecified degree of left ear", or say twice, "diabetes with diabetic
neuropathy"; "type" before a number, "Usher syndrome type 1"; "caused" in "pneumonia caused by
Legionella"; and the salt of a drug and how it is taken, "metoprolol tartrate 50 MG Oral Tablet";
and that something is measured, "creatinine measurement, serum".
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, permutations
from typing import TypeAlias

from ..concepts import Concept
from ..text.cleaning import clean, drop_asides, find_asides
from ..text.words import Words

Bag: TypeAlias = tuple[str, ...]
# Parents and their parents: the names of broader concepts are rarely inside others.
_GENERATIONS = 2
# Texts do not write longer names in other words.
_LONGEST = 8
# Concepts with more names mostly have one for each order and form of the words.
_MOST = 30
# "Acute" and "chronic" may be different diseases.
_FEWEST_GRADES = 3
# The minimum number of words of a name with a grade: "infection" is not any severe infection.
_FEWEST_GRADED = 3
# The minimum number of words of a name without its brackets, and the last sign of a synonym.
_FEWEST_WITHOUT_ASIDE, _SYNONYM_END = 2, "]"
# The strength of a drug, "40 MG", and its brand: "Oral Tablet [Lipitor]".
_STRENGTH = re.compile(r"(?<=[^\W\d_] )\d[\d.]* (?:[A-Z]{1,4}\b|%)")
_BRAND = " ["
# The maximum number of words after "type": "1A".
_LONGEST_KIND = 2
# The number of letters that show that an adjective and a noun are of one family: "diabetic".
_STEM = 6
# The minimum number of letters of a word that may stand beside any name.
_SHORTEST_WORD = 3


def implied_names(concepts: Iterable[Concept], words: Words) -> dict[Bag, Bag]:
    """List the names that follow from others. A name of a broader concept, inside the name of a
    concept, is replaced by another one that says as much; names of several concepts stand for no
    other ones. What is of another amount has the names of its opposite. A broader concept has the
    names of its grades, a narrower one those of the broader one with its side, and each its own
    without what is in brackets or unspecified, and without what texts do not say.

    concepts (Iterable[Concept]): The ontology.
    words (Words): Reads the words of its language.
    RETURNS (Dict[Tuple[str, ...], Tuple[str, ...]]): The words of the name that each stands for, by
        its own words. Those that follow for several concepts are left out.
    """
    listed = {concept.concept_id: concept for concept in concepts}
    names = {number: _names_of(concept, words) for number, concept in listed.items()}
    owners = Counter(chain.from_iterable(names.values()))
    found = defaultdict[Bag, dict[str, Bag]](dict)
    for number in listed:
        for broader in _broader(number, listed):
            others = [bag for bag in names[broader] if owners[bag] == 1]
            for bag, name in names[number].items():
                for other in _renamed(name, others, words):
                    found[other].setdefault(number, bag)
    for name, number, bag in _of_other_amounts(names, words):
        found[name].setdefault(number, bag)
    for name, number in _ungraded(listed.values(), words):
        for bag in islice(names.get(number, ()), 1):
            found[name].setdefault(number, bag)
    for name, number, bag in _of_sides(listed, names, words):
        found[name].setdefault(number, bag)
    types, causes = (
        frozenset(chain.from_iterable(map(words.normalized, some)))
        for some in (words.language.finder.type_nouns, words.classes.causing_words)
    )
    for number, concept in listed.items():
        for name, bag in chain(
            _without_asides(concept, words),
            _as_prescribed(concept, words),
            _without_measurement(concept, words),
        ):
            found[name].setdefault(number, bag)
        for bag, name in names[number].items():
            for other in chain(
                _untyped(name, types),
                _without_causes(name, causes),
                _without_repeats(name, words),
            ):
                found[other].setdefault(number, bag)
    return {name: bag for name, of in found.items() if len(of) == 1 for bag in of.values()}


def _of_other_amounts(
    names: Mapping[str, Mapping[Bag, Bag]], words: Words
) -> Iterator[tuple[Bag, str, Bag]]:
    """Find names of an amount, or of something abnormal, in the words of another amount. In
    HPO such names that exist are those of the right concept in 99 of 100.

    names (Mapping[str, Mapping]): The names of each concept, see `_names_of`.
    words (Words): Reads the words of their language.
    YIELDS (Tuple): The words, the id of the concept, and the words of its name that say the same.
    """
    # Stems are of several words: Spanish "alta pesa" is "weighs at discharge", too.
    fewest = 2 if words.classes.stemmer else 1
    abnormal = words.classes.malformations
    changes = (words.forms.changes.get(word, ()) for word in abnormal)
    amounts = words.forms.amounts.union(abnormal, *changes)
    sizes = {number: list(_sized(of, amounts)) for number, of in names.items()}
    owners = defaultdict[Bag, list[tuple[str, str]]](list)
    for number, pairs in sizes.items():
        for amount, thing in pairs:
            owners[thing].append((number, amount))
    for number, pairs in sizes.items():
        for (amount, thing), (same, other) in permutations(pairs, 2):
            for owner, opposite in owners[thing] if amount == same else ():
                if owner != number and opposite != amount and len(other) >= fewest:
                    known = names[owner][tuple(sorted((*thing, opposite)))]
                    yield tuple(sorted((*other, opposite))), owner, known


def _sized(names: Iterable[Bag], amounts: frozenset[str]) -> Iterator[tuple[str, Bag]]:
    """YIELDS (Tuple[str, Tuple[str, ...]]): The amount in each name with one, and the rest."""
    for bag in names:
        for amount in amounts.intersection(bag) if len(bag) > 1 else ():
            yield amount, tuple(word for word in bag if word != amount)


def _ungraded(concepts: Iterable[Concept], words: Words) -> Iterator[tuple[Bag, str]]:
    """Find what names of narrower concepts share besides their grades: "psychomotor retardation",
    mild in one and severe in another.

    YIELDS (Tuple[Tuple[str, ...], str]): The words, and the id of the broader concept.
    """
    grades = words.classes.grades
    graded = defaultdict[tuple[Bag, str], set[tuple[str, str]]](set)
    for concept in concepts if grades else ():
        for bag in map(set, map(words.content, concept.names)):
            grade = grades & bag
            if len(grade) == 1 and len(bag) >= _FEWEST_GRADED:
                for parent in concept.parents:
                    name = tuple(sorted(bag - grade)), parent
                    graded[name].add((concept.concept_id, min(grade)))
    for name, forms in graded.items():
        if all(len(set(of)) >= _FEWEST_GRADES for of in zip(*forms, strict=True)):
            yield name


def _of_sides(
    concepts: Mapping[str, Concept], names: Mapping[str, Mapping[Bag, Bag]], words: Words
) -> Iterator[tuple[Bag, str, Bag]]:
    """Find the names of one side of what a broader concept names: "trigger thumb, left thumb" is a
    left trigger thumb, and what is also called "tennis elbow" has a left one. Where several
    narrower concepts have the same side, the side tells too little.

    concepts (Mapping[str, Concept]): The concepts by id.
    names (Mapping[str, Mapping]): The names of each, see `_names_of`.
    words (Words): Reads the words of their language.
    YIELDS (Tuple): The words, the id of the concept, and the words of its name.
    """
    sided = defaultdict[tuple[str, str], dict[str, Bag]](dict)
    for number, concept in concepts.items():
        for content in _sided_names(concept, words):
            for side in words.classes.laterality.intersection(content):
                for parent in concept.parents:
                    sided[parent, side].setdefault(number, content)
    for (parent, side), narrower in sided.items():
        broader = names.get(parent, {})
        for number, content in narrower.items() if len(narrower) == 1 else ():
            if any(_adds_side(content, bag, side) for bag in broader):
                bags = {tuple(sorted((*bag, side))) for bag in broader}
                yield from ((bag, number, content) for bag in bags.difference(names[number]))


def _sided_names(concept: Concept, words: Words) -> Iterator[Bag]:
    """YIELDS (Tuple[str, ...]): The words, in order, of each name that may have a side."""
    for name in concept.exact_names:
        # Most have none, and to read words takes long.
        if any(map(name.lower().__contains__, words.classes.laterality)):
            yield tuple(words.content(name))


def _adds_side(name: Bag, broader: Bag, side: str) -> bool:
    """Check whether a name is that of a broader concept with a side, perhaps of an organ after it.

    name (Tuple[str, ...]): The words of the name, in order.
    broader (Tuple[str, ...]): The words of the name of the broader concept, sorted.
    side (str): The side.
    RETURNS (bool): True if it is.
    """
    size = len(broader)
    comes_after = tuple(sorted(name[:size])) == broader and name[size : size + 1] == (side,)
    return comes_after or tuple(sorted((*broader, side))) == tuple(sorted(name))


def _without_asides(concept: Concept, words: Words) -> Iterator[tuple[Bag, Bag]]:
    """Drop what is in brackets, and what is not specified: "(CPS)", "(primary)" and "of unspecified
    degree". Of two words at least: "lobe (thyroid)" is not a lobe; but ICD-10 has synonyms in
    square brackets at the end, "Leprosy [Hansen's disease]".

    YIELDS (Tuple[Tuple[str, ...], Tuple[str, ...]]): The words of the rest, and those of the name.
    """
    for name in map(clean, concept.exact_names):
        asides = find_asides(name)
        rest = drop_asides(name) if asides else words.orthography.drop_unspecified(name)
        has_synonym = len(asides) == 1 and name.endswith(_SYNONYM_END)
        content = words.content(rest) if rest != name else []
        if len(content) >= (1 if has_synonym else _FEWEST_WITHOUT_ASIDE):
            yield tuple(sorted(content)), words.bag(name)


def _as_prescribed(concept: Concept, words: Words) -> Iterator[tuple[Bag, Bag]]:
    """Drop the salt, the route and the form of a drug with its strength, and put its brand in place
    of what it is made of: "atorvastatin 40 MG Oral Tablet [Lipitor]" is prescribed as "Lipitor 40
    mg tablet", or without "tablet" if there is no other form.

    YIELDS (Tuple[Tuple[str, ...], Tuple[str, ...]]): The other words, and those of the name.
    """
    routes, salts = words.classes.routes, words.classes.salts
    forms = words.classes.dose_forms
    for name in map(clean, concept.exact_names if routes else ()):
        generic, _, brand = name.partition(_BRAND)
        if strength := _STRENGTH.search(generic):
            drug = f"{brand} {generic[strength.start() :]}" if brand else generic
            content = words.content(drug)
            for unsaid in (routes, routes | salts, routes | salts | forms):
                said = tuple(sorted(word for word in content if word not in unsaid))
                if brand or len(said) < len(content):
                    yield said, words.bag(name)


def _without_measurement(concept: Concept, words: Words) -> Iterator[tuple[Bag, Bag]]:
    """Drop what a test is called beside what it measures, and in what: "creatinine measurement,
    serum" is written as "creatinine 412".

    YIELDS (Tuple[Tuple[str, ...], Tuple[str, ...]]): The other words, and those of the name.
    """
    measurements, specimens = words.classes.measurements, words.classes.specimens
    for name in concept.exact_names if measurements else ():
        if any(map(name.lower().__contains__, measurements)):
            content = words.content(name)
            if not measurements.isdisjoint(content):
                for unsaid in (measurements, measurements | specimens):
                    said = tuple(sorted(word for word in content if word not in unsaid))
                    if said:
                        yield said, words.bag(name)


def _untyped(name: Bag, types: frozenset[str]) -> Iterator[Bag]:
    """Drop "type" at the end of a name: "Charcot-Marie-Tooth disease type 1A".

    name (Tuple[str, ...]): The words of the name, in order.
    types (FrozenSet[str]): The words for "type".
    YIELDS (Tuple[str, ...]): The other words, sorted.
    """
    for place in range(1, len(name) - 1):
        kind = name[place + 1 :]
        is_kind = len(kind) <= _LONGEST_KIND and all(len(word) < _SHORTEST_WORD for word in kind)
        if is_kind and name[place] in types:
            yield tuple(sorted((*name[:place], *kind)))


def _without_causes(name: Bag, causes: frozenset[str]) -> Iterator[Bag]:
    """Drop a word that only says that one thing comes of another: "bacteremia caused by
    Staphylococcus aureus".

    name (Tuple[str, ...]): The words of the name, in order.
    causes (FrozenSet[str]): Such words.
    YIELDS (Tuple[str, ...]): The other words, sorted.
    """
    if not causes.isdisjoint(name[1:-1]):
        inner = (word for word in name[1:-1] if word not in causes)
        yield tuple(sorted((name[0], *inner, name[-1])))


def _without_repeats(name: Bag, words: Words) -> Iterator[Bag]:
    """Drop an adjective that says again what another word says: "diabetes with diabetic
    neuropathy".

    name (Tuple[str, ...]): The words of the name, in order.
    words (Words): Reads the words of the language.
    YIELDS (Tuple[str, ...]): The other words, sorted.
    """
    starts = Counter(word[:_STEM] for word in {*name} if len(word) > _STEM)
    rest = [word for word in name if starts[word[:_STEM]] < 2 or not words.is_modifier(word)]
    if len(rest) < len(name):
        yield tuple(sorted(rest))


def _names_of(concept: Concept, words: Words) -> dict[Bag, Bag]:
    """RETURNS (Dict[Tuple[str, ...], Tuple[str, ...]]): The words of each name in order, by its bag
    of words.
    """
    names = map(words.orthography.restore_word_order, concept.exact_names)
    listed = {tuple(sorted(name)): name for name in map(tuple, map(words.content, names))}
    return dict(islice((pair for pair in listed.items() if 0 < len(pair[0]) <= _LONGEST), _MOST))


def _broader(concept_id: str, concepts: Mapping[str, Concept]) -> list[str]:
    """RETURNS (List[str]): The parents of a concept and their parents, each once."""
    broader, last = dict[str, None](), [concept_id]
    for _ in range(_GENERATIONS):
        parents = [parent for child in last for parent in concepts[child].parents]
        last = [parent for parent in parents if parent in concepts]
        broader |= dict.fromkeys(last)
    return [number for number in broader if number != concept_id]


def _renamed(name: Bag, bags: Sequence[Bag], words: Words) -> Iterator[Bag]:
    """Replace a name of a broader concept inside a name by its other ones. A number belongs to one
    of them: "multiple epiphyseal dysplasia 5" is the fifth of no other name.

    name (Tuple[str, ...]): The words of the name, in order.
    bags (Sequence[Tuple[str, ...]]): The words of each name of the broader concept.
    words (Words): Reads the words of the language.
    YIELDS (Tuple[str, ...]): The words of other names.
    """
    for part in bags:
        rest = _around(name, part)
        is_numbered = all(
            len(word) < _SHORTEST_WORD or word in words.classes.numbered for word in rest
        )
        for other in bags if not is_numbered else ():
            says_less = set(other).issubset(part)
            if not says_less and len(rest) + len(other) <= _LONGEST and rest.isdisjoint(other):
                yield tuple(sorted((*rest, *other)))


def _around(name: Bag, part: Bag) -> set[str]:
    """RETURNS (Set[str]): The words of a name around a part of it; none if they are not side by
    side, or if a word is there twice.
    """
    size, rest = len(part), set(name).difference(part)
    if len(rest) + size != len(name):
        return set()
    slices = (name[first : first + size] for first in range(len(name) - size + 1))
    return rest if any(tuple(sorted(words)) == part for words in slices) else set()

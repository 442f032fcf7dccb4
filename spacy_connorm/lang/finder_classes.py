"""The classes of words that the rules of the mention finder refer to."""

from dataclasses import dataclass
from functools import cached_property

from .word_classes import NONE, Words


@dataclass(frozen=True, eq=False)
class FinderClasses:
    """Words around and in mentions, from `finder.toml`. A class that a language does not have is
    empty.

    auxiliaries: Verbs that names begin or end with only in capitals: "BE cell".
    definite_articles: Articles of something known.
    singular_copulas: Forms of "to be" after one noun.
    genitives: Stand between a part and its whole.
    places: Stand before a place in the body.
    troubles: Nouns, in the singular, after which a preposition says no more than "of": "trouble
        with swallowing".
    joints: Cross from one phrase to another, where a name must have them, too.
    listing_conjunctions: Join words in a list, as single tokens; so do signs.
    pairing_conjunctions: Join two words of a name.
    skipped_words: Function words of sentences that names do not have.
    caused_endings: End words of what something causes.
    denials: Deny the finding beside them.
    opposing_prefixes: Beginnings that give words the opposite or another meaning.
    radicals: Parts of the names of chemical groups, which a letter only places.
    about_findings: Nouns, in the singular, after a finding that are about it: what prevents it,
        papers and organizations for it.
    measures: What a finding's word is measured or watched with, in the singular: "coma scale".
    devices: Things for a finding, in the singular: "hernia mesh".
    agents: Molecules and organisms that are named after a finding, in the singular: "cholera
        toxin".
    name_joiners: Stand between the words of a proper name. Without them, capitals say nothing.
    genus_endings: Latin endings of the first word of an organism's name: "Mycobacterium".
    remedies: What is taken against a disorder, in the singular. Substances stand before it, too.
    molecules: What a molecule is, in the singular. Substances stand before it, too.
    adjectives_too: Names that are adjectives, too: "retinal cells".
    people: Nouns for people and animals.
    person_diseases: What the names of a disease add to the person who described it.
    after_persons: Follow the possessive of such a person.
    sided_organs: Beginnings of organs whose side is a part of their name.
    long_sides: Right and left, in full.
    side_articles: Stand before a side.
    inducing: What names write for the drug in "levodopa-induced".
    other_causes: What induces something and is not a drug.
    adverbs: Adverbs without a typical ending: "very".
    adverb_endings: End other adverbs.
    words_like_adverbs: Other words that end like these: "early".
    endings_like_adverbs: Endings of such words: "microcephaly".
    generic_names: Names in ontologies that do not name a concept by themselves.
    short_findings: Findings of three letters, which are not short forms: "tos".
    counted_kinds: What a number after a short form counts: "CKD3".
    """

    auxiliaries: Words = NONE
    definite_articles: Words = NONE
    singular_copulas: Words = NONE
    genitives: Words = NONE
    places: Words = NONE
    troubles: Words = NONE
    joints: Words = NONE
    listing_conjunctions: Words = NONE
    pairing_conjunctions: Words = NONE
    skipped_words: Words = NONE
    caused_endings: Words = NONE
    denials: Words = NONE
    opposing_prefixes: Words = NONE
    radicals: Words = NONE
    about_findings: Words = NONE
    measures: Words = NONE
    devices: Words = NONE
    agents: Words = NONE
    name_joiners: Words = NONE
    genus_endings: Words = NONE
    remedies: Words = NONE
    molecules: Words = NONE
    adjectives_too: Words = NONE
    people: Words = NONE
    person_diseases: Words = NONE
    after_persons: Words = NONE
    sided_organs: Words = NONE
    long_sides: Words = NONE
    side_articles: Words = NONE
    inducing: Words = NONE
    other_causes: Words = NONE
    adverbs: Words = NONE
    adverb_endings: Words = NONE
    words_like_adverbs: Words = NONE
    endings_like_adverbs: Words = NONE
    generic_names: Words = NONE
    short_findings: Words = NONE
    counted_kinds: Words = NONE

    @cached_property
    def other_heads(self) -> Words:
        """The nouns after a finding that make something else of it.

        RETURNS (Words): All of these classes.
        """
        return self.about_findings | self.measures | self.devices | self.agents

"""The classes of words that the rules of the mention finder refer to."""

from dataclasses import dataclass
from functools import cached_property

from .word_classes import NONE, Words


@dataclass(frozen=True, eq=False)
class FinderClasses:
    """Words around and in mentions, from `finder.toml`. A class that a language does not have is
    empty.

    auxiliaries: Verbs that names begin or end with only in capitals: "BE cell".
    naming_stop_words: Stop words that name places or parts, too.
    articles: Articles.
    definite_articles: Articles of something known.
    singular_copulas: Forms of "to be" after one noun.
    genitives: Stand between a part and its whole.
    places: Stand before a place in the body.
    due: Stands before a preposition and makes a cause of it: "due to".
    troubles: Nouns, in the singular, after which a preposition says no more than "of": "trouble
        with swallowing".
    joints: Cross from one phrase to another, where a name must have them, too.
    listing_conjunctions: Join words in a list, as single tokens; so do signs.
    pairing_conjunctions: Join two words of a name.
    skipped_words: Function words of sentences that names do not have.
    with_signs: Short for "with".
    causes: Adjectives of what causes a disease.
    caused_endings: End words of what something causes.
    denials: Deny the finding beside them.
    signs: A sign is not the disease.
    opposing_prefixes: Beginnings that give words the opposite or another meaning.
    radicals: Parts of the names of chemical groups, which a letter only places.
    titles: Stand before the name of a person.
    about_findings: Nouns, in the singular, after a finding that are about it: what prevents it,
        papers and organizations for it.
    measures: What a finding's word is measured or watched with, in the singular: "coma scale".
    devices: Things for a finding, in the singular: "hernia mesh".
    agents: Molecules and organisms that are named after a finding, in the singular: "cholera
        toxin".
    name_joiners: Stand between the words of a proper name. Without them, capitals say nothing.
    species_endings: Latin endings of the second word of an organism's name: "influenzae".
    genus_endings: Latin endings of the first one: "Haemophilus".
    remedies: What is taken against a disorder, in the singular. Substances stand before it, too.
    molecules: What a molecule is, in the singular. Substances stand before it, too.
    kinds: Follow a finding and a hyphen, and name a kind: "nephrotic-range".
    panels: Tests of a disease in short.
    adjectives_too: Names that are adjectives, too: "retinal cells".
    patient_adjectives: Adjectives that stand for findings of patients only.
    patient_endings: Endings of such adjectives: "aggressive".
    patient_ending_exceptions: Longer endings of other adjectives: "hypertensive crisis".
    people: Nouns for people and animals.
    moods: Adjectives that are findings of people only: much else is depressed.
    subjects: Other words that stand shortly before a mood.
    labelled: Nouns that are numbered in an article: "Figure S1".
    between_labels: Stand between the numbers of figures.
    units: Units of measures after a number.
    code_units: Units that stand before an exponent.
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
    positive: What a plus after a marker says.
    negative: What a minus after a marker says.
    generic_names: Names in ontologies that do not name a concept by themselves.
    counted_kinds: What a number after a short form counts: "CKD3".
    """

    auxiliaries: Words = NONE
    naming_stop_words: Words = NONE
    articles: Words = NONE
    definite_articles: Words = NONE
    singular_copulas: Words = NONE
    genitives: Words = NONE
    places: Words = NONE
    due: Words = NONE
    troubles: Words = NONE
    joints: Words = NONE
    listing_conjunctions: Words = NONE
    pairing_conjunctions: Words = NONE
    skipped_words: Words = NONE
    with_signs: Words = NONE
    causes: Words = NONE
    caused_endings: Words = NONE
    denials: Words = NONE
    signs: Words = NONE
    opposing_prefixes: Words = NONE
    radicals: Words = NONE
    titles: Words = NONE
    about_findings: Words = NONE
    measures: Words = NONE
    devices: Words = NONE
    agents: Words = NONE
    name_joiners: Words = NONE
    species_endings: Words = NONE
    genus_endings: Words = NONE
    remedies: Words = NONE
    molecules: Words = NONE
    kinds: Words = NONE
    panels: Words = NONE
    adjectives_too: Words = NONE
    patient_adjectives: Words = NONE
    patient_endings: Words = NONE
    patient_ending_exceptions: Words = NONE
    people: Words = NONE
    moods: Words = NONE
    subjects: Words = NONE
    labelled: Words = NONE
    between_labels: Words = NONE
    units: Words = NONE
    code_units: Words = NONE
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
    positive: Words = NONE
    negative: Words = NONE
    generic_names: Words = NONE
    counted_kinds: Words = NONE

    @cached_property
    def other_heads(self) -> Words:
        """The nouns after a finding that make something else of it.

        RETURNS (Words): All of these classes.
        """
        return self.about_findings | self.measures | self.devices | self.agents

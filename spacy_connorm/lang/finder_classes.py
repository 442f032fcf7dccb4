"""The classes of words that the rules of the mention finder refer to."""

from dataclasses import dataclass
from functools import cached_property

from .word_classes import NONE, Words


@dataclass(frozen=True, eq=False)
class FinderClasses:
    """Words around and in mentions, from `finder.toml`. A class that a language does not have is
    empty.

    definite_articles (Words): Articles of something known.
    singular_copulas (Words): Forms of "to be" after one noun.
    statement_verbs (Words): Auxiliaries beside a copula: "may have been enlarged".
    statement_denials (Words): Deny what a copula states: "was not enlarged".
    showing_verbs (Words): State a finding of a part of the body: "the retina shows atrophy". Some
        are copulas.
    relatives (Words): Stand before a copula in a clause: "a nose that is broad".
    reports (Words): Participles between a copula and what it states: "was found to be enlarged".
    report_joints (Words): Stand after these, or right after a copula: "seems to be enlarged".
    report_prepositions (Words): Stand only after these: "was described as enlarged".
    genitives (Words): Stand between a part and its whole.
    places (Words): Stand before a place in the body.
    places_with_article (Words): Those with the article of the place in them: "im" is "in dem".
    relational_words (Words): Nouns, in the singular, and adjectives after which a preposition says
        no more than "of": "trouble with swallowing", "infection with HIV", "allergic to milk".
    joints (Words): Cross from one phrase to another, where a name must have them, too.
    listing_conjunctions (Words): Join words in a list, as single tokens; so do signs.
    pairing_conjunctions (Words): Join two words of a name.
    skipped_words (Words): Function words of sentences that names do not have.
    caused_endings (Words): End words of what something causes.
    denials (Words): Deny the finding beside them.
    marking_words (Words): Words that say how a finding is meant, whose it is, or that there is
        none, which a paraphrase of a name does not have: "spleen not enlarged", "likely a sprain".
    opposing_prefixes (Words): Beginnings that give words the opposite or another meaning.
    radicals (Words): Parts of the names of chemical groups, which a letter only places.
    about_findings (Words): Nouns, in the singular, after a finding that are about it: what prevents
        it, papers and organizations for it; where nouns stand first, before it: "clinique de la".
    measures (Words): What a finding's word is measured or watched with, in the singular: "coma
        scale".
    results (Words): What the test for a finding has shown, after a measure.
    devices (Words): Things for a finding, in the singular: "hernia mesh".
    intakes (Words): What is eaten or given, or moves in the body, in the singular, after amounts:
        "low calcium diet", "increased sodium retention".
    agents (Words): Molecules and organisms that are named after a finding, in the singular:
        "cholera toxin".
    acting_endings (Words): End what acts on the disorder before a hyphen: "pain-relieving".
    name_joiners (Words): Stand between the words of a proper name. Without them, capitals say
        nothing.
    titles (Words): Stand before a person's name: "Mr. Burns".
    address_words (Words): End the name of a place: "Cough Lane"; where nouns stand first, begin it.
    genus_endings (Words): Latin endings of the first word of an organism's name: "Mycobacterium".
    remedies (Words): What is taken against a disorder, in the singular. Substances stand before it,
        too.
    drugs (Words): More of these, which have an effect before them: "hypoglycemic agents".
    molecules (Words): What a molecule is, in the singular. Substances stand before it, too.
    numbered_molecules (Words): The same, after a number: "breast cancer 1 gene".
    adjectives_too (Words): Names that are adjectives, too: "retinal cells".
    parts_of_things (Words): Parts of the body that other things have, too: "head of the caudate
        nucleus".
    people (Words): Nouns for people and animals.
    after_findings (Words): Adverbs, adjectives and verbs that follow a finding: "seen today",
        "short stature runs in the family".
    comparisons (Words): Follow a comparative.
    time_units (Words): Follow the number of a time, in the singular: "1 year".
    person_diseases (Words): What the names of a disease add to the person who described it.
    after_persons (Words): Follow such a person.
    before_persons (Words): Stand before such a person whose name is a common word.
    sided_organs (Words): Beginnings of organs whose side is a part of their name.
    long_sides (Words): Right and left, in full.
    side_articles (Words): Stand before a side.
    inducing (Words): What names write for the drug in "levodopa-induced".
    other_causes (Words): What induces something and is not a drug.
    statement_endings (Words): End the verb of a statement: "persists".
    adverbs (Words): Adverbs without a typical ending: "very".
    adverb_endings (Words): End other adverbs.
    words_like_adverbs (Words): Other words that end like these: "early".
    endings_like_adverbs (Words): Endings of such words: "microcephaly".
    generic_names (Words): Names in ontologies that do not name a concept by themselves.
    short_findings (Words): Findings of three letters, which are not short forms: "tos".
    counted_kinds (Words): What a number after a short form counts: "CKD3".
    type_nouns (Words): Stand before the number of a genetic type, which some names have without.
    kind_nouns (Words): Stand after an adjective that names have before their noun: "anemia of the
        sideroblastic type".
    """

    definite_articles: Words = NONE
    singular_copulas: Words = NONE
    statement_verbs: Words = NONE
    statement_denials: Words = NONE
    showing_verbs: Words = NONE
    relatives: Words = NONE
    reports: Words = NONE
    report_joints: Words = NONE
    report_prepositions: Words = NONE
    genitives: Words = NONE
    places: Words = NONE
    places_with_article: Words = NONE
    relational_words: Words = NONE
    joints: Words = NONE
    listing_conjunctions: Words = NONE
    pairing_conjunctions: Words = NONE
    skipped_words: Words = NONE
    caused_endings: Words = NONE
    denials: Words = NONE
    marking_words: Words = NONE
    opposing_prefixes: Words = NONE
    radicals: Words = NONE
    about_findings: Words = NONE
    measures: Words = NONE
    results: Words = NONE
    devices: Words = NONE
    intakes: Words = NONE
    agents: Words = NONE
    acting_endings: Words = NONE
    name_joiners: Words = NONE
    titles: Words = NONE
    address_words: Words = NONE
    genus_endings: Words = NONE
    remedies: Words = NONE
    drugs: Words = NONE
    molecules: Words = NONE
    numbered_molecules: Words = NONE
    adjectives_too: Words = NONE
    parts_of_things: Words = NONE
    people: Words = NONE
    after_findings: Words = NONE
    comparisons: Words = NONE
    time_units: Words = NONE
    person_diseases: Words = NONE
    after_persons: Words = NONE
    before_persons: Words = NONE
    sided_organs: Words = NONE
    long_sides: Words = NONE
    side_articles: Words = NONE
    inducing: Words = NONE
    other_causes: Words = NONE
    statement_endings: Words = NONE
    adverbs: Words = NONE
    adverb_endings: Words = NONE
    words_like_adverbs: Words = NONE
    endings_like_adverbs: Words = NONE
    generic_names: Words = NONE
    short_findings: Words = NONE
    counted_kinds: Words = NONE
    type_nouns: Words = NONE
    kind_nouns: Words = NONE

    @cached_property
    def other_heads(self) -> Words:
        """The nouns after a finding that make something else of it.

        RETURNS (Words): All of these classes.
        """
        return self.about_findings | self.measures | self.devices | self.agents

"""The classes of words that the scopes of cues refer to."""

from dataclasses import dataclass

from .word_classes import NONE, Words


@dataclass(frozen=True, eq=False)
class AssertionClasses:
    """Words in and around the scope of a cue, from `assertions.toml`. A class that a language does
    not have is empty.

    exam_headings (Words): Headings of an examination, which may stand within a line, before a
        colon.
    continuing (Words): A line that ends with one continues in the next.
    abbreviations (Words): A full stop after one does not end a sentence.
    section_starts (Words): Beginnings of words in the headings of sections.
    polite (Words): Stand before an imperative.
    conjunctions (Words): Join mentions that share a mark.
    disjunctions (Words): Join the items of a denial to its end.
    contrasts (Words): Stand between two diagnoses of which one is right.
    considered (Words): Stand between an imperative and its mention, besides articles and grades.
    listed (Words): Stand between a relative and what it has, besides grades.
    ages (Words): Stand before an age.
    answer_labels (Words): Stand before the answer to a question, with a colon: who gives it.
    denying (Words): Deny what follows, and no amounts of something.
    denying_nouns (Words): Deny nouns only.
    denying_states (Words): After one of these, adjectives are denied, too.
    negations (Words): End a phrase that denies a verb: "not eating, fever".
    listing (Words): Verbs and nouns after which findings are listed.
    amounts (Words): Begin a finding that is there: "no wheeze, mild edema".
    state_endings (Words): Endings of adjectives that say how somebody is.
    plain_state_endings (Words): The same, of adjectives that need no noun.
    nouns_like_states (Words): Have no such meaning.
    adverbs (Words): May stand in a cue.
    adverb_endings (Words): Endings of adverbs.
    auxiliaries (Words): Stand between a mention and its predicate.
    topics (Words): Nouns before a mention and a preposition that are the subject of its predicate:
        "the cause of the cough was not found", "children with cough were not tested".
    postmodifiers (Words): Begin a phrase between a mention and its predicate.
    plurals (Words): Follow several subjects.
    """

    exam_headings: Words = NONE
    continuing: Words = NONE
    abbreviations: Words = NONE
    section_starts: Words = NONE
    polite: Words = NONE
    conjunctions: Words = NONE
    disjunctions: Words = NONE
    contrasts: Words = NONE
    considered: Words = NONE
    listed: Words = NONE
    ages: Words = NONE
    answer_labels: Words = NONE
    denying: Words = NONE
    denying_nouns: Words = NONE
    denying_states: Words = NONE
    negations: Words = NONE
    listing: Words = NONE
    amounts: Words = NONE
    state_endings: Words = NONE
    plain_state_endings: Words = NONE
    nouns_like_states: Words = NONE
    adverbs: Words = NONE
    adverb_endings: Words = NONE
    auxiliaries: Words = NONE
    topics: Words = NONE
    postmodifiers: Words = NONE
    plurals: Words = NONE

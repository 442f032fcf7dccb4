"""The classes of words that rules refer to."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

Words = frozenset[str]
NONE: Words = frozenset()
# A pattern that matches nothing.
NEVER = "(?!)"


@dataclass(frozen=True, eq=False)
class WordClasses:
    """Words by what they do in a name or a sentence, from `words.toml`. A class that a language
    does not have is empty.

    owners (Words): Say whose a noun is: "her".
    determiners (Words): Open a noun phrase; `owners` are among them.
    prepositions (Words): Stand between a head and what follows it.
    copulas (Words): Verbs that state what something is or has become: "was", "seems", "had".
    range_words (Words): Stand between the first and the last grade: "mild to moderate".
    grades (Words): Follow a comma and their noun without being an item of a list: "ataxia, severe".
    qualifiers (Words): Begin a qualifier after a comma: "type 1".
    possessives (Words): What the tokenizer splits off a person's name: "'s".
    bracketed_endings (Words): Endings of plurals that are written in brackets: "node(s)".
    sides (Words): Right and left, as notes write them.
    laterality (Words): Which of two, in names: "left", "bilateral".
    numbered (Words): Nouns before a number or a letter: "type".
    stemmer (Words): The algorithm of Snowball for the language, one word: "french". None if empty.
    phrase_order (Words): "head-first" where nouns stand before what modifies them: "hypotonie
        axiale".
    letters (Words): Letters with a mark that is not an accent: "ñ".
    elisions (Words): Stand before an apostrophe and the word that they belong to: "d'effort".
    joined_prefixes (Words): Beginnings of compounds that are written with a hyphen, too:
        "intra-utérin".
    compound_heads (Words): Ends of compounds that are words of their own, in all forms:
        "kopfschmerzen".
    function_words (Words): Words that bags of words leave out, without accents.
    stop_words (Words): All words of grammar: those of spaCy, which are not in the file.
    conjunctions (Words): Join the items of a list.
    joining_words (Words): Join two findings in one name: "ataxia with apraxia".
    idioms (Words): Phrases with a conjunction that are a single item, without their commas.
    modifiers (Words): Need a noun after them, whatever their ending.
    modifier_endings (Words): The endings of such words.
    nouns_like_modifiers (Words): Nouns that have such an ending.
    heads (Words): Nouns that name a disorder by themselves.
    head_endings (Words): The endings of such nouns.
    inflected_endings (Words): The endings of words whose lemma the lexicon is asked for: plurals.
    plain_adjectives (Words): Adjectives without a typical ending.
    participle_endings (Words): The endings of participles: "enlarged".
    stated_endings (Words): The endings of other words that may follow a form of "to be".
    dependent_adjectives (Words): Stand for their noun only beside other words of a name.
    underived (Words): Look as if they came from a shorter word: "limbic".
    measures (Words): What texts leave out of the names of laboratory findings: "serum".
    disease_nouns (Words): Follow an organ in the name of its disease.
    system_nouns (Words): Follow an adjective in the name of a system of organs.
    verb_endings (Words): Make a noun of a verb, but not of a plain adjective.
    negating_prefixes (Words): Beginnings of compounds that say that something is not the rest:
        "non-".
    compound_prefixes (Words): Beginnings of compounds that some names write as words of their own.
    combining_forms (Words): Beginnings of compounds that a list may cut off:
        "hypo/hyperthyroidism".
    malformations (Words): Words that only say that something is wrong, which ontologies prefer.
    disorders (Words): More of these. A heart defect is not a heart disease.
    complaints (Words): More of these, which texts have in place of both.
    staying_words (Words): Keep their part of an inverted name in its place, wherever they stand in
        it.
    staying_starts (Words): Do so at its start.
    staying_ends (Words): Do so at its end.
    routes (Words): How the drugs of a list are taken, which prescriptions leave out: "oral".
    dose_forms (Words): What a drug is given as, which notes may not say: "tablet".
    salts (Words): Second words of ingredients, which prescriptions leave out, too.
    causing_words (Words): Say no more than that one thing comes of another: "caused" by it.
    measurements (Words): What names call tests of something in a specimen: "measurement".
    specimens (Words): What is usually tested, which notes do not say.
    residual_words (Words): Words of code lists that do not change the meaning: "unspecified".
    turning_words (Words): Make a term different from a name, not more specific: "without".
    semantic_tags (Words): Tags in brackets at the end of a name.
    tag_endings (Words): Other tags at the end of a name.
    tag_beginnings (Words): Tags at the beginning of a name.
    linking_words (Words): Short forms may leave them out.
    linking_conjunctions (Words): Short forms leave these out for a price.
    short_form_heads (Words): Nouns at the end of a long form that short forms leave out.
    no_long_form_starts (Words): No long form begins with them.
    definition_prefaces (Words): Stand in a bracket before the short form that it defines.
    alternatives (Words): Stand between two short forms in a bracket.
    no_short_forms (Words): Stand in brackets and are not short forms: "i.e.".
    """

    owners: Words = NONE
    determiners: Words = NONE
    prepositions: Words = NONE
    copulas: Words = NONE
    range_words: Words = NONE
    grades: Words = NONE
    qualifiers: Words = NONE
    possessives: Words = NONE
    bracketed_endings: Words = NONE
    sides: Words = NONE
    laterality: Words = NONE
    numbered: Words = NONE
    stemmer: Words = NONE
    phrase_order: Words = NONE
    letters: Words = NONE
    elisions: Words = NONE
    joined_prefixes: Words = NONE
    compound_heads: Words = NONE
    function_words: Words = NONE
    stop_words: Words = NONE
    conjunctions: Words = NONE
    joining_words: Words = NONE
    idioms: Words = NONE
    modifiers: Words = NONE
    modifier_endings: Words = NONE
    nouns_like_modifiers: Words = NONE
    heads: Words = NONE
    head_endings: Words = NONE
    inflected_endings: Words = NONE
    plain_adjectives: Words = NONE
    participle_endings: Words = NONE
    stated_endings: Words = NONE
    dependent_adjectives: Words = NONE
    underived: Words = NONE
    measures: Words = NONE
    disease_nouns: Words = NONE
    system_nouns: Words = NONE
    verb_endings: Words = NONE
    negating_prefixes: Words = NONE
    compound_prefixes: Words = NONE
    combining_forms: Words = NONE
    malformations: Words = NONE
    disorders: Words = NONE
    complaints: Words = NONE
    staying_words: Words = NONE
    staying_starts: Words = NONE
    staying_ends: Words = NONE
    routes: Words = NONE
    dose_forms: Words = NONE
    salts: Words = NONE
    causing_words: Words = NONE
    measurements: Words = NONE
    specimens: Words = NONE
    residual_words: Words = NONE
    turning_words: Words = NONE
    semantic_tags: Words = NONE
    tag_endings: Words = NONE
    tag_beginnings: Words = NONE
    linking_words: Words = NONE
    linking_conjunctions: Words = NONE
    short_form_heads: Words = NONE
    no_long_form_starts: Words = NONE
    definition_prefaces: Words = NONE
    alternatives: Words = NONE
    no_short_forms: Words = NONE


def any_of(words: Iterable[str]) -> str:
    """Write a pattern of any of some words.

    words (Iterable[str]): The words, as texts.
    RETURNS (str): The pattern; it matches nothing if there are no words.
    """
    return f"(?:{'|'.join(map(re.escape, longest_first(words))) or NEVER})"


def longest_first(texts: Iterable[str]) -> list[str]:
    """Sort texts so that each stands before those that it begins with.

    texts (Iterable[str]): The texts.
    RETURNS (List[str]): The longest first; in alphabetical order if they have the same length.
    """
    return sorted(texts, key=lambda text: (-len(text), text))

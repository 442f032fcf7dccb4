"""What the short forms of clinical notes mean, as the names of an ontology decide."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

from ..pipeline.concept_normalizer import ConceptNormalizer
from ..pipeline.mention_finder import MentionFinder
from ..pipeline.short_form_files import alike_long_forms, ambiguous_short_forms, unambiguous
from ..text.numbered_forms import numbered_forms_of


def choose_meanings(finder: MentionFinder, short_forms: Mapping[str, str]) -> dict[str, Any]:
    """Choose the meaning of short forms with several meanings if exactly one of them is a name in
    the ontology, by document if several are, or if the short form is a name itself, and of those
    with a number if that is its type, stage or grade: "CKD3". Short forms of the ontology whose
    long form it lacks are its own.

    finder (MentionFinder): Finds the names of the ontology.
    short_forms (Mapping[str, str]): Long forms by short form, of those with one meaning.
    RETURNS (Dict[str, Any]): The settings of an `abbreviation_resolver`.
    """
    language = finder.normalizer.lookup.language
    meanings = ambiguous_short_forms(language)
    certain = _as_names(finder, short_forms, alike_long_forms(language))
    known = {short: [long] for short, long in certain.items()} | meanings
    names = finder.names_among([*known, *chain.from_iterable(known.values())])
    own_names = {
        short: longs[0]
        for short, longs in known.items()
        if names.get(short) and names.keys().isdisjoint(longs)
    }
    for short in _unmistakable(finder.normalizer, own_names):
        certain.pop(short, None)
        del own_names[short]
    meanings = _without_synonyms(finder.normalizer, meanings, names)
    named = {short: [long for long in longs if long in names] for short, longs in meanings.items()}
    numbered = numbered_forms_of(language).list_pairs(
        {short: names.keys() & known[short] for short in known}
    )
    long_names = finder.names_among(long for _, long in numbered)
    counted = unambiguous(pair for pair in numbered if pair[1] in long_names)
    return {
        "short_forms": certain | own_names | counted,
        "own_names": [*own_names],
        "meanings": {
            short: longs if len(longs) == 1 and short not in names else meanings[short]
            for short, longs in named.items()
            if longs
        },
        "findings": [*(short for short, long in certain.items() if long in names), *counted],
    }


def _as_names(
    finder: MentionFinder,
    short_forms: Mapping[str, str],
    alike: Mapping[str, Collection[str]],
) -> dict[str, str]:
    """Write long forms as the ontology does: "renal insufficiency" where it has no "renal failure".

    short_forms (Mapping[str, str]): Long forms by short form.
    alike (Mapping[str, Collection[str]]): What terminologies write for a long form, by short form.
    RETURNS (Dict[str, str]): The first of these that is a name, by short form; else the long form.
    """
    written = {short: (long, *alike.get(short, ())) for short, long in short_forms.items()}
    several = [longs for longs in written.values() if len(longs) > 1]
    names = finder.names_among(chain.from_iterable(several))
    # Those with the words of a name come first, then those with synonyms of these.
    return {
        short: max(longs, key=lambda long: (bool(names.get(long)), long in names))
        for short, longs in written.items()
    }


def _unmistakable(normalizer: ConceptNormalizer, own_names: Mapping[str, str]) -> list[str]:
    """Select the short forms that mean the ontology's concept wherever they stand: its preferred
    name, one with a digit or hyphen ("COVID-19"), and those whose long form in the table is linked
    to the same concept, which only lacks it as a name ("human papillomavirus" for "HPV").

    own_names (Mapping[str, str]): The table's long forms of short forms that are names in the
        ontology.
    RETURNS (List[str]): Some of the short forms.
    """
    link = partial(normalizer.candidates, top_k=1)
    linked = zip(own_names, link([*own_names]), link([*own_names.values()]), strict=True)
    return [
        short
        for short, ours, theirs in linked
        if not short.isalpha()
        or short in {concept.name for concept in ours}
        or {concept.concept_id for concept in ours} & {concept.concept_id for concept in theirs}
    ]


def _without_synonyms(
    normalizer: ConceptNormalizer, meanings: Mapping[str, Sequence[str]], names: Collection[str]
) -> dict[str, list[str]]:
    """Leave out meanings that are synonyms: "benign prostatic hypertrophy" and "hyperplasia" of
    "BPH" are one concept.

    RETURNS (Dict[str, List[str]]): Long forms by short form, the first of each concept and those
        that are not names.
    """
    several = [
        longs for listed in meanings.values() if len(longs := {*listed}.intersection(names)) > 1
    ]
    texts = sorted({long for longs in several for long in longs})
    candidates = normalizer.candidates(texts, top_k=1)
    concepts = {
        text: best[0].concept_id for text, best in zip(texts, candidates, strict=True) if best
    }
    return {
        short: list({concepts.get(long, long): long for long in reversed(longs)}.values())[::-1]
        for short, longs in meanings.items()
    }

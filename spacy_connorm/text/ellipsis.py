"""Complete words that are cut at a hyphen: "hyper- and hypothyroidism"."""

import re

from .word_classes import shape

_MOST_COMPLETIONS = 3
_FORMS = """
adeno allo angio ante anti arthro audio auto bi brachy brady bronchio broncho cardio cerebro chole
chondro colo cranio cysto cyto dermato dolicho ecto endo entero eosino epi erythro eu extra fibro
fore gastro granulo hemi hepato hetero hind homo hydro hyper hypo ileo infra inter intra irido iso
kerato laryngo leuco leuko lipo lympho macro mega meso meta micro mid mono multi myelo myo nephro
neuro neutro non normo oculo oligo ortho osteo oto pan pancreato pancyto para peri pharyngo pluri
pneumo poly post pre pro psycho pulmo quadri recto reno retino retro rhino spleno sub supra tachy
tetra thrombo thyro trachea tracheo trans tri ultra uni uro utero vagino vaso
"""
_COMBINING_FORMS = tuple(sorted(_FORMS.split(), key=len, reverse=True))
# The stem is greedy, so only the last letter of a Roman numeral is cut off.
_STEM = re.compile(r"(?P<stem>.*[^\W\d_]-?)(?:\d+|[IVX])")
_REST = re.compile(r"-?(?P<rest>\d+[A-Za-z]?|[IVX]+)")


def restore_words(segments: list[list[str]]) -> list[list[list[str]]]:
    """Complete the cut words of a coordination: "T-" in "T- and B-cell lymphoma", and "2" in
    "HSV-1 and 2" or "BRCA1/2", but not in "III/IV".

    segments (List[List[str]]): The words of each conjunct, at least one each.
    RETURNS (List[List[List[str]]]): Completions of the same shape, best first; just the segments
        if nothing is cut.
    """
    segments = _complete_ends(segments)
    completions: list[list[list[str]]] = []
    for choice in range(_MOST_COMPLETIONS):
        completed = _complete_beginnings(segments, choice)
        if completed not in completions:
            completions.append(completed)
    return completions


def _complete_ends(segments: list[list[str]]) -> list[list[str]]:
    completed = [segments[0]]
    for segment in segments[1:]:
        rest, stem = _REST.fullmatch(segment[0]), _STEM.fullmatch(completed[-1][-1])
        if rest and stem and shape(completed[-1][-1]) != "number":
            segment = [stem["stem"] + rest["rest"], *segment[1:]]
        completed.append(segment)
    return completed


def _complete_beginnings(segments: list[list[str]], choice: int) -> list[list[str]]:
    completed: list[list[str]] = []
    base = ""
    for segment in reversed(segments):
        cut = segment[-1]
        if base and len(cut) > 1 and cut.endswith("-"):
            whole = _whole_words(cut, base)
            segment = [*segment[:-1], whole[min(choice, len(whole) - 1)]]
        else:
            base = segment[0]
        completed.append(segment)
    return completed[::-1]


def _whole_words(cut: str, base: str) -> list[str]:
    """RETURNS (List[str]): Completions of "hyper-" by "hypothyroidism", best first."""
    beginning = cut[:-1]
    if "-" in base.strip("-"):
        first, last = base.partition("-")[2], base.rpartition("-")[2]
        return [cut + last, cut + first]
    for form in _COMBINING_FORMS:
        if base.lower().startswith(form) and len(base) > len(form):
            return [beginning + base[len(form) :]]
    # "thrombo-" ends with a linking vowel, so "leuko|cytopenia" is cut after the same vowel.
    joints = [place for place in range(2, len(base) - 2) if base[place] == beginning[-1]]
    return [beginning + base[place + 1 :] for place in joints[:_MOST_COMPLETIONS]] or [beginning]

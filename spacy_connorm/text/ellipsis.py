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
# A whole word and a cut one after it: "HSV-1 and 2", "HLA-A and -B", "IL-1α and β". As stems are
# greedy, only the last letter of a Roman numeral is cut off.
_ENDINGS = (
    (
        re.compile(r"(?P<stem>.*[^\W\d_]-?)(?:\d+|[IVX])"),
        re.compile(r"-?(?P<rest>\d+[A-Za-z]?|[IVX]+)"),
    ),
    (re.compile(r"(?P<stem>.*[^\W_]-)[A-Z]"), re.compile(r"-(?P<rest>[A-Z])")),
    (re.compile(r"(?P<stem>.*[^\W_]-?)[α-ω]"), re.compile(r"-?(?P<rest>[α-ω])")),
)


def restore_words(segments: list[list[str]]) -> list[list[list[str]]]:
    """Complete the cut words of a coordination: "T-" in "T- and B-cell lymphoma", and "2" in
    "HSV-1 and 2" or "BRCA1/2", but not in "III/IV"; "hypo" in "hypo/hyperthyroidism".

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
        completed.append([_with_stem(completed[-1][-1], segment[0]), *segment[1:]])
    return completed


def _with_stem(before: str, cut: str) -> str:
    """RETURNS (str): The cut word with the stem of the one before; itself if it is whole."""
    for stems, rests in _ENDINGS:
        stem, rest = stems.fullmatch(before), rests.fullmatch(cut)
        if stem and rest and shape(before) != "number":
            return stem["stem"] + rest["rest"]
    return cut


def _complete_beginnings(segments: list[list[str]], choice: int) -> list[list[str]]:
    completed: list[list[str]] = []
    base = ""
    for segment in reversed(segments):
        cut = segment[-1]
        if base and _is_cut(cut, base):
            whole = _whole_words(cut.removesuffix("-"), base)
            segment = [*segment[:-1], whole[min(choice, len(whole) - 1)]]
        else:
            base = segment[0]
        completed.append(segment)
    return completed[::-1]


def _is_cut(word: str, base: str) -> bool:
    """RETURNS (bool): Whether a word before `base` is cut: "T-", or "hypo" before
    "hyperthyroidism".
    """
    is_form = word.lower() in _COMBINING_FORMS
    return (len(word) > 1 and word.endswith("-")) or (is_form and bool(_form_of(base)))


def _form_of(word: str) -> str:
    """RETURNS (str): The combining form that a longer word starts with; empty if there is none."""
    starts = (form for form in _COMBINING_FORMS if word.lower().startswith(form))
    return next((form for form in starts if len(form) < len(word)), "")


def _whole_words(beginning: str, base: str) -> list[str]:
    """RETURNS (List[str]): Completions of "hyper" by "hypothyroidism", best first."""
    if "-" in base.strip("-"):
        first, last = base.partition("-")[2], base.rpartition("-")[2]
        return [f"{beginning}-{last}", f"{beginning}-{first}"]
    form = _form_of(base)
    if form:
        return [beginning + base[len(form) :]]
    # "thrombo-" ends with a linking vowel, so "leuko|cytopenia" is cut after the same vowel.
    joints = [place for place in range(2, len(base) - 2) if base[place] == beginning[-1]]
    guessed = [beginning + base[place + 1 :] for place in joints[: _MOST_COMPLETIONS - 1]]
    return [*guessed, beginning]

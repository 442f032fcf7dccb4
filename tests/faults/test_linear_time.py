"""Twice the text takes twice the time, whatever the text.

Time itself is only measured in the long form. The short one counts: the steps of every regular
expression, and the work of every function on text.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import blake2b
from importlib import import_module
from inspect import getsource
from itertools import combinations, groupby
from pathlib import Path
from time import process_time
from types import SimpleNamespace
from unicodedata import combining, normalize

import pytest
import spacy
from finding import make_finder

import spacy_connorm
from spacy_connorm import Concept
from spacy_connorm.documents.abbreviations import (
    abbreviation_spans,
    find_long_forms,
    get_long_form,
    set_abbreviations,
)
from spacy_connorm.encoders.ngram import NgramEncoder
from spacy_connorm.pipeline.assertions import Assertions
from spacy_connorm.text import cleaning
from spacy_connorm.text.abbreviations import Abbreviation, abbreviation_finder
from spacy_connorm.text.cleaning import clean, spell_greek, unify_dashes, unify_unicode
from spacy_connorm.text.composites import composite_splitter
from spacy_connorm.text.expansion import ShortForms, expand
from spacy_connorm.text.words import words_of

from .odd_texts import ATOMS, KNOWN, Pattern, patterns, texts
from .regex_steps import RegexSteps
from .work import Work, count_work

WORDS = words_of("en")
ABBREVIATIONS = abbreviation_finder("en")
COMPOSITES = composite_splitter("en")
ASSERTIONS = Assertions(WORDS.language.cues, WORDS, spacy.blank("en").tokenizer)
ROOT = Path(spacy_connorm.__file__).parent
# What twice the text may take: a bit more than twice, where the beginning costs less than the rest.
GROWTH, CONSTANT = 2.5, 300
# Characters of the texts that these are given, which bound their steps.
BOUNDED = {"Orthography._misspelled": 60}
MOST_STEPS = 50_000


def _modules() -> list[str]:
    sources = sorted(path for path in ROOT.rglob("*.py") if "re.compile(" in path.read_text("utf8"))
    return [".".join(path.relative_to(ROOT.parent).with_suffix("").parts) for path in sources]


@cache
def _ngrams(text: str) -> int:
    encoder = NgramEncoder()
    encoder.initialize(X=["heart attack", text])
    return encoder.predict([text]).nnz


LONG_FORMS = {"MI": "myocardial infarction", "AS": "Angelman's (MI)", "A1s": "a's A1 hand, foot"}
SHORT_FORMS = ShortForms(LONG_FORMS)

# What words of names and mentions go through before they are compared.
STEPS: dict[str, Callable[[str], str]] = {
    "unicode": unify_unicode,
    "dashes": unify_dashes,
    "greek": spell_greek,
    "tags": WORDS.orthography.strip_tags,
    "inversions": WORDS.orthography.restore_word_order,
    "possessives": WORDS.orthography.drop_possessives,
    "plurals": WORDS.orthography.drop_plurals,
    "spelling": WORDS.orthography.unify_spelling,
}
FUNCTIONS: dict[str, Callable[[str], object]] = {
    **STEPS,
    "clean": clean,
    "find_abbreviations": ABBREVIATIONS.find,
    "expand": lambda text: expand(text, LONG_FORMS, SHORT_FORMS),
    "expand to it": lambda text: expand("old MI", {"MI": text}),
    "find short forms": lambda text: list(SHORT_FORMS.find(text)),
    "split_composite": COMPOSITES.split,
    "align": lambda text: ABBREVIATIONS.align("A1MIAS", text),
    "align it": lambda text: ABBREVIATIONS.align(text, text),
    "restore_words": lambda text: COMPOSITES.restore_words(
        [word.split() or [","] for word in text.split(",")]
    ),
    "bag of words": WORDS.bag,
    "n-grams": _ngrams,
}
TEXT_MODULES = [import_module(name) for name in _modules()]


def _regexes(module: str) -> Iterator[tuple[str, re.Pattern, set[str]]]:
    """YIELDS (Tuple[str, Pattern, Set[str]]): Each with its name and the methods it is used by."""
    source = getsource(import_module(module))
    for name, value in vars(import_module(module)).items():
        if isinstance(value, re.Pattern) and f"{name} = " in source:
            yield f"{module}.{name}", value, set(re.findall(rf"\b{name}\.(\w+)\b", source))


def _alphabet(regex: re.Pattern) -> tuple[str, ...]:
    return (*set(regex.pattern), *re.findall(r"[A-Za-z]{2,}", regex.pattern), *ATOMS)


def _steps(regex: re.Pattern, text: str, used: set[str]) -> dict[str, int]:
    """Count, and check that what is counted does what Python's own matcher does."""
    counts = {}
    if "fullmatch" in used:
        full = RegexSteps(regex, text)
        assert full.matches_fully() == bool(regex.fullmatch(text))
        counts["fullmatch"] = full.steps
    if "match" in used:
        beginning, found = RegexSteps(regex, text), regex.match(text)
        assert beginning.match() == (found and found.end())
        counts["match"] = beginning.steps
    if used - {"match", "fullmatch"}:
        all_of_it = RegexSteps(regex, text)
        assert all_of_it.scan() == [found.span() for found in regex.finditer(text)]
        counts["scan"] = all_of_it.steps
    return counts


def _language_regexes(reader: object) -> Iterator[tuple[str, re.Pattern, set[str]]]:
    """YIELDS (Tuple[str, Pattern, Set[str]]): Those made from tables, as `_regexes`."""
    source = getsource(type(reader))
    for name, value in vars(reader).items():
        if isinstance(value, re.Pattern):
            used = set(re.findall(rf"\bself\.{name}\.(\w+)\b", source))
            yield f"{type(reader).__name__}.{name}", value, used


@pytest.mark.parametrize("reader", [WORDS.orthography, ABBREVIATIONS, COMPOSITES], ids=type)
def test_regular_expressions_of_a_language_take_linear_time(reader, trials):
    _assert_linear_regexes(_language_regexes(reader), trials(1, 150))


@pytest.mark.parametrize("number", range(len(ASSERTIONS.cues.patterns)))
def test_patterns_of_cues_take_linear_time(number, trials):
    cue, regex = list(ASSERTIONS.cues.patterns.items())[number]
    name = f"{cue.category}, {cue.direction}, {cue.scope}"
    method = "match" if cue.scope == "adjacent" else "finditer"
    _assert_linear_regexes(iter([(name, regex, {method})]), trials(1, 150))


@pytest.mark.parametrize("module", _modules())
def test_regular_expressions_take_linear_time(module, trials):
    _assert_linear_regexes(_regexes(module), trials(1, 150))


def _assert_linear_regexes(
    regexes: Iterator[tuple[str, re.Pattern, set[str]]], number: int
) -> None:
    for name, regex, used in regexes:
        alphabet = tuple(sorted(_alphabet(regex)))
        for pattern in (*KNOWN, *patterns(number, alphabet=alphabet)):
            if name in BOUNDED:
                most = _steps(regex, pattern.text(BOUNDED[name]), used)
                assert max(most.values()) < MOST_STEPS, (name, pattern)
                continue
            one, two = (_steps(regex, pattern.text(length), used) for length in (60, 120))
            assert all(two[way] <= GROWTH * one[way] + CONSTANT for way in one), (name, pattern)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_do_linear_work(name, trials):
    number = trials(8, 300)
    FUNCTIONS[name]("imports what it needs")
    length, known = 400, len(KNOWN)
    if name == "find_abbreviations":
        # It looks at 250 characters on either side of each bracket.
        length, known, number = 600, 8, number // 4
    for pattern in (*KNOWN[:known], *patterns(number)):
        _assert_linear(
            lambda size, pattern=pattern: count_work(
                FUNCTIONS[name], pattern.text(size), TEXT_MODULES
            ),
            length,
        )


def _assert_linear(work: Callable[[int], Work], size: int) -> None:
    one, two = work(size), work(2 * size)
    assert all(twice <= GROWTH * once + CONSTANT for once, twice in zip(one, two, strict=True)), (
        one,
        two,
    )


VOCAB = spacy.blank("en").vocab


def _defining(number: int, short: str, long: str) -> spacy.tokens.Doc:
    """A document that uses short forms which it defines, as many of either."""
    words = [short.format(place) for place in range(number)]
    doc = spacy.tokens.Doc(VOCAB, words)
    uses = [(token.idx, token.idx + len(token)) for token in doc]
    set_abbreviations(
        doc,
        [
            Abbreviation(word, long.format(place + 1), start, end, 0, 1)
            for place, (word, (start, end)) in enumerate(zip(words, uses, strict=True))
        ],
    )
    return doc


@pytest.mark.parametrize(
    ("short", "long"),
    [("S{}", "long form {}"), ("S", "long form {}"), ("S{}", "S{} again"), ("{}s", "one")],
    ids=["each defined", "one redefined", "a chain", "plurals"],
)
@pytest.mark.parametrize(
    "read",
    [
        lambda doc: find_long_forms(doc, [doc[place : place + 1] for place in range(len(doc))]),
        lambda doc: [get_long_form(span) for span in abbreviation_spans(doc)],
    ],
    ids=["of mentions", "of attributes"],
)
def test_many_mentions_of_many_short_forms(read, short, long, trials):
    size = trials(60, 1_000)
    read(_defining(2, short, long))
    _assert_linear(
        lambda number: count_work(lambda _: read(_defining(number, short, long)), "", TEXT_MODULES),
        size,
    )


def _finder() -> Callable[[str], object]:
    concepts = [
        Concept("C1", "Breast Neoplasms", ("breast cancer", "cancer of the breast")),
        Concept("C2", "cancer"),
    ]
    nlp = make_finder(concepts, first=["abbreviation_resolver"])
    resolver, finder = (nlp.get_pipe(name) for name in ("abbreviation_resolver", "mention_finder"))
    return lambda text: finder(resolver(nlp.make_doc(text)))


@pytest.mark.parametrize(
    "unit",
    [
        "no fever, ",
        "? fever ",
        "mother fever ",
        "fever: no ",
        "with mother ",
        "(1) ( ",
        "PMH:\nfever\n",
    ],
)
def test_marking_mentions_is_linear_work(unit, trials):
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "FINDING", "pattern": "fever"}])
    nlp.add_pipe("assertion_marker")
    nlp(unit)
    size = trials(60, 1_000)
    _assert_linear(lambda number: count_work(lambda _: nlp(unit * number), "", ()), size)


@pytest.mark.parametrize(
    "unit", ["cancer of the breast ", "breast ", "cancer of ", "BC ", "cancer (C) C, "]
)
def test_finding_mentions_is_linear_work(unit, trials):
    # Times jump where Python's garbage collector runs, so only work is counted.
    find = _finder()
    find(unit)
    size = trials(60, 1_000)
    _assert_linear(
        lambda number: count_work(lambda _: find("Breast cancer (BC) " + unit * number), "", ()),
        size,
    )


def test_long_texts_are_left_alone():
    assert expand("MI " * 1_000, LONG_FORMS) != "MI " * 1_000
    assert expand("MI " * 2_000, LONG_FORMS) == "MI " * 2_000
    align = ABBREVIATIONS.align
    assert align("cd" * 25, "c d " * 25) and not align("cd" * 26, "c d " * 26)
    assert align("ab", "alpha beta") and not align("ab", " " * 500 + "alpha beta")
    assert list(ShortForms(["A" * 101]).find("x " + "A" * 101)) == []
    assert list(ShortForms(["A" * 100]).find("x " + "A" * 100)) != []


# What the steps made of generated texts when the first indexes were built.
MADE = {
    "unicode": "f2932357f874 b4ddfe3e76fe",
    "dashes": "35d11a49d48d 4d3da5c93bb7",
    "greek": "9a29ec60126a 3f60d2f1c68d",
    "tags": "773dda3eeebe e0f7cd79ab4a",
    "inversions": "bb62f7d31db8 b33931ee06a4",
    "possessives": "4b9af61d5309 bd712a5786dd",
    "plurals": "a6e1867c91f0 c60de6baf10e",
    "spelling": "09b2a686d0dc 29a1b8a910ff",
}


def _squeezed(step: Callable[[str], str], text: str) -> str:
    """The result with single spaces; the text itself if nothing would be left."""
    return " ".join(step(text).split()) or text


@pytest.mark.parametrize("name", STEPS)
def test_steps_make_of_texts_what_they_made(name, trials):
    number = trials(2_000, 100_000)
    made = blake2b(digest_size=6)
    for text in texts(number):
        made.update(_squeezed(STEPS[name], clean(text)).encode() + b"\n")
    assert made.hexdigest() == MADE[name].split()[number == 100_000]


MARKS = (*"\u0301\u0323\u0327\uff9e\u3099\u0344\u0f77\u1161e한",)


def test_long_runs_of_marks_are_normalized_as_unicode_says(trials):
    for pattern in patterns(trials(200, 20_000), alphabet=MARKS):
        text = pattern.text(100)
        assert unify_unicode(text) == normalize("NFKC", text)


def test_marks_are_in_order_before_they_are_sorted_by_insertion(monkeypatch, trials):
    moves = []

    def count_moves(form, text):
        decomposed = "".join(normalize(form, character) for character in text)
        for _, run in groupby(map(combining, decomposed), key=bool):
            classes = list(run)
            moves.append(sum(one > other for one, other in combinations(classes, 2)))
        return normalize(form, text)

    counting = SimpleNamespace(normalize=count_moves, combining=combining)
    monkeypatch.setattr(cleaning, "unicodedata", counting)
    for pattern in patterns(trials(20, 300), alphabet=MARKS):
        moves.clear()
        unify_unicode(pattern.text(300))
        assert sum(moves) <= 300 * 32, pattern


def test_possessives_are_what_they_were(trials):
    old = re.compile(r"(?:(?<=\w)'s)+'*(?![\w'])|(?<=s)'+(?![\w'])", re.IGNORECASE)
    for pattern in patterns(trials(500, 50_000), alphabet=("'", "s", "S", "ſ", "a", " ", "_", "1")):
        text = clean(pattern.text(12))
        assert WORDS.orthography.drop_possessives(text) == old.sub("", text)


# Of 32 times the text. A quadratic function takes a thousand times the time.
LONG_GROWTH = 8 * 32


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_take_linear_time(name, trials):
    number = trials(0, 60)
    length = 500 if name == "find_abbreviations" else 2_000
    for pattern in (*KNOWN, *patterns(60, seed=1))[:number]:
        short, long = (_seconds(FUNCTIONS[name], pattern, size) for size in (length, 32 * length))
        assert long <= LONG_GROWTH * max(short, 1e-4), pattern


def _seconds(function: Callable[[str], object], pattern: Pattern, length: int) -> float:
    """RETURNS (float): Of processor time, the least of three."""
    text = pattern.text(length)
    seconds = []
    for _ in range(3):
        start = process_time()
        function(text)
        seconds.append(process_time() - start)
    return min(seconds)

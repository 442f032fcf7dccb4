"""An ontology's own names in frames of sentences: are they found there, each with the mark that its
frame must give? Nothing needs to be annotated.

Example: python benchmarks/frames.py --ontology hp-fr.jsonl --language fr --names 100 --show 3
"""

import random
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from _common.builders import NGRAMS
from _common.cli import begin, clear_errors, finish, make_parser
from _common.ontology_finder import build_finder
from _common.options import at_least
from _common.sentences import marked_spans
from spacy.language import Language

from spacy_connorm.concepts import Ontology
from spacy_connorm.evaluation.end_to_end import LinkedSpan
from spacy_connorm.evaluation.report import Row
from spacy_connorm.lang.language import KNOWN_LANGUAGES
from spacy_connorm.ontology import read_ontology
from spacy_connorm.text.words import Words, words_of

_FRAMES = Path(__file__).parent / "_sentences" / "frames.tsv"
_PRESENT, _ALONE = "present", "{name}"
_MOST_WORDS = 4


class Name(NamedTuple):
    """A name of an ontology.

    concept_id (str): Its concept.
    form (str): "quality", of "enlarged liver", "finding", of "liver failure", or "other".
    parts (Dict[str, str]): What stands for the parts of a frame: "name", its form, and "part".
    """

    concept_id: str
    form: str
    parts: dict[str, str]


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    with clear_errors():
        rows = measure(arguments)
    finish(rows, arguments.json)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    add = parser.add_argument
    add("--ontology", type=Path, required=True, metavar="PATH", help="an ontology in any format")
    add("--language", choices=KNOWN_LANGUAGES, default="en", help="[%(default)s]")
    add("--names", type=at_least(1), default=300, help="the most names a form [%(default)s]")
    add("--show", type=at_least(0), default=0, help="faults to print a frame [%(default)s]")
    return parser


def measure(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row a frame and form: how many of the names that are
    found alone are found in it, with its mark.
    """
    ontology, code = read_ontology(arguments.ontology), arguments.language
    nlp = build_finder(ontology, NGRAMS, language=code, clinical=True)
    names = _choose(_read_names(ontology, words_of(code)), arguments.names)
    known = [
        name
        for name, spans in _ask(nlp, ontology, _ALONE, names)
        if _is_found(name, _PRESENT, spans)
    ]
    rows = list[Row]()
    for language, form, frame, mark in _read_frames():
        fitting = [name for name in known if form in (name.form, "any")]
        if language == code and fitting:
            faults = [
                (name, spans)
                for name, spans in _ask(nlp, ontology, frame, fitting)
                if not _is_found(name, mark, spans)
            ]
            for name, spans in faults[: arguments.show]:
                others = [(span.text, *sorted(span.concept_ids)) for span in spans]
                print(f"{mark}: {_fill(frame, name)!r}, {name.concept_id}: {others}")
            asked, found = len(fitting), len(fitting) - len(faults)
            rows.append({"frame": frame, "mark": mark, "found": found, "asked": asked})
    return rows


def _read_frames() -> list[list[str]]:
    lines = _FRAMES.read_text(encoding="utf8").splitlines()[1:]
    return [line.split("\t") for line in lines]


def _read_names(ontology: Ontology, words: Words) -> Iterator[Name]:
    """YIELDS (Name): The names of a few plain words in the singular, with a small first letter."""
    for concept in ontology:
        for text in (concept.canonical_name, *concept.aliases):
            tokens = (text[:1].lower() + text[1:]).split()
            is_plain = all(token.isalpha() and token.islower() for token in tokens)
            is_short = 1 < len(tokens) <= _MOST_WORDS
            if not (is_plain and is_short) or words.classes.stop_words.intersection(tokens):
                continue
            if words.orthography.drop_plurals(text) == text:
                yield Name(concept.concept_id, *_form(tokens, words))


def _form(tokens: Sequence[str], words: Words) -> tuple[str, dict[str, str]]:
    (*before, last), (first, *after) = tokens, tokens
    parts = {"name": " ".join(tokens)}
    if words.is_head_first:
        return "other", parts
    if words.is_quality(first) and not any(map(words.is_adjective, after)):
        return "quality", parts | {"quality": first, "part": " ".join(after)}
    if words.is_head(last) and not any(map(words.is_adjective, before)):
        return "finding", parts | {"finding": last, "part": " ".join(before)}
    return "other", parts


def _choose(names: Iterable[Name], most: int) -> list[Name]:
    """RETURNS (List[Name]): Some of each form, the same ones each time."""
    by_form: dict[str, list[Name]] = {}
    for name in names:
        by_form.setdefault(name.form, []).append(name)
    draw = random.Random(1).sample
    return [name for group in by_form.values() for name in draw(group, min(most, len(group)))]


def _fill(frame: str, name: Name) -> str:
    text = frame.format(**name.parts)
    return text[0].upper() + text[1:]


def _ask(
    nlp: Language, ontology: Ontology, frame: str, names: Sequence[Name]
) -> Iterator[tuple[Name, list[LinkedSpan]]]:
    """YIELDS (Tuple[Name, List[LinkedSpan]]): Each name, and what is found in the frame with it."""
    docs = nlp.pipe(_fill(frame, name) for name in names)
    for name, doc in zip(names, docs, strict=True):
        yield name, marked_spans(doc, ontology)


def _is_found(name: Name, mark: str, spans: Iterable[LinkedSpan]) -> bool:
    wanted = name.concept_id if mark == _PRESENT else f"{name.concept_id} {mark}"
    return any(wanted in span.concept_ids for span in spans)


if __name__ == "__main__":
    main()

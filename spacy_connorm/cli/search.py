"""`connorm search`: search for mentions and show their candidates."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import typer
from wasabi import msg

from ..concepts import NIL, Candidate
from ..concepts.concept import by_part
from ..errors import Errors
from ..linker.explanation import Explanation
from ..pipeline import find_normalizer, load_pipeline
from ..pipeline.concept_normalizer import ConceptNormalizer
from ..workflows import explain as explain_mentions
from ..workflows import search as search_mentions
from .app import command, show_table
from .billing import billing_of
from .options import options_of

_COLUMNS = ["Mention", "Probability", "Concept", "Name", "Score", "Dense", "Lexical", "Found as"]
_COLUMNS += ["Language", "Search", "Billing", "Codes"]
_NUMBERS = ("Probability", "Score", "Dense", "Lexical")
# Probabilities, the two cosines of a hybrid score, languages, what can't be billed, and codes, if
# there are any.
_OPTIONAL = ("Probability", "Dense", "Lexical", "Language", "Billing", "Codes")
_WIDTH = 40
_SHOWN = 3
_Row = dict[str, str]


@command("search")
@options_of(
    search_mentions,
    flags={"top_k": "-k", "types": "-t", "branches": "-b", "code_systems": "-c"},
    help={"top_k": f"The maximum number of candidates for each mention. [{_SHOWN}]"},
)
def search_cli(
    pipeline: str = typer.Argument(..., help="An installed package, or a pipeline's folder."),
    mentions: list[str] | None = typer.Argument(
        None, metavar="[MENTION]...", help="Texts to search for. [lines of standard input]"
    ),
    explain: bool = typer.Option(False, "--explain", "-e", help="Show each search of the sieve."),
    **given: Any,
) -> None:
    """Show the candidates of mentions.

    Without mentions, each line of standard input is a mention, answered as it is read; the pipeline
    is loaded only once. If the best candidate is less probable than the pipeline's `nil_threshold`,
    the answer is NIL, shown above the candidates.

    Example: connorm search training/index "heart attack" "high sugar" -k 3
    """
    given.setdefault("top_k", _SHOWN)
    if explain and "search" in given:
        raise Errors.CN736(option="--explain", other="--search")
    nlp = load_pipeline(pipeline)
    normalizer = find_normalizer(nlp, component=given.get("component"))
    for batch in [mentions] if mentions else _lines():
        if explain:
            for explanation in explain_mentions(nlp, batch, **given):
                _show_explanation(explanation, normalizer)
        else:
            answers = zip(batch, search_mentions(nlp, batch, **given), strict=True)
            _show_rows(row for answer in answers for row in _answer_rows(*answer, normalizer))
        # Someone who types line by line waits for each answer.
        sys.stdout.flush()


def _lines() -> Iterator[list[str]]:
    if sys.stdin.isatty():
        msg.info("One mention per line; end with Ctrl-D (on Windows Ctrl-Z and Enter).")
    for number, raw in enumerate(sys.stdin.buffer, start=1):
        with Errors.CN107.instead_of(UnicodeDecodeError, path="standard input", line=number):
            line = raw.decode("utf-8").strip()
        if line:
            yield [line]


def _answer_rows(
    mention: str, candidates: Sequence[Candidate], normalizer: ConceptNormalizer
) -> Iterator[_Row]:
    """YIELDS (Row): For each part of the mention, NIL if the normalizer decides so, and the
    candidates.
    """
    reason = f"the first is less probable than {normalizer.cfg['nil_threshold']}"
    for part in by_part(candidates) or [[]]:
        title = f"{mention} ({part[0].searched})" if part and part[0].part else mention
        if part and normalizer.decide(part[:1]) == NIL:
            yield {"Mention": title, "Concept": NIL, "Name": reason}
            title = ""
        yield from _candidate_rows(title, part, normalizer)


def _candidate_rows(
    title: str, candidates: Sequence[Candidate], normalizer: ConceptNormalizer
) -> Iterator[_Row]:
    if not candidates:
        yield {"Mention": title, "Concept": "-", "Name": "nothing found"}
    for candidate in candidates:
        yield {
            "Mention": title,
            "Concept": candidate.concept_id,
            "Name": candidate.name,
            **{name: _number(getattr(candidate, name.lower())) for name in _NUMBERS},
            "Found as": candidate.text,
            "Language": candidate.language,
            "Search": candidate.search,
            "Billing": billing_of(normalizer, candidate.concept_id),
            "Codes": _codes(candidate),
        }
        title = ""


def _codes(candidate: Candidate) -> str:
    codes = candidate.codes or {}
    return ", ".join(
        f"{system}:{code}" for system, listed in codes.items() for code in listed or ["none"]
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _show_explanation(explanation: Explanation, normalizer: ConceptNormalizer) -> None:
    msg.divider(explanation.mention)
    if len(explanation.interpretations) > 1:
        answers = ["this one answers", *[""] * len(explanation.interpretations)]
        rows = [
            (way.kind, " | ".join(way.texts), f"{way.score:.3f}", verdict)
            for way, verdict in zip(explanation.interpretations, answers, strict=False)
        ]
        show_table(rows, header=("Read", "As", "Score", ""), width=_WIDTH)
    for number, part in enumerate(explanation.parts, start=1):
        name = f"Part {number}" if len(explanation.parts) > 1 else "The mention"
        if part.searched != explanation.mention:
            msg.info(f"{name} is searched as {part.searched}")
        for step in part.steps:
            needed = "the last search" if step.threshold is None else f"needs {step.threshold}"
            verdict = "this one answers" if step.answers else "does not answer"
            msg.info(f"{step.search}, {needed}: {verdict}")
            _show_rows(_candidate_rows(part.searched, step.candidates, normalizer))
        best = explanation.interpretations[0].parts[number - 1][:1]
        if best and normalizer.decide(best) == NIL:
            probability, threshold = _number(best[0].probability), normalizer.cfg["nil_threshold"]
            msg.info(f"{name} is NIL: its probability is {probability}, below {threshold:g}")


def _show_rows(rows: Iterable[_Row]) -> None:
    found = list(rows)
    filled = {name for row in found for name, cell in row.items() if cell}
    header = [name for name in _COLUMNS if name in filled or name not in _OPTIONAL]
    cells = ([row.get(name, "") for name in header] for row in found)
    aligns = "".join("r" if name in _NUMBERS else "l" for name in header)
    show_table(cells, header=header, aligns=aligns, width=_WIDTH)

"""`connorm search`: mentions typed on the command line to a table of candidates."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer
from wasabi import msg

from ..concepts import Candidate
from ..pipeline.loading import load_normalizer
from .app import command, split_items

if TYPE_CHECKING:
    from ..linker.explanation import Explanation, Interpretation

_ALIGNS = {
    **{"Mention": "l", "Concept": "l", "Name": "l", "Score": "r", "Dense": "r", "Lexical": "r"},
    **{"Found as": "l", "Search": "l"},
}
# Both cosines behind a score, where it weighs two.
_PARTS = ("Dense", "Lexical")
_READINGS = ("Read", "As", "Score", "")
_WIDTH = 40


@command("search")
def search_cli(
    pipeline: str = typer.Argument(..., help="An installed package, or a pipeline's folder."),
    mentions: list[str] = typer.Argument(..., metavar="MENTION...", help="Texts to look up."),
    search: str | None = typer.Option(
        None, "--search", help="One search alone, e.g. O-T. [the pipeline's sieve]"
    ),
    top_k: int | None = typer.Option(
        None, "--top-k", "-k", min=1, help="Candidates of each mention. [the pipeline's]"
    ),
    types: str | None = typer.Option(
        None, "--types", "-t", metavar="A,B,...", help="Only concepts of these semantic types."
    ),
    branches: str | None = typer.Option(
        None, "--branches", "-b", metavar="A,B,...", help="Only concepts at or below these."
    ),
    explain: bool = typer.Option(False, "--explain", "-e", help="Show each search of the sieve."),
    component: str | None = typer.Option(
        None, "--component", help="Which concept normalizer, if there are several."
    ),
) -> None:
    """Look mentions up and show their candidates.

    Example: python -m spacy connorm search training/index "heart attack" "high sugar" -k 3
    """
    normalizer = load_normalizer(pipeline, component=component)
    limits = _given(top_k=top_k, types=types, branches=branches)
    if explain:
        for mention in mentions:
            _show_explanation(normalizer.explain(mention, **limits))
        return
    if search is None:
        found = normalizer.candidates(mentions, **limits)
    else:
        settings = {key: normalizer.cfg[key] for key in ("top_k", "types", "branches")}
        found = normalizer.lookup.search(search, mentions, **settings | limits)
    rows = [
        row
        for mention, candidates in zip(mentions, found, strict=True)
        for row in _rows(mention, candidates)
    ]
    _show_table(rows)


def _given(*, top_k: int | None, types: str | None, branches: str | None) -> dict[str, Any]:
    lists = {"types": types, "branches": branches}
    limits: dict[str, Any] = {
        key: split_items(items) for key, items in lists.items() if items is not None
    }
    return limits if top_k is None else {**limits, "top_k": top_k}


def _rows(mention: str, candidates: Sequence[Candidate]) -> list[tuple[str, ...]]:
    if not candidates:
        return [(mention, "-", "nothing found", *[""] * 5)]
    rows: list[tuple[str, ...]] = []
    part = None
    for candidate in candidates:
        rows.append(
            (
                "" if candidate.part == part else _looked_up(mention, candidate),
                candidate.concept_id,
                candidate.name,
                *map(_number, (candidate.score, candidate.dense, candidate.lexical)),
                candidate.text,
                candidate.search,
            )
        )
        part = candidate.part
    return rows


def _number(cosine: float | None) -> str:
    return "" if cosine is None else f"{cosine:.3f}"


def _looked_up(mention: str, candidate: Candidate) -> str:
    return f"{mention} ({candidate.searched})" if candidate.part else mention


def _show_explanation(explanation: "Explanation") -> None:
    searched = "" if explanation.searched == explanation.mention else f" as {explanation.searched}"
    msg.divider(f"{explanation.mention}{searched}")
    if len(explanation.interpretations) > 1:
        rows = [
            _interpretation_row(place, each)
            for place, each in enumerate(explanation.interpretations)
        ]
        msg.table(rows, header=_READINGS, divider=True, max_col=_WIDTH)
    for step in explanation.steps:
        needed = "the last search" if step.threshold is None else f"needs {step.threshold}"
        answers = "this one answers" if step.answers else "does not answer"
        msg.info(f"{step.search}, {needed}: {answers}")
        _show_table(_rows(explanation.mention, step.candidates))


def _interpretation_row(place: int, interpretation: "Interpretation") -> tuple[str, ...]:
    answers = "this one answers" if place == 0 else ""
    return (
        interpretation.kind,
        _shortened(" | ".join(interpretation.texts)),
        f"{interpretation.score:.3f}",
        answers,
    )


def _show_table(rows: Sequence[tuple[str, ...]]) -> None:
    columns = [
        (name, cells)
        for name, *cells in zip(_ALIGNS, *rows, strict=True)
        if name not in _PARTS or any(cells)
    ]
    header, cells = zip(*columns, strict=True)
    shortened = [tuple(map(_shortened, row)) for row in zip(*cells, strict=True)]
    aligns = [_ALIGNS[name] for name in header]
    msg.table(shortened, header=header, aligns=aligns, divider=True, max_col=_WIDTH)


def _shortened(cell: str) -> str:
    return cell if len(cell) <= _WIDTH else f"{cell[: _WIDTH - 3]}..."

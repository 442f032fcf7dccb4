"""`connorm evaluate`: how right a pipeline is on an annotated corpus."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import srsly
import typer
from tqdm import tqdm
from wasabi import msg

from ..component import ConceptNormalizer
from ..errors import ConnormError, Errors
from ..evaluation import Evaluation, Gold, Prediction, evaluate, read_gold
from ..evaluation.mistakes import list_mistakes
from ..evaluation.report import (
    Row,
    comparison_row,
    comparison_text,
    group_rows,
    nil_row,
    score_row,
    to_json,
    to_table,
    to_tsv,
)
from ..files import written_aside
from .app import command
from .devices import choose_device
from .gold import find_known, find_seen, read_mentions
from .pipelines import load_normalizer

# Candidates of each mention; a right concept that comes later counts as none.
DEPTH = 20
_BATCH = 256
_LISTS = (".tsv", ".jsonl")


class Run(NamedTuple):
    """One way to answer the mentions of a corpus.

    name (str): The search, or the pipeline's sieve.
    predictions (List[Prediction]): One a mention.
    evaluation (Evaluation): Their scores.
    """

    name: str
    predictions: list[Prediction]
    evaluation: Evaluation


@command("evaluate")
def evaluate_cli(
    pipeline: str = typer.Argument(..., help="An installed package, or a pipeline's folder."),
    corpus_path: Path = typer.Argument(..., metavar="CORPUS", help="A .spacy file with gold ids."),
    search: list[str] = typer.Option(
        [], "--search", "-s", metavar="NAME", help="Score this search alone too, e.g. O-T. Repeat."
    ),
    train_path: Path | None = typer.Option(
        None,
        "--train",
        "-t",
        metavar="D",
        help="A .spacy file to tell unseen mentions by. [the index's D]",
    ),
    json_path: Path | None = typer.Option(None, "--json", help="Write the scores as JSON."),
    errors_path: Path | None = typer.Option(
        None, "--errors", "-e", help="List wrong answers in this .tsv or .jsonl file."
    ),
    gpu_id: int = typer.Option(-1, "--gpu-id", "-g", help="GPU for the encoder; -1 for the CPU."),
    component: str | None = typer.Option(
        None, "--component", help="Which concept normalizer, if there are several."
    ),
) -> None:
    """Score a pipeline's concept normalizer on the gold mentions of a corpus, leniently (any
    gold concept on the first place, ties included, as papers count) and strictly (the one id
    that is written is all of the gold standard).

    Example: python -m spacy connorm evaluate training/index test.spacy --errors errors.tsv
    """
    if errors_path is not None and errors_path.suffix not in _LISTS:
        known = " or ".join(_LISTS)
        raise ConnormError(Errors.CN708.format(action="write", path=errors_path, known=known))
    choose_device(gpu_id)
    normalizer = load_normalizer(pipeline, component=component)
    mentions = read_mentions(corpus_path, normalizer)
    concepts = find_known(normalizer, mentions, corpus_path)
    seen = find_seen(normalizer, mentions, train_path=train_path)
    gold = [
        read_gold(mention, concepts, seen=each)
        for mention, each in zip(mentions, seen, strict=True)
    ]
    runs = list(run_searches(normalizer, gold, search))
    show_runs(runs)
    if json_path is not None:
        with written_aside(json_path) as aside:
            aside.write_text(to_json(to_rows(runs)), encoding="utf8")
    if errors_path is not None:
        names = {concept.concept_id: concept.name for concept in concepts.values()}
        write_mistakes(runs, gold, names, errors_path)
        msg.good(f"Listed wrong answers: {errors_path}")


def run_searches(
    normalizer: ConceptNormalizer, gold: Sequence[Gold], searches: Sequence[str]
) -> Iterator[Run]:
    """Answer the mentions with the pipeline's sieve, and with searches alone.

    normalizer (ConceptNormalizer): Answers.
    gold (Sequence[Gold]): The mentions.
    searches (Sequence[str]): The searches.
    YIELDS (Run): The sieve's run, then one a search.
    RAISES (ConnormError): CN500 for an unknown search, CN408 for one that the index was built
        without.
    """
    from ..index.spaces import SEARCHES

    for name in searches:
        if name not in SEARCHES:
            raise ConnormError(Errors.CN500.format(search=name, known=", ".join(SEARCHES)))
        normalizer.lookup.index.searcher(name)
    texts = [each.text for each in gold]
    named: dict[str, str | None] = {"+".join(normalizer.lookup.sieve.searches): None}
    for name, search in (named | {search: search for search in searches}).items():
        predictions = predict(normalizer, texts, search)
        yield Run(name, predictions, evaluate(gold, predictions))


def predict(
    normalizer: ConceptNormalizer, texts: Sequence[str], search: str | None = None
) -> list[Prediction]:
    """Answer mentions; each distinct text is encoded once.

    normalizer (ConceptNormalizer): Answers, within its types and branches.
    texts (Sequence[str]): The mentions.
    search (Optional[str]): One search alone; the sieve if None.
    RETURNS (List[Prediction]): One a mention.
    """
    limits = {key: normalizer.cfg[key] for key in ("types", "branches")}
    distinct = list(dict.fromkeys(texts))
    found: dict[str, Prediction] = {}
    with tqdm(total=len(distinct), unit=" mentions", delay=2, leave=False, disable=None) as bar:
        for start in range(0, len(distinct), _BATCH):
            batch = distinct[start : start + _BATCH]
            if search is None:
                answers = normalizer.lookup.candidates(batch, top_k=DEPTH, **limits)
            else:
                answers = normalizer.lookup.search(search, batch, top_k=DEPTH, **limits)
            for text, candidates in zip(batch, answers, strict=True):
                found[text] = Prediction(candidates, normalizer.decide(candidates))
            bar.update(len(batch))
    return [found[text] for text in texts]


def to_rows(runs: Sequence[Run]) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One flat row a run, beside the first run."""
    first = runs[0].evaluation
    rows = [{"search": run.name, **score_row(run.evaluation)} for run in runs]
    for row, run in zip(rows[1:], runs[1:], strict=True):
        row.update(comparison_row(run.evaluation, first))
    return rows


def show_runs(runs: Sequence[Run]) -> None:
    """Print scores: the two protocols side by side, groups of mentions below each other.

    runs (Sequence[Run]): At least one.
    """
    rows = to_rows(runs)
    msg.divider("Accuracy and mean reciprocal rank, percent")
    print(to_table([each for row in rows for each in group_rows(row)]))
    if rows[0]["nil_mentions"] or rows[0]["nil_precision"] is not None:
        msg.divider("Mentions of no concept (NIL), percent")
        print(to_table([nil_row(row) for row in rows]))
    if len(rows) > 1:
        msg.divider(f"Compared with {rows[0]['search']}, paired bootstrap")
        print(to_table([comparison_text(row) for row in rows[1:]]))


def write_mistakes(
    runs: Iterable[Run], gold: Sequence[Gold], names: dict[str, str], path: Path
) -> None:
    """List wrong answers in a file, aside first and then renamed.

    runs (Iterable[Run]): The runs.
    gold (Sequence[Gold]): What is right.
    names (Dict[str, str]): Preferred names by concept id.
    path (Path): A `.tsv` or `.jsonl` file.
    RAISES (ConnormError): CN105 or CN108 if it cannot be written.
    """
    rows = [
        {"run": run.name, **row}
        for run in runs
        for row in list_mistakes(gold, run.predictions, names)
    ]
    with written_aside(path) as aside:
        if path.suffix == ".jsonl":
            srsly.write_jsonl(aside, rows)
        else:
            aside.write_text(to_tsv(rows), encoding="utf8")

"""`connorm corpus`: any annotated corpus to a `.spacy` file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import spacy
import typer
from spacy.language import Language
from tqdm import tqdm
from wasabi import msg

from ..corpora import FORMATS, Report, read_corpus, write_docs
from ..errors import ConnormError, Errors
from .app import command, split_items


@command("corpus")
def corpus_cli(
    input_path: Path = typer.Argument(..., metavar="IN", help="The corpus, perhaps gzipped."),
    output_path: Path = typer.Argument(..., metavar="OUT", help="A .spacy file."),
    format: str | None = typer.Option(
        None, "--format", "-f", help=f"Told from the name of IN, or one of: {', '.join(FORMATS)}."
    ),
    types: str = typer.Option(
        "", "--types", "-t", metavar="A,B,...", help="Keep only these; for CRAFT, the ontologies."
    ),
    lang: str = typer.Option("en", "--lang", "-l", help="Language, for its tokenizer."),
    columns: str = typer.Option(
        "", "--columns", metavar="A,B,...", help="TSV: what they hold. [id,name,mention]"
    ),
    header: bool = typer.Option(False, "--header", help="TSV: the first line is no mention."),
) -> None:
    """Convert an annotated corpus to spaCy's format, and say what is in it.

    Example: python -m spacy connorm corpus train.pubtator.gz train.spacy --types Disease
    """
    options: dict[str, Any] = {}
    if columns:
        options["columns"] = split_items(columns)
    if header:
        options["header"] = True
    report = convert_corpus(
        input_path, output_path, format=format, types=split_items(types), lang=lang, **options
    )
    show_report(report)
    msg.good(f"Wrote {len(report.doc_ids) + report.repeated:,} documents: {output_path}")


def convert_corpus(
    input_path: Path,
    output_path: Path,
    *,
    format: str | None = None,
    types: Sequence[str] = (),
    lang: str = "en",
    **options: Any,
) -> Report:
    """Convert an annotated corpus to a `.spacy` file.

    input_path (Path): The corpus.
    output_path (Path): The `.spacy` file to write.
    format (Optional[str]): The corpus format; told by the file's name if not given.
    types (Sequence[str]): The mention types to keep; if empty, all that are to be linked.
    lang (str): Code of the language whose tokenizer is used.
    **options: Settings of the format's reader.
    RETURNS (Report): What was found.
    RAISES (ConnormError): CN213 for an unknown language, and what `read_corpus` and `write_docs`
        raise.
    """
    report = Report()
    docs = read_corpus(
        input_path, nlp=_blank(lang), format=format, types=types, report=report, **options
    )
    with tqdm(docs, unit=" documents", delay=2, leave=False, disable=None) as passing:
        write_docs(passing, output_path)
    return report


def show_report(report: Report) -> None:
    """Print what was found in a corpus.

    report (Report): The counts.
    """
    types = [
        (label, count, report.without_id[label]) for label, count in report.mentions.most_common()
    ]
    header = ("Type", "Mentions", "Without id")
    msg.table(types, header=header, aligns=("l", "r", "r"), divider=True)
    counts = [
        ("Documents", len(report.doc_ids)),
        ("Documents whose id occurred before", report.repeated),
        ("Documents without mentions", report.without_mentions),
        ("Passages", report.passages),
        ("Mentions", report.mentions.total()),
        ("Mentions without id", report.without_id.total()),
        ("Distinct concept ids", len(report.concept_ids)),
        ("Composite mentions, ids joined by |", report.composite),
        ("Combinations, ids joined by +", report.combination),
        ("Discontinuous mentions, not in doc.ents", report.discontinuous),
        ("Mentions in a longer one, not in doc.ents", report.overlapping),
        ("Mentions not at token borders", report.misaligned),
        ("Mentions that differ from the text", len(report.mismatched)),
        *((f"Left out: mentions of type {label}", n) for label, n in report.left_out.items()),
        *((f"Passed over: {reason}", n) for reason, n in report.skipped.items()),
    ]
    msg.table(counts, aligns=("l", "r"), max_col=60)


def _blank(lang: str) -> Language:
    try:
        return spacy.blank(lang)
    except ImportError as error:
        raise ConnormError(Errors.CN213.format(lang=lang, reason=error)) from error

"""`connorm corpus`: convert an annotated corpus to a `.spacy` file."""

from pathlib import Path
from typing import Any

import typer
from wasabi import msg

from ..documents.corpora import FORMATS, CorpusReport, convert_corpus
from .app import command, split_items


@command("corpus")
def corpus_cli(
    input_path: Path = typer.Argument(..., metavar="IN", help="The corpus; may be gzipped."),
    output_path: Path = typer.Argument(..., metavar="OUT", help="A .spacy file."),
    format: str | None = typer.Option(
        None, "--format", "-f", help=f"One of: {', '.join(FORMATS)}. [detected from the name]"
    ),
    types: str = typer.Option(
        "", "--types", "-t", metavar="A,B,...", help="Keep only these; for CRAFT, the ontologies."
    ),
    label: str | None = typer.Option(
        None, "--label", help="One label for all mentions, to train an NER on."
    ),
    lang: str = typer.Option("en", "--lang", "-l", help="Language, for its tokenizer."),
    ids_of: Path | None = typer.Option(
        None,
        "--ids-of",
        metavar="ONTOLOGY",
        help="Replace ids of another vocabulary by those of this ontology's concepts that refer to "
        "them, e.g. MeSH's by MONDO's. As `connorm ontology` writes it.",
    ),
    columns: str = typer.Option(
        "", "--columns", metavar="A,B,...", help="TSV: what they hold. [id,name,mention]"
    ),
    header: bool = typer.Option(False, "--header", help="TSV: the first line is a header."),
    texts: Path | None = typer.Option(
        None, "--texts", metavar="FOLDER", help="MCN, ShARe/CLEF: the notes. [found]"
    ),
) -> None:
    """Convert an annotated corpus to spaCy's format, and show what is in it.

    Example: python -m spacy connorm corpus train.pubtator.gz train.spacy --types Disease
    """
    options: dict[str, Any] = {}
    if columns:
        options["columns"] = split_items(columns)
    if header:
        options["header"] = True
    if texts is not None:
        options["texts"] = texts
    report = convert_corpus(
        *(input_path, output_path),
        format=format,
        types=split_items(types),
        label=label,
        lang=lang,
        ids_of=ids_of,
        **options,
    )
    show_report(report)
    msg.good(f"Wrote {len(report.doc_ids) + report.repeated:,} documents: {output_path}")


def show_report(report: CorpusReport) -> None:
    """Print the counts of a corpus.

    report (CorpusReport): The counts.
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
        *((f"Ids: {outcome}", n) for outcome, n in sorted(report.translated.items())),
    ]
    msg.table(counts, aligns=("l", "r"), max_col=60)

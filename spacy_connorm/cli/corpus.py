"""`connorm corpus`: convert an annotated corpus to a `.spacy` file."""

from typing import Any

from wasabi import msg

from ..documents import CORPUS_FORMATS, CorpusReport, convert_corpus
from .app import command, show_table, tally
from .options import options_of


@command("corpus")
@options_of(
    convert_corpus,
    formats={name: form.read for name, form in CORPUS_FORMATS.items()},
    flags={"format": "-f", "types": "-t", "lang": "-l"},
    help={"format": f"One of: {', '.join(CORPUS_FORMATS)}. [detected from the name]"},
)
def corpus_cli(**given: Any) -> None:
    """Convert an annotated corpus to spaCy's format.

    Example: connorm corpus train.pubtator.gz train.spacy --types Disease
    """
    report = convert_corpus(**given)
    show_report(report)
    written = tally(documents=len(report.doc_ids) + report.repeated)
    msg.good(f"Wrote {given['output_path']} ({written})")


def show_report(report: CorpusReport) -> None:
    """Print the counts of a corpus.

    report (CorpusReport): The counts.
    """
    types = [
        (label, count, report.without_id[label]) for label, count in report.mentions.most_common()
    ]
    show_table(types, header=("Type", "Mentions", "Without id"), aligns="lrr")
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
        ("Lines that can't be read, skipped", report.odd.skipped),
        *((f"Left out: mentions of type {label}", n) for label, n in report.left_out.items()),
        *((f"Skipped: {reason}", n) for reason, n in report.skipped.items()),
        *((f"Ids: {outcome}", n) for outcome, n in sorted(report.translated.items())),
    ]
    show_table(counts, aligns="lr")

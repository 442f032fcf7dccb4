"""`connorm evaluate`: score pipelines on an annotated corpus."""

from typing import Any

from wasabi import msg

from ..evaluation import evaluate
from ..evaluation.mistakes import count_kinds
from ..evaluation.report import BIOSYN, OPEN, to_table
from .app import command
from .options import options_of


@command("evaluate")
@options_of(
    evaluate,
    flags={
        **{"searches": "--search -s", "beside": "-b", "gpu_id": "-g"},
        **{"json_path": "--json", "markdown_path": "--markdown", "errors_path": "--errors -e"},
        "calibrate_path": "--calibrate",
    },
    help={
        "protocol": f"{OPEN}: mentions are read as in the pipeline. {BIOSYN}: as in BioSyn, "
        "only for comparison with its numbers: abbreviations expanded, composites split by the "
        "number of gold ids (it looks at the gold standard), OMIM ids dropped beside others, no "
        "case, no punctuation; the names in the index are not changed.",
        "calibrate_path": "Fit thresholds and probabilities to the corpus, which must be dev data "
        "that is not in the index, and write a copy of the pipeline with them.",
    },
    repeated=("searches",),
)
def evaluate_cli(**given: Any) -> None:
    """Score a pipeline on the gold mentions of a corpus.

    Leniently, any gold concept is ranked first, ties included, as in BioSyn; strictly, the ids that
    are written are the gold ids. Other pipelines can be scored beside it.

    Example: connorm evaluate training/index test.spacy --errors errors.tsv

    Example: connorm evaluate before test.spacy --beside after

    Example: connorm evaluate training/pipeline test.spacy --end-to-end

    Example: connorm evaluate training/index dev.spacy --calibrate training/sure
    """
    report = evaluate(**given)
    for title, rows in report.sections:
        msg.divider(title)
        print(to_table(rows))
    if "errors_path" in given:
        if report.mistakes and not given["end_to_end"]:  # its tables have examples
            msg.divider("Wrong answers by kind")
            print(to_table(count_kinds(report.mistakes)))
        msg.good(f"Listed wrong answers: {given['errors_path']}")
    if "calibrate_path" in given:
        msg.good(f"Wrote the calibrated pipeline: {given['calibrate_path']}")

"""The files that an evaluation writes."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..files.overlap import require_distinct_outputs
from .score_files import require_writable, write_markdown, write_mistakes, write_scores

if TYPE_CHECKING:
    from .evaluation_run import EvaluationReport

PLAIN_LISTS = (".tsv", ".jsonl")
_LISTS = (*PLAIN_LISTS, ".md")
_PICTURES = (".svg", ".png")


class EvaluationFiles(NamedTuple):
    """The files that an evaluation writes; None for those that are not wanted.

    json (Optional[Path]): The scores.
    markdown (Optional[Path]): The tables.
    errors (Optional[Path]): The wrong answers.
    picture (Optional[Path]): The picture of concept texts.
    calibrated (Optional[Path]): The folder of the calibrated pipeline.
    curves (Sequence[Path]): The curves of the calibration.
    """

    json: Path | None
    markdown: Path | None
    errors: Path | None
    picture: Path | None
    calibrated: Path | None
    curves: Sequence[Path]

    @property
    def paths(self) -> Sequence[Path | None]:
        """RETURNS (Sequence[Optional[Path]]): All of them."""
        return (*self[:-1], *self.curves)

    def check(self) -> None:
        """Check before any work is done that they can be written.

        RAISES (ConnormError): CN124 if two have the same name, and those of `require_writable` and
            `require_outputs`.
        """
        require_distinct_outputs(*self.paths)
        require_writable(self.json)
        require_writable(self.markdown)
        require_writable(self.errors, _LISTS)
        require_writable(self.picture, _PICTURES)
        if self.calibrated is not None:
            from .calibration import require_outputs

            require_outputs(self.calibrated, self.curves)

    def write(self, report: "EvaluationReport") -> None:
        """Write them; `calibrate` has written the pipeline and its curves.

        report (EvaluationReport): What to write.
        RAISES (ConnormError): CN108 if a file cannot be written.
        """
        if self.json is not None:
            write_scores(report.rows, self.json)
        if self.markdown is not None:
            write_markdown(report.sections, self.markdown)
        if self.errors is not None:
            write_mistakes(report.mistakes, self.errors)
        if self.picture is not None and report.drawing is not None:
            report.drawing.write(self.picture)

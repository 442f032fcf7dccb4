"""Converting an ontology of any format to the knowledge-base JSONL that everything else reads."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from ..concepts import read_concepts, write_concepts
from ..errors import ConnormError, Errors
from ..files.licence import write_licensed
from ..files.overlap import require_apart
from .checks import Inventory, Summary, warn_about
from .joining import Joined, join_concepts
from .reading import read_ontology, stream_ontology
from .report import ReadReport


class Conversion(NamedTuple):
    """The result of converting an ontology.

    summary (Summary): What the ontology holds.
    report (ReadReport): What was left out, and the terms of use that the file states.
    licence (str): The terms of use, kept beside the new file; may be empty.
    """

    summary: Summary
    report: ReadReport
    licence: str


def convert_ontology(
    input_path: str | Path,
    output_path: str | Path,
    *,
    format: str | None = None,
    licence: str = "",
    curies: bool = False,
    **options: Any,
) -> Conversion:
    """Convert an ontology to knowledge-base JSONL: `python -m spacy connorm ontology`. Concepts are
    read and written one by one, so an ontology of any size fits in memory.

    input_path (Union[str, Path]): The ontology, which may be gzipped, or the META folder of a UMLS
        release.
    output_path (Union[str, Path]): A .jsonl or .jsonl.gz file.
    format (Optional[str]): One of `FORMATS`; detected from the file if None.
    licence (str): The terms of use, kept beside the new file. Those that the file states if empty.
    curies (bool): Write ids with the prefix of their vocabulary: MESH:D003920.
    **options (Any): Options of the format, see its reader.
    RETURNS (Conversion): Counts, doubtful findings, and what was left out.
    RAISES (ConnormError): CN708 for another suffix, CN105 or CN108 if the file cannot be written,
        CN121 if it would replace the input, and the errors of `stream_ontology`.
    """
    output_path = _jsonl_path(output_path)
    require_apart(output_path, input_path, *options.values())
    report, inventory = ReadReport(), Inventory()
    concepts = stream_ontology(input_path, format=format, report=report, curies=curies, **options)
    with tqdm(concepts, unit=" concepts", delay=2, leave=False, disable=None) as bar:
        watched = inventory.watch(bar)
        write_licensed(
            write_concepts, watched, output_path, licence=lambda: licence or report.licence
        )
    summary = inventory.summary(read_concepts(output_path))
    warn_about(summary)
    return Conversion(summary, report, licence or report.licence)


def join_ontologies(input_paths: Sequence[str | Path], output_path: str | Path) -> Joined:
    """Join several ontologies into one, to train an encoder on: `python -m spacy connorm join`.
    Each is read with the default settings of its format; convert it first for others.

    input_paths (Sequence[Union[str, Path]]): The ontologies, in any format. The first ones give the
        preferred names, see `join_concepts`.
    output_path (Union[str, Path]): A .jsonl or .jsonl.gz file. The terms of use of all ontologies
        are kept beside it.
    RETURNS (Joined): The joined ontology, and how many concepts were joined.
    RAISES (ConnormError): CN708 for another suffix, CN105 or CN108 if the file cannot be written,
        CN121 if it would replace an input, and the errors of `read_ontology`.
    """
    output_path = _jsonl_path(output_path)
    require_apart(output_path, *input_paths)
    joined = join_concepts([read_ontology(path) for path in input_paths])
    joined.ontology.to_disk(output_path)
    return joined


def _jsonl_path(path: str | Path) -> Path:
    path = Path(path)
    if not path.name.endswith((".jsonl", ".jsonl.gz")):
        raise ConnormError(
            Errors.CN708.format(action="write", path=path, known=".jsonl or .jsonl.gz")
        )
    return path

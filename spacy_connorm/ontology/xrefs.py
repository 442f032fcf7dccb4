"""The ids of concepts in other vocabularies."""

from collections.abc import Collection

from ..concepts.curies import PREFIXES
from ..errors import quote_id
from .report import ReadReport


def read_xrefs(ids: Collection[str], report: ReadReport) -> tuple[str, ...]:
    """Write cross-references as CURIEs. Addresses and references to literature are passed over.

    ids (Collection[str]): The ids, as the file has them.
    report (ReadReport): Counts the ids without a prefix, as nothing tells their vocabulary.
    RETURNS (Tuple[str, ...]): The CURIEs, each once.
    """
    for each in ids:
        if each and ":" not in each:
            reason = "a cross-reference without the prefix of its vocabulary"
            report.leave_out(reason, quote_id(each), broken=True)
    return PREFIXES.curies(ids)

"""A lookup on disk: encoder, index, memo, and the synonyms beside the index."""

from collections.abc import Collection
from pathlib import Path

from ..encoders.protocol import store_encoder
from ..files.atomic import TemporaryFolder
from ..index.concept_index import ConceptIndex
from ..index.overlay_files import read_overlay, write_overlay
from .lookup import ConceptLookup
from .memo import Memo

_ENCODER = "encoder"
_INDEX = "index"
_MEMO = "memo"


def write_lookup(lookup: ConceptLookup, folder: Path, *, exclude: Collection[str] = ()) -> None:
    """Write encoder, index, synonyms and memo.

    lookup (ConceptLookup): The lookup.
    folder (Path): An existing folder.
    exclude (Collection[str]): Any of "encoder", "index".
    RAISES (ConnormError): CN001 if there is no index, unless it is excluded.
    """
    encoder = lookup.encoder
    if _INDEX not in exclude:
        retriever = lookup.retriever
        encoder = retriever.encoder.model
        retriever.index.write(folder / _INDEX)
        write_overlay(retriever.overlay, retriever.index, folder)
        if retriever.memo is not None:
            retriever.memo.write(folder / _MEMO)
    if _ENCODER not in exclude:
        store_encoder(encoder, folder / _ENCODER)


def read_lookup(
    lookup: ConceptLookup,
    folder: Path,
    *,
    exclude: Collection[str] = (),
    owner: TemporaryFolder | None = None,
) -> None:
    """Read what `write_lookup` wrote; the index is mapped, not loaded. If it fails, the lookup
    stays as it was.

    lookup (ConceptLookup): Takes the parts.
    folder (Path): The folder.
    exclude (Collection[str]): Any of "encoder", "index".
    owner (Optional[TemporaryFolder]): Kept as long as the index, if the folder is its.
    RAISES (ConnormError): CN400, CN401, CN402 for a damaged folder, CN430 for an index of another
        build, and those of `ConceptLookup.use`.
    """
    encoder = lookup.encoder
    if _ENCODER not in exclude:
        encoder = lookup.normalized_encoder.loaded(folder / _ENCODER).model
    if _INDEX in exclude:
        lookup.use(encoder)
        return
    index = ConceptIndex(folder / _INDEX, lookup.backend, owner=owner)
    memo = Memo(folder / _MEMO) if (folder / _MEMO).is_dir() else None
    if memo is not None:
        memo.require(index)
    lookup.use(encoder, index, read_overlay(folder, index), memo)

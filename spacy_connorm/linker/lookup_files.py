"""A lookup on disk: encoder, index, memo, and the synonyms beside the index."""

from collections.abc import Collection
from pathlib import Path

from ..encoders.storage import store_encoder
from ..files.temporary import TemporaryFolder
from ..index.concept_index import ConceptIndex
from ..index.overlay_files import read_overlay, write_overlay
from .changing import changing
from .lookup import ConceptLookup
from .memo import Memo
from .retriever import Retriever

_ENCODER = "encoder"
_INDEX = "index"
_MEMO = "memo"
# What the second lookup of a cascade has.
SECOND = "second"


def write_lookup(lookup: ConceptLookup, folder: Path, *, exclude: Collection[str] = ()) -> None:
    """Write encoder, index, synonyms and memo; those of a cascade's second lookup in a folder of
    their own.

    lookup (ConceptLookup): The lookup.
    folder (Path): An existing folder.
    exclude (Collection[str]): Any of "encoder", "index".
    RAISES (ConnormError): CN001 if there is no index, unless it is excluded.
    """
    with changing(lookup):  # what is added to a cascade meanwhile is in both folders, or in none
        parts = [
            (each.encoder, None if _INDEX in exclude else each.retriever) for each in lookup.lookups
        ]
    for (encoder, retriever), place in zip(parts, _places(folder), strict=False):
        place.mkdir(exist_ok=True)
        if retriever is not None:
            _write_index(retriever, place)
        if _ENCODER not in exclude:
            store_encoder(encoder, place / _ENCODER)


def _write_index(retriever: Retriever, folder: Path) -> None:
    retriever.index.write(folder / _INDEX)
    write_overlay(retriever.overlay, retriever.index, folder)
    if retriever.memo is not None:
        retriever.memo.write(folder / _MEMO)


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
    owner (Optional[TemporaryFolder]): Kept as long as index and encoder, if the folder is its.
    RAISES (ConnormError): CN400, CN401, CN402 for a damaged folder, CN430 for an index of another
        build, and those of `ConceptLookup.use`.
    """
    with changing(lookup):
        for each, place in zip(lookup.lookups, _places(folder), strict=False):
            _read(each, place, exclude, owner)


def _read(
    lookup: ConceptLookup, folder: Path, exclude: Collection[str], owner: TemporaryFolder | None
) -> None:
    encoder = lookup.encoder
    if _ENCODER not in exclude:
        encoder = lookup.normalized_encoder.loaded(folder / _ENCODER, owner=owner).model
    if _INDEX in exclude:
        lookup.use(encoder)
        return
    index = ConceptIndex(folder / _INDEX, lookup.backend, owner=owner)
    memo = Memo(folder / _MEMO) if (folder / _MEMO).is_dir() else None
    if memo is not None:
        memo.require(index)
    lookup.use(encoder, index, read_overlay(folder, index), memo)


def _places(folder: Path) -> tuple[Path, Path]:
    """RETURNS (Tuple[Path, Path]): Where the lookups of a cascade stand; one alone is the first."""
    return folder, folder / SECOND

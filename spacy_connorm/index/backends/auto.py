"""The index that chooses itself: the fastest backend for the number of vectors among the installed
ones. The file that it wrote tells what it chose, so that it is opened as it was built.
"""

from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar, Literal

from ...encoders.storage import DTYPES
from ...errors import Warnings, require_choice, require_range
from ..vectors.kinds import Vectors
from .annoy import AnnoyIndex, begins_with
from .exact import ExactSearcher, write_exact
from .ivf import LEAST_VECTORS, IvfIndex
from .protocol import Earlier, Searcher

# How faiss begins a file of inverted lists. A forest begins with the number 1.
_LISTS = b"Iw"


@dataclass(frozen=True)
class AutoIndex:
    """Settings of the index that chooses itself, `spacy-connorm.AutoIndex.v1`: exact for fewer
    vectors than `lists_from`; for more of them inverted lists where faiss is installed, and
    otherwise what `AnnoyIndex` does.

    lists_from (int): The number of vectors from which inverted lists are built.
    trees_from (int): The number of vectors from which a forest is built, without faiss.
    seed (int): The seed of k-means and of the random splits.
    dtype (str): How vectors are stored, see `ExactIndex`.
    """

    # Without faiss and annoy, the search is exact.
    extra: ClassVar[str] = ""

    lists_from: int = 100_000
    trees_from: int = AnnoyIndex.exact_below
    seed: int = 13
    dtype: Literal["float32", "int8"] = "float32"

    def __post_init__(self) -> None:
        """Check the settings.

        RAISES (ConnormError): CN006 or CN118 for an invalid setting.
        """
        require_choice("dtype", self.dtype, DTYPES)
        settings = {"lists_from": self.lists_from, "trees_from": self.trees_from}
        require_range(least=LEAST_VECTORS, **settings)

    @property
    def _lists(self) -> IvfIndex:
        return IvfIndex(exact_below=LEAST_VECTORS, seed=self.seed, dtype=self.dtype)

    @property
    def _trees(self) -> AnnoyIndex:
        return AnnoyIndex(exact_below=self.trees_from, seed=self.seed, dtype=self.dtype)

    def build(self, vectors: Vectors, path: Path, earlier: Earlier | None = None) -> str:
        """Build what suits the number of vectors. Sparse and hybrid ones are searched exactly.

        vectors (Vectors): The items, one per row.
        path (Path): The file to write.
        earlier (Optional[Earlier]): An earlier build, whose lists may be kept; see `IvfIndex`.
        RETURNS (str): What was built, and why.
        RAISES (ConnormError): CN402 for a damaged earlier file.
        RAISES (OSError): If the disk is full or refuses the file.
        """
        if "sparse" in vectors.widths:
            return write_exact(vectors, path)
        if not _has_faiss():
            return f"{self._trees.build(vectors, path)} (faiss is not installed)"
        if len(vectors) < self.lists_from:
            return replace(self._trees, exact_below=self.lists_from).build(vectors, path)
        if earlier is not None and not begins_with(earlier.path, _LISTS):
            earlier = None
        built = self._lists.build(vectors, path, earlier)
        return f"{built}, for {self.lists_from:,} vectors or more"

    def open(self, vectors: Vectors, path: Path) -> Searcher:
        """Open what was built. Lists are searched exactly where faiss is not installed.

        vectors (Vectors): The items it was built from.
        path (Path): Its file.
        RETURNS (Searcher): A searcher over the vectors.
        RAISES (ConnormError): CN402 if the file does not belong to these vectors.
        """
        if not begins_with(path, _LISTS):
            return self._trees.open(vectors, path)
        if _has_faiss():
            return self._lists.open(vectors, path)
        Warnings.CNW403.warn(count=len(vectors), library="faiss")
        return ExactSearcher(vectors)


def _has_faiss() -> bool:
    return find_spec("faiss") is not None

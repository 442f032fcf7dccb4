from .dense import DenseVectors as DenseVectors
from .hybrid import HybridVectors as HybridVectors
from .kinds import from_raw as from_raw
from .kinds import join as join
from .kinds import open_vectors as open_vectors
from .sparse import SparseVectors as SparseVectors
from .writer import VectorWriter as VectorWriter

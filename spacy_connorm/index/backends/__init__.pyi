from .annoy import AnnoyIndex as AnnoyIndex
from .exact import AllowedItems as AllowedItems
from .exact import Backend as Backend
from .exact import Earlier as Earlier
from .exact import ExactIndex as ExactIndex
from .exact import Neighbours as Neighbours
from .exact import Searcher as Searcher
from .ivf import IvfIndex as IvfIndex

from .annoy import AnnoyIndex as AnnoyIndex
from .exact import ExactIndex as ExactIndex
from .ivf import IvfIndex as IvfIndex
from .protocol import AllowedItems as AllowedItems
from .protocol import Backend as Backend
from .protocol import Earlier as Earlier
from .protocol import Neighbours as Neighbours
from .protocol import Searcher as Searcher

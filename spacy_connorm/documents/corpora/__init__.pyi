from .conversion import convert_corpus as convert_corpus
from .conversion import write_docs as write_docs
from .documents import Document as Document
from .formats import FORMATS as FORMATS
from .formats import CorpusFormat as CorpusFormat
from .pubtator import create_pubtator_reader as create_pubtator_reader
from .reading import read_corpus as read_corpus
from .report import CorpusReport as CorpusReport

from .corpus_annotator import CorpusAnnotator as CorpusAnnotator
from .corpus_annotator import corpus_schema as corpus_schema
from .corpus_input import CorpusFields as CorpusFields
from .corpus_run import AnnotatedCorpus as AnnotatedCorpus
from .corpus_run import annotate_corpus as annotate_corpus
from .fragment_files import FragmentCounts as FragmentCounts

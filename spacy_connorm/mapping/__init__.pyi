from .decisions import PREDICATES as PREDICATES
from .decisions import decide_mapping as decide_mapping
from .decisions import take_back as take_back
from .mapping_run import map_terms as map_terms
from .summary import MappingSummary as MappingSummary
from .summary import summarize_mappings as summarize_mappings
from .terms import LocalTerm as LocalTerm
from .terms import read_terms as read_terms

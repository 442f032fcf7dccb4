from .abbreviations import Abbreviation as Abbreviation
from .abbreviations import find_abbreviations as find_abbreviations
from .cleaning import clean as clean
from .composites import split_composite as split_composite
from .expansion import expand as expand

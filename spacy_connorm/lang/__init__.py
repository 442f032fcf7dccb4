"""Language as data: the words of each language in tables, which the rest of the package reads."""

from .assertion_classes import AssertionClasses
from .cues import Cue
from .finder_classes import FinderClasses
from .language import LanguageData, load_language, strip_accents
from .short_form_classes import ShortFormClasses
from .word_classes import NEVER, WordClasses, any_of, longest_first

__all__ = [
    "NEVER",
    "AssertionClasses",
    "Cue",
    "FinderClasses",
    "LanguageData",
    "ShortFormClasses",
    "WordClasses",
    "any_of",
    "load_language",
    "longest_first",
    "strip_accents",
]

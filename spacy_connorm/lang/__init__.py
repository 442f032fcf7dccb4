"""Language as data: the words of each language in tables, which the rest of the package reads."""

from .assertion_classes import AssertionClasses
from .cues import Cue
from .finder_classes import FinderClasses
from .language import LanguageData, load_language, strip_accents
from .short_form_classes import ShortFormClasses
from .word_classes import WordClasses

__all__ = [
    "AssertionClasses",
    "Cue",
    "FinderClasses",
    "LanguageData",
    "ShortFormClasses",
    "WordClasses",
    "load_language",
    "strip_accents",
]

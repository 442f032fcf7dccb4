"""Language as data: the words of each language in tables, which the rest of the package reads."""

from .language import NEUTRAL, LanguageData, load_language
from .word_classes import WordClasses

__all__ = ["NEUTRAL", "LanguageData", "WordClasses", "load_language"]

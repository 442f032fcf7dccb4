"""Changes of spaCy's tokenizer. It splits words that clinical notes write without a space:
"2.Chest pain", "HTN|COPD", "pain++"; and the full stop after a single capital, "hepatitis C.". It
finds the same URLs in linear time. Where it splits is in `tokenization.toml`.
"""

import re
from typing import Any

from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.util import compile_infix_regex, compile_prefix_regex, compile_suffix_regex

from ..files.package_data import read_toml

_SPLITS = read_toml(__package__, "tokenization.toml")


def separate_joined_words(nlp: Language) -> None:
    """Make a tokenizer split words that notes write without a space: list numbers, bullets, bars,
    plus signs and arrows; and the full stop after a single capital. The text and its offsets do
    not change. Tokenizers other than spaCy's own, such as those for Chinese, are left alone.

    nlp (Language): The pipeline whose tokenizer is changed.
    """
    tokenizer, defaults = nlp.tokenizer, nlp.Defaults
    if isinstance(tokenizer, Tokenizer):
        prefixes = [*_SPLITS["prefixes"], *(defaults.prefixes or ())]
        infixes = [*_SPLITS["infixes"], *(defaults.infixes or ())]
        suffixes = [*_SPLITS["suffixes"], *(defaults.suffixes or ())]
        # Each of these that is set loads all special cases anew, so they come last.
        special_cases, tokenizer.rules = tokenizer.rules, {}
        tokenizer.prefix_search = compile_prefix_regex(prefixes).search
        tokenizer.infix_finditer = compile_infix_regex(infixes).finditer
        tokenizer.suffix_search = compile_suffix_regex(suffixes).search
        tokenizer.rules = special_cases


# As in spaCy's URL pattern: each colon of "http://http://..." is tried as the one before a
# password, up to the end of the text. The second form finds the same.
_SLOW_USER, _USER = r"(?:\S+(?::\S*)?@)?", r"(?:\S+@)?"


def speed_up_urls(nlp: Language) -> None:
    """Make a tokenizer find the same URLs in linear time: spaCy's own pattern takes 15 seconds for
    50,000 characters of "http://http://...".

    nlp (Language): The pipeline whose tokenizer is changed. A tokenizer with another pattern is
        left as it is.
    """
    tokenizer: Any = nlp.tokenizer
    matches = getattr(tokenizer, "url_match", None)
    pattern = getattr(getattr(matches, "__self__", None), "pattern", "")
    if _SLOW_USER in pattern:
        tokenizer.url_match = re.compile(pattern.replace(_SLOW_USER, _USER)).match

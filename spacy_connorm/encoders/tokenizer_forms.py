"""Normalized texts: cheaper than token ids, and equal only if the token ids are equal."""

import re
from typing import Any

# Marks a text that is its own form, so that no other text has an equal form.
_AS_IT_IS = "\0"


class TokenizerForms:
    """Computes the forms of texts."""

    def __init__(self, tokenizer: Any) -> None:
        """tokenizer (tokenizers.Tokenizer): Texts with equal forms have equal token ids."""
        self._normalizer = tokenizer.normalizer
        # In printable ASCII, BERT's normalizer changes only capitals; `str.lower` is faster.
        self._lowers = type(self._normalizer).__name__ == "BertNormalizer" and bool(
            self._normalizer.lowercase
        )
        special = [each.content for each in tokenizer.get_added_tokens_decoder().values()]
        # Special tokens are found before normalization: "[SEP]" is one, "[sep]" is not.
        self._special = re.compile("|".join(map(re.escape, special)) or "(?!)")

    def __call__(self, texts: list[str]) -> list[str]:
        """RETURNS (List[str]): One form per text."""
        return [self._form(text) for text in texts]

    def _form(self, text: str) -> str:
        if self._special.search(text):
            return _AS_IT_IS + text
        if self._lowers and text.isascii() and text.isprintable():
            return text.lower()
        return text if self._normalizer is None else self._normalizer.normalize_str(text)

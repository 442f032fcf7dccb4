"""What a tokenizer makes of a text before it looks for word pieces: cheap, and enough to tell that
two texts are one to it.
"""

import re
from typing import Any

# Stands before a text that is kept as it is, so that no other text's form is equal to it.
_AS_IT_IS = "\0"


class TokenizerForms:
    """Gives texts their forms."""

    def __init__(self, tokenizer: Any) -> None:
        """tokenizer (tokenizers.Tokenizer): Texts with equal forms have equal token ids."""
        self._normalizer = tokenizer.normalizer
        # Of printable ASCII BERT's normalizer changes only capitals, as `str.lower` does sooner.
        self._lowers = type(self._normalizer).__name__ == "BertNormalizer" and bool(
            self._normalizer.lowercase
        )
        special = [each.content for each in tokenizer.get_added_tokens_decoder().values()]
        # They are looked for in the text as written: "[SEP]" is one, "[sep]" is none.
        self._special = re.compile("|".join(map(re.escape, special)) or "(?!)")

    def __call__(self, texts: list[str]) -> list[str]:
        """RETURNS (List[str]): One form a text."""
        return [self._form(text) for text in texts]

    def _form(self, text: str) -> str:
        if self._special.search(text):
            return _AS_IT_IS + text
        if self._lowers and text.isascii() and text.isprintable():
            return text.lower()
        return text if self._normalizer is None else self._normalizer.normalize_str(text)

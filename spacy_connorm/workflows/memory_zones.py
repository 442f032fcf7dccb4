"""Memory zones for any number of texts."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import srsly
from spacy.language import Language
from spacy.vocab import Vocab

# Words of the first texts, which are kept: the tokenizer's cache takes no words from zones, and
# without it the tokenizer reads abstracts at a fifth of its speed.
_KEPT_WORDS = 20_000
# Two tables of 16 bytes a place, most of them half full.
_MOST_WORDS = 500_000
# A vocabulary without strings: words without an entry are not changed.
_NOTHING = srsly.msgpack_dumps({"strings": b"[]"})


class MemoryZones:
    """spaCy's memory zones, one after another, in bounded memory and at the tokenizer's full speed.

    A zone frees the words of its texts, but their slots in spaCy's two hash tables of words stay
    occupied, so the tables grow with every new word. Both are rebuilt when many slots are occupied.
    Only one thread at a time may use it.
    """

    def __init__(self) -> None:
        """Start without an open zone."""
        self._kept = 0
        self._freed = 0

    @contextmanager
    def open(self, nlp: Language) -> Iterator[None]:
        """Open a zone. Docs, Spans and Tokens created in it must not be used afterwards.

        nlp (Language): The pipeline that reads texts in the zone; the same for each zone.
        """
        vocab = nlp.vocab
        frees = self._kept >= _KEPT_WORDS
        with nlp.memory_zone() if frees else nullcontext():
            before = len(vocab)
            try:
                yield
            finally:
                if frees:
                    self._freed += len(vocab) - before
                else:
                    self._kept += len(vocab) - before
        if self._freed > _MOST_WORDS:
            _make_tables_again(vocab)
            self._freed = 0


def _make_tables_again(vocab: Vocab) -> None:
    getters = dict(vocab.lex_attr_getters)  # type: ignore[attr-defined]
    changed = _changed_lexemes(vocab)
    vocab.from_bytes(_NOTHING)
    # `from_bytes` wraps the getter of norms again.
    vocab.lex_attr_getters.update(getters)  # type: ignore[attr-defined]
    for text, flags, norm in changed:
        lexeme = vocab[text]
        lexeme.flags, lexeme.norm_ = flags, norm


def _changed_lexemes(vocab: Vocab) -> list[tuple[str, int, str]]:
    """List the words with attributes that somebody has set, such as `nlp.vocab["patient"].is_stop =
    True`.

    RETURNS (List[Tuple[str, int, str]]): The text, flags and norm of each.
    """
    plain = Vocab(lex_attr_getters=vocab.lex_attr_getters)  # type: ignore[attr-defined]
    return [
        (lexeme.text, lexeme.flags, lexeme.norm_)
        for lexeme in vocab
        if (lexeme.flags, lexeme.norm) != (plain[lexeme.text].flags, plain[lexeme.text].norm)
    ]

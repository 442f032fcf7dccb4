"""Memory zones for as many texts as there are."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import srsly
from spacy.language import Language
from spacy.vocab import Vocab

# Words of the first texts, which are kept: the tokenizer's cache takes no words of zones, and
# without it the tokenizer reads abstracts at a fifth of its speed.
_KEPT_WORDS = 20_000
# Two tables of 16 bytes a place, most of them half full.
_MOST_WORDS = 500_000
# A vocabulary of no strings: what has no entry is left as it is.
_NOTHING = srsly.msgpack_dumps({"strings": b"[]"})


class MemoryZones:
    """spaCy's memory zones, one after another, in bounded memory and at the tokenizer's full speed.

    A zone frees the words of its texts, but their places in spaCy's two tables of words stay taken,
    so the tables grow with every new word. Both are made again when many places are taken. One
    thread at a time may use it.
    """

    def __init__(self) -> None:
        """Open no zone yet."""
        self._kept = 0
        self._freed = 0

    @contextmanager
    def open(self, nlp: Language) -> Iterator[None]:
        """Open a zone. No Doc, Span or Token that was made in it may be used after it.

        nlp (Language): Reads texts in the zone; the same for each zone.
        """
        vocab = nlp.vocab
        frees = self._kept >= _KEPT_WORDS
        with nlp.memory_zone() if frees else nullcontext():
            before = len(vocab)
            try:
                yield
            finally:
                new = len(vocab) - before
                self._freed += new if frees else 0
                self._kept += 0 if frees else new
        if self._freed > _MOST_WORDS:
            _make_tables_again(vocab)
            self._freed = 0


def _make_tables_again(vocab: Vocab) -> None:
    getters = dict(vocab.lex_attr_getters)  # type: ignore[attr-defined]
    changed = _changed_lexemes(vocab)
    vocab.from_bytes(_NOTHING)
    # `from_bytes` wraps the getter of norms once more.
    vocab.lex_attr_getters.update(getters)  # type: ignore[attr-defined]
    for text, flags, norm in changed:
        lexeme = vocab[text]
        lexeme.flags, lexeme.norm_ = flags, norm


def _changed_lexemes(vocab: Vocab) -> list[tuple[str, int, str]]:
    """RETURNS (List[Tuple[str, int, str]]): The text, flags and norm of each word for which
    somebody set them, such as `nlp.vocab["patient"].is_stop = True`.
    """
    plain = Vocab(lex_attr_getters=vocab.lex_attr_getters)  # type: ignore[attr-defined]
    return [
        (lexeme.text, lexeme.flags, lexeme.norm_)
        for lexeme in vocab
        if (lexeme.flags, lexeme.norm) != (plain[lexeme.text].flags, plain[lexeme.text].norm)
    ]

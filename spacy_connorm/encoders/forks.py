"""Encoders in processes that are forked, such as the workers of `nlp.pipe(n_process=2)`."""

import os


def tokenize_without_threads() -> None:
    """Make the library tokenizers work without threads from the first fork on: its threads do not
    survive one.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_set_no_threads)


def _set_no_threads() -> None:
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

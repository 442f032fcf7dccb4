"""Every message the plugin raises or warns with, coded as spaCy's are.

The hundreds digit names the room: 0 component, 1 ontology, 2 corpora, 3 encoders, 4 index,
5 sieve, 6 evaluation, 7 command line. Warnings carry a `W` after `CN`.
"""

import warnings


class ConnormError(ValueError):
    """Raised for any input or setting that the plugin cannot work with."""


class ConnormWarning(UserWarning):
    """Issued where the work goes on but the user should know."""


class _Coded(type):
    """Puts the code of a message in front of its text when the message is read."""

    def __getattribute__(cls, code: str) -> str:
        text = super().__getattribute__(code)
        return text if code.startswith("_") else f"[{code}] {text}"


class Errors(metaclass=_Coded):
    # Component
    CN001 = (
        "The concept normalizer '{name}' has no index yet. Call `initialize` with an ontology, or "
        "load a pipeline that was saved after that."
    )

    # Ontology
    CN100 = "Can't find the file '{path}'."
    CN101 = "A concept has no `{field}`: {concept}. Every concept needs an id and a preferred name."
    CN102 = "Expected {expected} in `{field}`."
    CN103 = (
        "'{path}', line {line}: not a concept of a knowledge-base JSONL file ({reason}). Other "
        "formats are converted with `python -m spacy connorm ontology`."
    )
    CN104 = "The ontology '{path}' holds no concepts."

    # Corpora

    # Encoders

    # Index

    # Sieve

    # Evaluation

    # Command line


class Warnings(metaclass=_Coded):
    # Ontology
    CNW101 = (
        "{count} concept ids occur more than once, the first is '{first}'. Their names were merged."
    )

    # Corpora

    # Encoders

    # Index

    # Sieve

    # Component

    # Evaluation

    # Command line


def warn(message: str) -> None:
    """Issue a coded warning that points at the caller's caller.

    message (str): One of `Warnings`, formatted.
    """
    warnings.warn(message, ConnormWarning, stacklevel=3)

"""Which options of an evaluation fit together."""

from collections.abc import Mapping
from typing import Any

from ..errors import ConnormError, Errors

_NEEDS = {"--threshold": "--grid", "--concept": "--picture", "--curves": "--calibrate"}
_NEED_CORPUS = (
    "--search",
    "--protocol",
    "--train",
    "--corpus-name",
    "--grid",
    "--json",
    "--errors",
    "--add",
    "--calibrate",
    "--lexical-weight",
    "--end-to-end",
)
_WITHOUT_CORPUS = ("--neighbours", "--picture")
_FORBID = {
    "--calibrate": ("--beside", "--protocol"),
    "--end-to-end": (
        "--search",
        "--grid",
        "--beside",
        "--protocol",
        "--train",
        "--add",
        "--neighbours",
        "--picture",
        "--lexical-weight",
        "--calibrate",
    ),
}


def check_options(options: Mapping[str, Any], *, has_corpus: bool) -> None:
    """Refuse options that do not fit together.

    options (Mapping[str, Any]): All options, by their names on the command line. A value that is
        false says that an option is not given.
    has_corpus (bool): Whether there is a corpus.
    RAISES (ConnormError): CN732 if there is nothing to do, CN733 for an option that needs another
        one or a corpus, CN736 for two that can't be combined.
    """
    given = [name for name, value in options.items() if value]
    for option in given:
        needed = _NEEDS.get(option, option)
        if needed not in given:
            raise ConnormError(Errors.CN733.format(option=option, needed=f"`{needed}`"))
        if not has_corpus and option in _NEED_CORPUS:
            raise ConnormError(Errors.CN733.format(option=option, needed="a CORPUS"))
        for other in _FORBID.get(option, ()):
            if other in given:
                raise ConnormError(Errors.CN736.format(option=option, other=other))
    if not has_corpus and not any(option in given for option in _WITHOUT_CORPUS):
        raise ConnormError(Errors.CN732)

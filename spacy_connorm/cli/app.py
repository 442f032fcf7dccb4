"""The `python -m spacy connorm` application and the way its commands fail."""

import functools
import warnings
from collections.abc import Callable
from typing import Any

import typer
from wasabi import msg

from ..errors import ConnormError, ConnormWarning

app = typer.Typer(
    name="connorm",
    help="Convert ontologies and corpora, build an index, search it, annotate, evaluate.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def command(name: str, *, overridable: bool = False) -> Callable[[Callable], Callable]:
    """Register a function as a command. Its docstring is the help; a `ConnormError` becomes one
    line and exit code 1, a `ConnormWarning` one line.

    name (str): The command's name.
    overridable (bool): Whether it finds options that it does not declare in `ctx.args`.
    RETURNS (Callable): A decorator that gives the function back unchanged.
    """

    def register(function: Callable) -> Callable:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> None:
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning
                warnings.simplefilter("always", ConnormWarning)
                try:
                    function(*args, **kwargs)
                except ConnormError as error:
                    msg.fail(str(error), exits=1)

        extra = {"allow_extra_args": overridable, "ignore_unknown_options": overridable}
        app.command(name, context_settings=extra)(run)
        return function

    return register


def split_items(items: str) -> tuple[str, ...]:
    """RETURNS (Tuple[str, ...]): The items of an option that takes several between commas."""
    return tuple(item.strip() for item in items.split(",") if item.strip())


def _show_warning(message: Any, category: type[Warning], *args: Any, **kwargs: Any) -> None:
    if issubclass(category, ConnormWarning):
        msg.warn(str(message))

"""The `connorm` application: registering commands, reading options, exiting."""

import functools
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from types import FrameType
from typing import Any, NoReturn

import typer
from click import UsageError
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command
from wasabi import Printer, msg

from ..errors import ConnormError, ConnormWarning, Errors, is_text_shown
from .modules import handling, import_commands, read_summaries


class _Commands(TyperGroup):
    """Imports the modules of commands when the first command is looked up. Accepts commands of two
    words, such as `ontology diff` in addition to `ontology`.
    """

    _commands: dict[str, Any]

    @property  # type: ignore[override]
    def commands(self) -> dict[str, Any]:
        import_commands()
        # This group may have been made before, or when only some of the modules were imported.
        if len(self._commands) < len(app.registered_commands):
            group: Any = get_command(app)
            self._commands = group.commands
        return self._commands

    @commands.setter
    def commands(self, commands: dict[str, Any]) -> None:
        self._commands = commands

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(read_summaries().items()))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        two_words = " ".join(args[:2])
        if len(args) > 1 and two_words in self.commands:
            args = [two_words, *args[2:]]
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="connorm",
    cls=_Commands,
    no_args_is_help=True,
    # As markup, "[detected from ONTOLOGY]" would not be shown.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback()
def connorm() -> None:
    """Find the concepts of an ontology in texts: index it, then search, annotate, serve, map
    tables, evaluate, train.

    First: connorm index hp.obo hp_index --find-mentions

    Then: connorm annotate hp_index notes.txt found.csv
    """


# How Typer describes what may have several values.
_LIST = re.compile(r"list\[(\w+)\]")


class _Command(TyperCommand):
    """A command that lets some options have several values, one after another: `--language fr en`.

    several (Mapping[str, Pattern]): What these values look like, by option.
    """

    several: Mapping[str, re.Pattern[str]] = {}

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        parameters: list[Any] = self.params
        for parameter in parameters:
            # Older releases have no such method.
            kind = _LIST.fullmatch(getattr(parameter, "bare_type", str)())
            if kind:
                parameter.bare_type = kind[1].lower

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        repeated = [
            option
            for parameter in self.params
            if getattr(parameter, "multiple", False)
            for option in parameter.opts
        ]
        written = list[str]()
        option = ""
        for argument in args:
            is_further = bool(option) and written[-1] != option
            if is_further and self.several[option].fullmatch(argument):
                if option in repeated:
                    written += [option, argument]
                else:
                    written[-1] += f",{argument}"
                continue
            if (option and is_further) or argument in self.several:
                option = argument if argument in self.several else ""
            written.append(argument)
        return super().parse_args(ctx, written)


def command(
    name: str, *, overridable: bool = False, several: Mapping[str, str] | None = None
) -> Callable[[Callable], Callable]:
    """Register a function as a command. Its docstring is the help text, and the first line of it
    what the list of commands says. A `ConnormError` is shown as one line and exits with code 1; a
    `ConnormWarning` is shown as one line.

    name (str): The command's name.
    overridable (bool): Whether to collect undeclared options in `ctx.args`.
    several (Optional[Mapping[str, str]]): Parameters whose option may have several values, with a
        pattern of these.
    RETURNS (Callable): A decorator that returns the function unchanged.
    """

    def register(function: Callable) -> Callable:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> None:
            with stoppable(), warnings.catch_warnings():
                warnings.showwarning = _show_warning
                warnings.simplefilter("always", ConnormWarning)
                try:
                    function(*args, **kwargs)
                except ConnormError as error:
                    fail(str(error), exits=1)
                except Exception:
                    if not is_text_shown():
                        # Typer's own traceback may show the values of variables.
                        os.environ.setdefault("_TYPER_STANDARD_TRACEBACK", "1")
                    raise

        extra = {"allow_extra_args": overridable, "ignore_unknown_options": overridable}
        summary = (function.__doc__ or "").partition("\n")[0]
        patterns = {
            f"--{option.replace('_', '-')}": re.compile(pattern)
            for option, pattern in (several or {}).items()
        }
        kind = type("Command", (_Command,), {"several": patterns})
        app.command(name, cls=kind, context_settings=extra, short_help=summary)(run)
        return function

    return register


def tally(**counts: int) -> str:
    """Name counts, so that no word depends on whether it is one or many.

    **counts (int): Counts by what was counted.
    RETURNS (str): "texts: 1, mentions: 1,204".
    """
    return ", ".join(f"{name.replace('_', ' ')}: {count:,}" for name, count in counts.items())


def show_table(
    rows: Iterable[Sequence[object]],
    *,
    header: Sequence[str] = (),
    aligns: str = "",
    width: int = 60,
) -> None:
    """Print a table.

    rows (Iterable[Sequence[Any]]): The cells of each row.
    header (Sequence[str]): The names of the columns.
    aligns (str): A letter for each column: l (left) or r (right).
    width (int): The length at which cells are truncated.
    """
    texts = [tuple(map(str, row)) for row in rows]
    cut = [
        tuple(cell if len(cell) <= width else f"{cell[: width - 3]}..." for cell in row)
        for row in texts
    ]
    options = {"header": tuple(header), "divider": True} if header else {}
    msg.table(cut, aligns=tuple(aligns) or None, max_col=width, **options)


_OF_FORMATS = (
    "options of formats belong to `connorm ontology`, whose JSONL `index` and `train` read"
)
_OF_CONFIGS = (
    "settings of a config have their section before them, such as "
    "--components.concept_normalizer.branches"
)


def parse_overrides(ctx: typer.Context) -> dict[str, Any]:
    """Parse config settings given on the command line: `--section.setting value`.

    ctx (typer.Context): The command, with the arguments that are not its options.
    RETURNS (Dict[str, Any]): The settings by their dotted names.
    RAISES (UsageError): For an option that is not the command's.
    RAISES (ConnormError): CN711 for anything else.
    """
    known = [option for parameter in ctx.command.params for option in parameter.opts]
    for argument in ctx.args:
        name = argument.partition("=")[0]
        if name.startswith("--") and "." not in name and name not in known:
            group: Any = get_command(app)
            if any(name in parameter.opts for parameter in group.commands["ontology"].params):
                ctx.fail(f"No such option: {name} ({_OF_FORMATS})")
            similar = ", ".join(get_close_matches(name, known, cutoff=0.8))
            advice = f"Possible options: {similar}" if similar else _OF_CONFIGS
            ctx.fail(f"No such option: {name} ({advice})")
    from spacy.cli._util import parse_config_overrides

    # From click itself: a Typer with a vendored click misses it.
    with Errors.CN711.instead_of(UsageError, tell=lambda error: error.format_message().rstrip(".")):
        return parse_config_overrides(ctx.args)


def _show_warning(message: Any, category: type[Warning], *args: Any, **kwargs: Any) -> None:
    if issubclass(category, ConnormWarning):
        msg.warn(str(message))


# Shells report that a program was ended by a signal as 128 plus its number.
_BY_SIGNAL = 128
_SIGPIPE = 13


@contextmanager
def stoppable() -> Iterator[None]:
    """Exit with one line when the process is interrupted or terminated, after the current work has
    been cleaned up; exit without a line when the reader of the output has closed it, as other
    programs do.
    """
    # SIGTERM like Ctrl-C.
    with handling(signal.SIGTERM, _interrupt, signal.SIG_DFL):
        try:
            yield
            sys.stdout.flush()
        except KeyboardInterrupt as error:
            number = signal.Signals(error.args[0] if error.args else signal.SIGINT)
            fail(Errors.CN718.format(signal=number.name), exits=_BY_SIGNAL + number)
        except OSError as error:
            if not _is_stdout_lost():
                raise
            _silence_stdout()
            if isinstance(error, BrokenPipeError):
                sys.exit(_BY_SIGNAL + _SIGPIPE)
            message = Errors.CN108.format(path="standard output", reason=error.strerror)
            print(message, file=sys.stderr)
            sys.exit(1)


def fail(message: str, *, exits: int) -> NoReturn:
    """Print a message as an error (to the error output if standard output is closed), and exit.

    message (str): One of `Errors`, formatted.
    exits (int): The exit code.
    """
    line = Printer(no_print=True).fail(message)
    try:
        print(f"\n{line}\n", flush=True)
    except OSError:
        _silence_stdout()
        print(line, file=sys.stderr)
    sys.exit(exits)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt(number)


def _is_stdout_lost() -> bool:
    try:
        print(flush=True)  # output that has failed is not tried again
    except OSError:
        return True
    return False


def _silence_stdout() -> None:
    """Discard the rest of the buffer, since Python would otherwise complain on exit that it can't
    write it.
    """
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

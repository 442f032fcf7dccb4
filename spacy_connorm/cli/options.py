"""Derive the options of commands from the functions that they call and from formats.

A command has the parameters of its function: an argument for each positional parameter, an option
for each keyword-only one. Name, type and default come from the signature, and the help text is the
first sentence about the parameter in the docstring. So a setting is declared once, where it is
used:

    @command("join")
    @options_of(join_ontologies)
    def join_cli(**given: Any) -> None:
        show(join_ontologies(**given))
"""

import inspect
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import wraps
from itertools import chain
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import typer

_METAVARS = {"input_path": "IN", "input_paths": "IN...", "output_path": "OUT"}
# Folders, or names of packages and models, whose slashes are not changed.
_NAMES = ("pipeline", "name", "reuse", "beside")
_LIST = "A,B,..."
# The parameters of all readers that are not options of their format.
_NO_OPTIONS = ("path", "report")
_FIELD = re.compile(r"(\w+(?:, \w+)*)(?: \(.+?\))?: (.+)")
# "e.g." ends no sentence.
_SENTENCE = re.compile(r".+?(?<!e\.g)[.](?=\s+[A-Z`\"]|\s*$)")
# The declaration of a parameter, its help text and its default.
_Described = tuple[inspect.Parameter, str, Any]


def options_of(
    *functions: Callable,
    formats: Mapping[str, Callable] | None = None,
    flags: Mapping[str, str] | None = None,
    help: Mapping[str, str] | None = None,
    repeated: Collection[str] = (),
    hidden: Collection[str] = (),
) -> Callable[[Callable], Callable]:
    """Give a command the options of one or several functions.

    The command is called with the parameters of its function. Options of formats, and lists, are
    left out if they are not given, so that the functions' own defaults apply. Parameters that the
    command declares itself are kept: one with the same name as a parameter of the function replaces
    it.

    *functions (Callable): The functions that do the command's work. A parameter that several of
        them have is taken from the first one.
    formats (Optional[Mapping[str, Callable]]): Readers or exporters by format. Their parameters
        become options, too.
    flags (Optional[Mapping[str, str]]): Other flags by parameter: a letter in addition to the long
        name, or a long name instead of it, or both: {"format": "-f", "corpora": "--corpus -d"}.
    help (Optional[Mapping[str, str]]): Help texts by parameter, instead of the docstring's.
    repeated (Collection[str]): Parameters whose option can be repeated, once for each item. Other
        lists are given at once, separated by commas.
    hidden (Collection[str]): Parameters that are not options, such as functions to call.
    RETURNS (Callable): The decorator of the command.
    """
    flags, help = flags or {}, help or {}
    options: dict[str, inspect.Parameter] = {}
    taken = chain(*map(_described, functions), _of_formats(formats or {}))
    for parameter, meaning, default in taken:
        name = parameter.name
        if name not in hidden and name not in options:
            meaning = help.get(name, meaning)
            options[name] = _declare(parameter, meaning, flags.get(name, ""), default, repeated)

    def decorate(command: Callable) -> Callable:
        signature = inspect.signature(command).parameters.values()
        declared = {
            parameter.name: parameter.replace(kind=parameter.KEYWORD_ONLY)
            for parameter in signature
            if parameter.kind is not parameter.VAR_KEYWORD
        }

        @wraps(command)
        def run(**given: Any) -> None:
            chosen = {
                name: value
                for name, value in given.items()
                if value is not None or name in declared
            }
            command(**chosen)

        shown = {**options, **declared}
        # Typer reads these. Otherwise, it would follow `__wrapped__` to the command's own
        # parameters.
        del run.__wrapped__
        run.__signature__ = inspect.Signature(list(shown.values()))  # type: ignore[attr-defined]
        run.__annotations__ = {name: parameter.annotation for name, parameter in shown.items()}
        return run

    return decorate


def _split(items: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in items.split(",") if item.strip())


def _described(function: Callable) -> Iterator[_Described]:
    """List the parameters of a function, or the fields of a dataclass.

    YIELDS (Tuple[Parameter, str, Any]): The declaration, the help text and the default of each.
    """
    helps = _read_docstring(function)
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is not parameter.VAR_KEYWORD:
            yield parameter, helps.get(name, ""), parameter.default


def _read_docstring(function: Callable) -> dict[str, str]:
    """Read the first sentence about each parameter, or about each field of a class, including
    inherited ones.
    """
    meanings: dict[str, str] = {}
    names: Sequence[str] = ()
    documented = reversed(getattr(function, "__mro__", (function,)))
    for line in "\n".join(inspect.getdoc(kind) or "" for kind in documented).splitlines():
        match = _FIELD.fullmatch(line)
        if match:
            names = match[1].split(", ")
            meanings |= dict.fromkeys(names, match[2])
        elif line.startswith(" "):
            meanings |= {name: f"{meanings[name]} {line.strip()}" for name in names}
        else:
            names = ()
    sentences = {name: _SENTENCE.match(meaning) for name, meaning in meanings.items()}
    first = {name: match[0] if match else meanings[name] for name, match in sentences.items()}
    # On a command line, nothing is None.
    return {name: meaning.replace(" if None", " if not given") for name, meaning in first.items()}


def _of_formats(formats: Mapping[str, Callable]) -> Iterator[_Described]:
    """List the options of formats. They have no default, since those of the formats differ.

    YIELDS (Tuple[Parameter, str, Any]): As in `_described`.
    """
    options: dict[str, tuple[inspect.Parameter, dict[str, list[str]]]] = {}
    for key, function in formats.items():
        for parameter, meaning, default in _described(function):
            if parameter.name not in _NO_OPTIONS:
                _, helps = options.setdefault(parameter.name, (parameter, {}))
                helps.setdefault(meaning + _shown_default(default), []).append(key)
    for parameter, helps in options.values():
        meaning = " ".join(f"{', '.join(keys)}: {meaning}" for meaning, keys in helps.items())
        yield parameter.replace(kind=parameter.KEYWORD_ONLY), meaning, None


def _shown_default(default: object) -> str:
    if default in (None, "", ()) or isinstance(default, bool):
        return ""
    items = default if isinstance(default, tuple | list) else [default]
    return f" [{', '.join(map(str, items))}]"


def _declare(
    parameter: inspect.Parameter, help: str, flags: str, default: Any, repeated: Collection[str]
) -> inspect.Parameter:
    """Convert a parameter to Typer's form.

    RETURNS (Parameter): The parameter that Typer reads.
    """
    name = parameter.name
    kind, is_list = _parsed_type(parameter.annotation)
    if name in _NAMES:
        kind = {Path: str, list[Path]: list[str]}.get(kind, kind)
    if name in repeated:
        kind, is_list = list[str], False
    declared: Any
    metavar = _METAVARS.get(name, name.upper())
    if default is parameter.empty:
        declared = typer.Argument(..., metavar=metavar, help=help)
    elif parameter.kind is not parameter.KEYWORD_ONLY:
        kind = kind | None
        declared = typer.Argument(None, metavar=f"[{metavar}]", help=help, show_default=False)
    else:
        names = flags.split()
        if not any(flag.startswith("--") for flag in names):
            names.append(f"--{name.replace('_', '-')}")
        if kind is bool and parameter.default is True:
            names = [f"{flag}/--no-{flag.removeprefix('--')}" for flag in names]
        default = None if is_list else default
        kind = kind if default is not None else kind | None
        listed: dict[str, Any] = {"metavar": _LIST, "parser": _split} if is_list else {}
        declared = typer.Option(default, *names, help=help, **listed)
    return parameter.replace(annotation=kind, default=declared, kind=parameter.KEYWORD_ONLY)


def _parsed_type(annotation: Any) -> tuple[Any, bool]:
    """Choose the type that Typer parses for a type.

    RETURNS (Tuple[Any, bool]): This type, and whether it is a text that contains a list.
    """
    if get_origin(annotation) in (Union, UnionType):
        members = [member for member in get_args(annotation) if member is not NoneType]
        if len(members) > 1:
            return (Path if Path in members else str), False
        annotation = members[0]
    origin = get_origin(annotation)
    if isinstance(origin, type) and issubclass(origin, Collection):
        item, _ = _parsed_type(get_args(annotation)[0])
        return (str, True) if item is str else (list[item], False)  # type: ignore[valid-type]
    return annotation, False

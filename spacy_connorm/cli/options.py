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
    taken: dict[str, tuple[inspect.Parameter, str, Any]] = {}
    for function in functions:
        for name, parameter, meaning in _described(function):
            taken.setdefault(name, (parameter, meaning, parameter.default))
    for name, (parameter, meaning) in _of_formats(formats or {}).items():
        parameter = parameter.replace(kind=parameter.KEYWORD_ONLY)
        taken.setdefault(name, (parameter, meaning, None))
    options = {
        name: _declare(parameter, help.get(name, meaning), flags.get(name, ""), default, repeated)
        for name, (parameter, meaning, default) in taken.items()
        if name not in hidden
    }

    def decorate(command: Callable) -> Callable:
        signature = inspect.signature(command).parameters.values()
        declared = {
            parameter.name: parameter.replace(kind=parameter.KEYWORD_ONLY)
            for parameter in signature
            if parameter.kind is not parameter.VAR_KEYWORD
        }
        derived = options.keys() - declared.keys()

        @wraps(command)
        def run(**given: Any) -> None:
            command(
                **{
                    name: value
                    for name, value in given.items()
                    if value is not None or name not in derived
                }
            )

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


def _described(function: Callable) -> Iterator[tuple[str, inspect.Parameter, str]]:
    """List the parameters of a function, or the fields of a dataclass.

    YIELDS (Tuple[str, Parameter, str]): The name, the declaration and the help text of each.
    """
    helps = _read_docstring(function)
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is not parameter.VAR_KEYWORD:
            yield name, parameter, helps.get(name, "")


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


def _of_formats(formats: Mapping[str, Callable]) -> dict[str, tuple[inspect.Parameter, str]]:
    """Collect the options of formats.

    RETURNS (Dict[str, Tuple[Parameter, str]]): The declaration and the help text of each option.
    """
    options: dict[str, tuple[inspect.Parameter, dict[str, list[str]]]] = {}
    for key, function in formats.items():
        for name, parameter, meaning in _described(function):
            if name not in _NO_OPTIONS:
                _, helps = options.setdefault(name, (parameter, {}))
                helps.setdefault(meaning + _shown_default(parameter.default), []).append(key)
    return {
        name: (
            parameter,
            " ".join(f"{', '.join(keys)}: {meaning}" for meaning, keys in helps.items()),
        )
        for name, (parameter, helps) in options.items()
    }


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

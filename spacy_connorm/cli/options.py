"""Options of commands, derived from the functions and the formats that they set.

A command takes what its function takes: an argument for each positional parameter, an option for
each one that is passed by keyword only. Name, type and default come from the signature, and the
help text is the first sentence on the parameter in the docstring. So a setting is declared once,
where it is used:

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
# Folders, or names of packages and models, in which slashes stay as they are.
_NAMES = ("pipeline", "name", "reuse", "beside")
_LIST = "A,B,..."
# What the readers of all formats take besides the options of their format.
_NO_OPTIONS = ("path", "report")
_FIELD = re.compile(r"(\w+(?:, \w+)*)(?: \(.+?\))?: (.+)")
_SENTENCE = re.compile(r".+?[.](?=\s+[A-Z`\"]|\s*$)")


def options_of(
    *functions: Callable,
    formats: Mapping[str, Callable] | None = None,
    flags: Mapping[str, str] | None = None,
    help: Mapping[str, str] | None = None,
    repeated: Collection[str] = (),
    hidden: Collection[str] = (),
) -> Callable[[Callable], Callable]:
    """Give a command the options of a function, or of several.

    The command is called with what its function takes. Options of formats, and lists, are left out
    if they are not given, so that the functions' own defaults hold. Parameters that the command
    declares itself are kept: one named like a parameter of the function stands in its place.

    *functions (Callable): What does the command's work. What several of them take stands as the
        first one has it.
    formats (Optional[Mapping[str, Callable]]): Readers or exporters by format. Their parameters
        are options, too.
    flags (Optional[Mapping[str, str]]): Other names by parameter: a letter beside the long name, or
        a long name instead of it, or both: {"format": "-f", "corpora": "--corpus -d"}.
    help (Optional[Mapping[str, str]]): Help texts by parameter, instead of the docstring's.
    repeated (Collection[str]): Lists of texts that get one item each time that their option is
        given. Others get all items at once, separated by commas.
    hidden (Collection[str]): Parameters that are not options, such as functions to call.
    RETURNS (Callable): The decorator of the command.
    """
    flags, help = flags or {}, help or {}
    taken: dict[str, tuple[inspect.Parameter, str, Any]] = {}
    for function in functions:
        for name, parameter, told in _described(function):
            taken.setdefault(name, (parameter, told, parameter.default))
    for name, (parameter, told) in _of_formats(formats or {}).items():
        parameter = parameter.replace(kind=parameter.KEYWORD_ONLY)
        taken.setdefault(name, (parameter, told, None))
    options = {
        name: _declare(parameter, help.get(name, told), flags.get(name, ""), default, repeated)
        for name, (parameter, told, default) in taken.items()
        if name not in hidden
    }

    def decorate(command: Callable) -> Callable:
        signature = inspect.signature(command).parameters.values()
        own = {
            each.name: each.replace(kind=each.KEYWORD_ONLY)
            for each in signature
            if each.kind is not each.VAR_KEYWORD
        }
        derived = options.keys() - own.keys()

        @wraps(command)
        def run(**given: Any) -> None:
            command(
                **{k: each for k, each in given.items() if each is not None or k not in derived}
            )

        declared = {**options, **own}
        # Typer reads these. It would look for the command's own behind `__wrapped__`.
        del run.__wrapped__
        run.__signature__ = inspect.Signature(list(declared.values()))  # type: ignore[attr-defined]
        run.__annotations__ = {name: each.annotation for name, each in declared.items()}
        return run

    return decorate


def _split(items: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in items.split(",") if item.strip())


def _described(function: Callable) -> Iterator[tuple[str, inspect.Parameter, str]]:
    """YIELDS (Tuple[str, Parameter, str]): The name, the declaration and the help of each parameter
    of a function, or of each field of a dataclass.
    """
    helps = _read_docstring(function)
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is not parameter.VAR_KEYWORD:
            yield name, parameter, helps.get(name, "")


def _read_docstring(function: Callable) -> dict[str, str]:
    """RETURNS (Dict[str, str]): The first sentence on each parameter, or on each field of a class;
    inherited ones too.
    """
    meanings: dict[str, str] = {}
    names: Sequence[str] = ()
    documented = reversed(getattr(function, "__mro__", (function,)))
    for line in "\n".join(inspect.getdoc(each) or "" for each in documented).splitlines():
        match = _FIELD.fullmatch(line)
        if match:
            names = match[1].split(", ")
            meanings |= dict.fromkeys(names, match[2])
        elif line.startswith(" "):
            meanings |= {name: f"{meanings[name]} {line.strip()}" for name in names}
        else:
            names = ()
    sentences = {name: _SENTENCE.match(meaning) for name, meaning in meanings.items()}
    return {name: match[0] if match else meanings[name] for name, match in sentences.items()}


def _of_formats(formats: Mapping[str, Callable]) -> dict[str, tuple[inspect.Parameter, str]]:
    """RETURNS (Dict[str, Tuple[Parameter, str]]): The declaration and the help of each option."""
    found: dict[str, tuple[inspect.Parameter, dict[str, list[str]]]] = {}
    for key, function in formats.items():
        for name, parameter, told in _described(function):
            if name not in _NO_OPTIONS:
                _, helps = found.setdefault(name, (parameter, {}))
                helps.setdefault(told + _shown_default(parameter.default), []).append(key)
    return {
        name: (parameter, " ".join(f"{', '.join(keys)}: {told}" for told, keys in helps.items()))
        for name, (parameter, helps) in found.items()
    }


def _shown_default(default: object) -> str:
    if default in (None, "", ()) or isinstance(default, bool):
        return ""
    items = default if isinstance(default, tuple | list) else [default]
    return f" [{', '.join(map(str, items))}]"


def _declare(
    parameter: inspect.Parameter, help: str, flags: str, default: Any, repeated: Collection[str]
) -> inspect.Parameter:
    """RETURNS (Parameter): What Typer reads."""
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
        if not any(each.startswith("--") for each in names):
            names.append(f"--{name.replace('_', '-')}")
        if kind is bool and parameter.default is True:
            names = [f"{each}/--no-{each.removeprefix('--')}" for each in names]
        default = None if is_list else default
        kind = kind if default is not None else kind | None
        listed: dict[str, Any] = {"metavar": _LIST, "parser": _split} if is_list else {}
        declared = typer.Option(default, *names, help=help, **listed)
    return parameter.replace(annotation=kind, default=declared, kind=parameter.KEYWORD_ONLY)


def _parsed_type(annotation: Any) -> tuple[Any, bool]:
    """RETURNS (Tuple[Any, bool]): What Typer parses for a type, and whether that is a text with a
    list in it.
    """
    if get_origin(annotation) in (Union, UnionType):
        members = [each for each in get_args(annotation) if each is not NoneType]
        if len(members) > 1:
            return (Path if Path in members else str), False
        annotation = members[0]
    origin = get_origin(annotation)
    if isinstance(origin, type) and issubclass(origin, Collection):
        item, _ = _parsed_type(get_args(annotation)[0])
        return (str, True) if item is str else (list[item], False)  # type: ignore[valid-type]
    return annotation, False

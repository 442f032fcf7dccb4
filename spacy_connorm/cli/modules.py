"""The modules of commands: imported when a command is used, and read as text for the list of
commands, since importing spaCy takes seconds.
"""

import ast
import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any

# The help lists the commands in this order.
_NAMES = "index annotate search serve map evaluate ontology corpus train models check"
_MODULES = _NAMES.split()


@contextmanager
def handling(number: signal.Signals, handler: Any, usual: Any) -> Iterator[None]:
    """Handle a signal in another way than Python, unless somebody else already does.

    number (signal.Signals): The signal.
    handler (Callable): What handles it inside the block, or one of `signal.Handlers`.
    usual (Callable): Python's own handler.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(number) is not usual:
        yield
        return
    signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, usual)


def ending_at_once() -> AbstractContextManager[None]:
    """Let Ctrl-C end the process without a traceback while modules are imported."""
    return handling(signal.SIGINT, signal.SIG_DFL, signal.default_int_handler)


def import_commands() -> None:
    """Import all modules of commands, which registers the commands."""
    with ending_at_once():
        for module in _MODULES:
            import_module(f".{module}", __package__)


@cache
def read_summaries() -> dict[str, str]:
    """RETURNS (Dict[str, str]): The first line of the docstring of each command by its name."""
    return dict(summary for module in _MODULES for summary in _summaries(module))


def _summaries(module: str) -> Iterator[tuple[str, str]]:
    source = files(__package__).joinpath(f"{module}.py").read_text(encoding="utf-8")
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                match decorator:
                    case ast.Call(func=ast.Name("command"), args=[ast.Constant(str(name))]):
                        yield name, (ast.get_docstring(node) or "").partition("\n")[0]

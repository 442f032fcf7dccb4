"""The modules of commands: imported when a command is used, and read as text for the list of
commands, since importing spaCy takes seconds.
"""

import ast
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.resources import files

# The help lists the commands in this order.
_NAMES = "index annotate search serve map evaluate ontology corpus train models check"
_MODULES = _NAMES.split()


@contextmanager
def ending_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process without a traceback while modules are imported."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


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

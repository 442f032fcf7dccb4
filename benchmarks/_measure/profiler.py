"""Where the time of a call goes: each phase has its own clock, which stands still while an inner
one runs.
"""

from collections import defaultdict
from time import process_time
from typing import Any


class Phases:
    """Times phases of one thread's work, with all that its libraries' threads do meanwhile."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._running: list[str] = []
        self._since = 0.0

    def reset(self) -> None:
        """Set all clocks to zero."""
        self.seconds.clear()

    def watch(self, owner: Any, method: str, phase: str) -> None:
        """Let a method be part of a phase from now on.

        owner (Any): An object, of which no other of its class is watched; a class; or a module.
        method (str): Its method, or function.
        phase (str): The name of the phase.
        """
        call = getattr(owner, method)

        def timed(*arguments: Any, **settings: Any) -> Any:
            self._enter(phase)
            try:
                return call(*arguments, **settings)
            finally:
                self._leave()

        setattr(owner, method, timed)

    def _enter(self, phase: str) -> None:
        self._stop()
        self._running.append(phase)

    def _leave(self) -> None:
        self._stop()
        self._running.pop()

    def _stop(self) -> None:
        now = process_time()
        if self._running:
            self.seconds[self._running[-1]] += now - self._since
        self._since = now

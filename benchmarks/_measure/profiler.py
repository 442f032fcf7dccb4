"""Split the time of a call into phases. A phase does not include the phases inside it."""

from collections import defaultdict
from time import process_time
from typing import Any


class Phases:
    """Adds up processor seconds by phase, of one thread and its libraries' threads."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._running: list[str] = []
        self._since = 0.0

    def reset(self) -> None:
        """Set all phases to zero."""
        self.seconds.clear()

    def watch(self, owner: Any, method: str, phase: str) -> None:
        """Count the calls of a method towards a phase.

        owner (Any): An object (others of its class are not watched), a class or a module.
        method (str): The name of its method or function.
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

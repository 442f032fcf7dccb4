"""Connections whose request line and headers don't arrive, which uvicorn keeps for ever."""

from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# The part of the files that a process may open: the index, workers and logs need some, too, and so
# do connections that are accepted before the first of them is counted, and closed ones for a while.
_SHARE = 0.5
# Where the system does not tell how many.
_USUAL_FILES = 512
_MOST = 10_000


def most_connections() -> int:
    """Choose a number of connections that leaves files for everything else.

    RETURNS (int): At least one.
    """
    try:
        import resource  # not on Windows
    except ImportError:
        files = _USUAL_FILES
    else:
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if files == resource.RLIM_INFINITY:
            return _MOST
    return max(1, min(_MOST, int(_SHARE * files)))


def bounded_protocol(seconds: float, most: int) -> type[H11Protocol]:
    """Make uvicorn's protocol close connections that wait too long for a request, and the one that
    has waited longest if there are too many.

    seconds (float): How long the request line and the headers may take to arrive.
    most (int): The largest number of connections.
    RETURNS (Type[H11Protocol]): The protocol of a server.
    """
    # The protocols that wait, the longest first, with their timers.
    waiting: dict[Any, Any] = {}

    class BoundedProtocol(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if len(self.connections) > most:
                longest = next(iter(waiting), self)
                longest._stop()
                longest.transport.abort()
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            super().connection_lost(exc)

        def _watch(self) -> None:
            if self.conn.their_state is not h11.IDLE or self.transport.is_closing():
                self._stop()
            elif self not in waiting:
                waiting[self] = self.loop.call_later(seconds, self.transport.abort)

        def _stop(self) -> None:
            timer = waiting.pop(self, None)
            if timer is not None:
                timer.cancel()

    return BoundedProtocol

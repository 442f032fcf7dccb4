"""How large requests may be, how long they may take to arrive and to be split into words, and how
many may run.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from spacy.tokenizer import Tokenizer

from ..errors import ConnormError, Errors, require_range
from .paths import is_open
from .problems import drop_body, send_problem, sends_body

_WORD = re.compile(r"\S+")
# The tokenizer takes as long for this many affixes as for a word or two.
_FREE = 10
# The number of characters that are searched for a prefix or a suffix.
_REACH = 100


def affix_work(text: str, tokenizer: Any, *, limit: int) -> int:
    """Estimate how long a tokenizer takes beyond the time that is linear in the length of a text.
    It strips the prefixes and suffixes of a word one by one, and reads the rest of the word each
    time; a word is any text without spaces.

    text (str): The text.
    tokenizer (Tokenizer): spaCy's, with its own prefixes and suffixes. For other tokenizers, the
        result is 0.
    limit (int): The value at which counting may stop.
    RETURNS (int): The sum over all words of the number of their affixes above ten, times their
        length.
    """
    if not isinstance(tokenizer, Tokenizer):
        return 0
    work = 0
    for word, times in Counter(_WORD.findall(text)).items():
        if len(word) > _FREE and work <= limit:
            most = _FREE + 1 + limit // len(word)
            affixes = _count_affixes(word, tokenizer, most)
            work += times * max(0, affixes - _FREE) * len(word)
    return work


def _count_affixes(word: str, tokenizer: Tokenizer, most: int) -> int:
    start, end, count = 0, len(word), 0
    while start < end and count < most:
        prefix = tokenizer.find_prefix(word[start : min(end, start + _REACH)])
        start += prefix
        suffix = tokenizer.find_suffix(word[max(start, end - _REACH) : end])
        end -= suffix
        if not prefix and not suffix:
            break
        count += bool(prefix) + bool(suffix)
    return count


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """The limits of a server.

    body (int): Bytes in a request.
    text (int): Characters in a text.
    batch (int): Texts or mentions in a request.
    affixes (int): Punctuation without spaces in a text, as counted by `affix_work`: a run of 1,005
        characters counts a million, for which spaCy takes 0.2 seconds.
    concurrent (int): Simultaneous requests.
    seconds (float): How long a client may take to send a request.
    """

    body: int = 4_000_000
    text: int = 100_000
    batch: int = 100
    affixes: int = 4_000_000
    concurrent: int = 16
    seconds: float = 20.0

    def __post_init__(self) -> None:
        require_range(least=1, body=self.body, text=self.text, batch=self.batch)
        require_range(least=1, affixes=self.affixes, concurrent=self.concurrent)

    def require_batch(self, count: int) -> None:
        """Refuse too many texts.

        RAISES (ConnormError): CN756 for more texts than a request may have.
        """
        if count > self.batch:
            raise Errors.CN756(limit=self.batch, what=f"texts, not {count:,}")

    def require_texts(self, texts: Iterable[str], tokenizer: Any) -> None:
        """Refuse texts that are too long, or would block a tokenizer.

        texts (Iterable[str]): The texts.
        tokenizer (Tokenizer): See `affix_work`.
        RAISES (ConnormError): CN709 for more characters than a text may have, CN749 for a text that
            would block the tokenizer.
        """
        for text in texts:
            if len(text) > self.text:
                raise Errors.CN709(place="A text", length=len(text), limit=self.text)
            if affix_work(text, tokenizer, limit=self.affixes) > self.affixes:
                raise Errors.CN749(limit=self.affixes)


class LimitRequests:
    """Reads the whole body of a request before passing it on, and counts running requests. Requests
    for the page and its files are not counted, since they take almost no time.
    """

    def __init__(self, app: Any, limits: RequestLimits) -> None:
        """Wrap an ASGI application.

        app (Callable): The application.
        limits (RequestLimits): The limits.
        """
        self._app = app
        self._limits = limits
        self._running = 0

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Answer a request, or refuse it.

        scope (Dict[str, Any]): The connection, as in ASGI.
        receive (Callable): As in ASGI.
        send (Callable): As in ASGI.
        """
        if scope["type"] != "http" or is_open(scope):
            await self._app(scope, receive, send)
            return
        if self._running >= self._limits.concurrent:
            await drop_body(receive, more=sends_body(scope))
            await send_problem(scope, send, Errors.CN760(), headers={"Retry-After": "1"})
            return
        self._running += 1
        try:
            await self._run(scope, receive, send)
        finally:
            self._running -= 1

    async def _run(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        try:
            with Errors.CN768.instead_of(TimeoutError):
                async with asyncio.timeout(self._limits.seconds):
                    body = await self._read(scope, receive)
        except ConnormError as error:
            await send_problem(scope, send, error)
            return
        waiting = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive_body() -> Any:
            return waiting.pop() if waiting else await receive()

        await self._app(scope, receive_body, send)

    async def _read(self, scope: dict[str, Any], receive: Any) -> bytes:
        """Read the body of a request.

        RETURNS (bytes): The body.
        RAISES (ConnormError): CN756 if it is too large, after it was dropped.
        """
        limit = self._limits.body
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or int(length) > limit:
            await drop_body(receive, more=sends_body(scope))
            raise Errors.CN756(limit=limit, what="bytes")
        parts, size = [], 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return b""  # the client has disconnected
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > limit:
                await drop_body(receive, more=message.get("more_body", False))
                raise Errors.CN756(limit=limit, what="bytes")
            if not message.get("more_body"):
                return b"".join(parts)

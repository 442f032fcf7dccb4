import asyncio
import json

import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.server import RequestLimits
from spacy_connorm.server.limits import LimitRequests

BODY = [{"type": "http.request", "body": b"{}", "more_body": False}]


class World:
    """An application that waits until it may go on, and clients of it."""

    def __init__(self, **limits):
        self.going = asyncio.Event()
        self.received = []
        self.app = LimitRequests(self._answer, RequestLimits(**limits))

    async def _answer(self, scope, receive, send):
        message = await receive()
        self.received.append(message["body"])
        await self.going.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    async def ask(self, *, client="a", path="/api/info", messages=BODY, headers=()):
        sent, waiting = [], list(messages)
        scope = {"type": "http", "path": path, "client": (client, 1), "headers": list(headers)}

        async def receive():
            if not waiting:
                await asyncio.sleep(60)
            return waiting.pop(0)

        async def send(message):
            sent.append(message)

        await self.app(scope, receive, send)
        return sent[0]["status"], json.loads(sent[1]["body"])


def test_what_runs_is_counted():
    async def story():
        world = World(concurrent=3)
        running = [asyncio.create_task(world.ask(client=each)) for each in ("a", "a", "b")]
        await asyncio.sleep(0.01)
        status, answer = await world.ask(client="c")
        assert (status, answer["error"]["code"]) == (503, "CN760")
        # A client that left is not counted.
        running.pop().cancel()
        await asyncio.sleep(0.01)
        world.going.set()
        assert (await world.ask(client="a"))[0] == 200
        assert [status for status, _ in await asyncio.gather(*running)] == [200, 200]
        assert world.app._running == 0

    asyncio.run(story())


def test_pages_are_not_counted():
    async def story():
        world = World(concurrent=1)
        running = asyncio.create_task(world.ask())
        page = asyncio.create_task(world.ask(path="/"))
        await asyncio.sleep(0.01)
        world.going.set()
        assert (await running)[0] == (await page)[0] == 200

    asyncio.run(story())


def test_a_slow_body_is_not_waited_for():
    async def story():
        world = World(seconds=0.05)
        begun = [{"type": "http.request", "body": b"{", "more_body": True}]
        status, answer = await world.ask(messages=begun)
        assert (status, answer["error"]["code"]) == (408, "CN768")

    asyncio.run(story())


@pytest.mark.parametrize("length", [b"11", b"-1", b"x"])
def test_a_body_that_says_it_is_too_large_is_not_read(length):
    async def story():
        world = World(body=10)
        status, answer = await world.ask(headers=[(b"content-length", length)])
        assert (status, answer["error"]["code"]) == (413, "CN756")
        assert world.received == []

    asyncio.run(story())


def test_a_body_is_put_together():
    async def story():
        world = World()
        world.going.set()
        parts = [
            {"type": "http.request", "body": b"{", "more_body": True},
            {"type": "http.request", "body": b"}"},
        ]
        assert (await world.ask(messages=parts))[0] == 200
        gone = [{"type": "http.disconnect"}]
        await world.ask(messages=gone)
        assert world.received == [b"{}", b""]

    asyncio.run(story())


def test_limits_are_positive():
    with pytest.raises(ConnormError, match="CN006"):
        RequestLimits(batch=0)

import asyncio
import json
import random

import pytest
import spacy

from spacy_connorm.errors import ConnormError
from spacy_connorm.server import RequestLimits
from spacy_connorm.server.limits import LimitRequests, affix_work

BODY = [{"type": "http.request", "body": b"{}", "more_body": False}]


class World:
    """An application that waits until it may go on, and clients of it."""

    def __init__(self, **limits):
        self.going = asyncio.Event()
        self.received = []
        self.waiting = []  # the messages of the last client that were not received
        self.app = LimitRequests(self._answer, RequestLimits(**limits))

    async def _answer(self, scope, receive, send):
        message = await receive()
        self.received.append(message["body"])
        await self.going.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    async def ask(self, *, client="a", path="/api/info", messages=BODY, headers=()):
        sent, self.waiting = [], list(messages)
        waiting = self.waiting
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
        running = [asyncio.create_task(world.ask(client=letter)) for letter in ("a", "a", "b")]
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


BEGUN = {"type": "http.request", "body": b"{", "more_body": True}
LONG = (b"content-length", b"11")
EXPECT = (b"expect", b"100-continue")


@pytest.mark.parametrize(
    ("headers", "messages"),
    [
        ([LONG], [BEGUN, *BODY]),
        ([(b"transfer-encoding", b"chunked")], [{**BEGUN, "body": b"x" * 11}, BEGUN, *BODY]),
        ([LONG], [BEGUN, {"type": "http.disconnect"}]),
        ([LONG, EXPECT], []),
        ([(b"transfer-encoding", b"chunked")], [{**BEGUN, "body": b"x" * 11, "more_body": False}]),
    ],
)
def test_a_refused_body_is_received_before_the_answer(headers, messages):
    async def story():
        world = World(body=10)
        async with asyncio.timeout(1):
            status, _ = await world.ask(messages=messages, headers=headers)
        assert (status, world.waiting) == (413, [])

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


@pytest.fixture(scope="module")
def tokenizer():
    return spacy.blank("en").tokenizer


DNA = "".join(random.Random(0).choices("ACGT", k=90_000))


@pytest.mark.parametrize(
    ("text", "work"),
    [
        ("", 0),
        ("( a ) " * 1000, 0),
        ("(" * 10, 0),
        ("(" * 100, 90 * 100),
        ("\u2019S" * 50, 40 * 100),
        ("A$" * 50, 40 * 100),
        ("((((((((((((a)))", 5 * 16),
        ("(" * 20 + " " + "(" * 20, 2 * 10 * 20),
        ("$$$$$$$$$$$a(((((((((((((((((((b", 1 * 32),
    ],
)
def test_affixes_of_words_count_times_their_length(tokenizer, text, work):
    assert affix_work(text, tokenizer, limit=10**6) == work


def test_counting_stops_at_the_limit(tokenizer):
    assert 1000 < affix_work("(" * 100_000, tokenizer, limit=1000) < 1_200_000


def test_of_another_tokenizer_nothing_is_known():
    assert affix_work("(" * 100, str.split, limit=1000) == 0


@pytest.mark.parametrize(
    "text",
    [
        f"({DNA}).",
        "aGVsbG8+/x" * 9_000 + "==",
        "https://example.org/" + "a/b-c_d?e=f&" * 2_000,
        ("=" * 80 + "\n" + "word, (word). " * 5 + "\n") * 200,
        "\n".join(f"Chapter {'.' * length} {length}" for length in range(20, 100)),
        "\u5fc3\u808c\u6897\u585e\u3002" * 5_000,
    ],
)
def test_ordinary_texts_are_tokenized(tokenizer, text):
    RequestLimits().require_texts([text] * 100, tokenizer)


@pytest.mark.parametrize("text", ["(" * 2_100, ("(" * 1_000 + " ") * 5, "A$" * 2_100, "'s" * 2_100])
def test_a_text_that_holds_up_the_tokenizer_is_refused(tokenizer, text):
    with pytest.raises(ConnormError, match="CN749"):
        RequestLimits().require_texts(["short", text], tokenizer)

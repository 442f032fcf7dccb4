"""How soon `connorm serve` answers while somebody types: one request a letter of new mentions, over
HTTP, on one connection. Prefixes are asked once, so the cache knows none of them, and there is no
memo. `cpu_ms` is the processor time of a request, of the client and the server together, which
other work on the machine changes little.

Example: python benchmarks/serve.py --dataset ncbi --encoder dan --data ../shared/data
"""

import http.client
import json
import tempfile
import threading
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import spacy
import uvicorn
from _common.builders import encoder_config
from _common.cli import begin, clear_errors, finish, make_parser
from _common.datasets import DATASETS, Data
from _common.options import INDEXES, add_encoder, add_pipeline_options, at_least
from _common.pipelines import add_normalizer

from spacy_connorm.evaluation.report import Row
from spacy_connorm.server import make_app
from spacy_connorm.server.serving import listen

HEADERS = {"Content-Type": "application/json"}


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    with clear_errors():
        rows = [measure(arguments)]
    finish(rows, arguments.json)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    parser.add_argument("--dataset", default="ncbi", choices=DATASETS, help="[%(default)s]")
    parser.add_argument(
        "--mentions", type=at_least(1), default=50, help="how many to type [%(default)s]"
    )
    add_encoder(parser)
    add_pipeline_options(parser)
    return parser


def measure(arguments: Namespace) -> Row:
    """RETURNS (Dict[str, Any]): Milliseconds of the answers."""
    data = Data(arguments.dataset, arguments.data)
    mentions = list(dict.fromkeys(each.text for each in data.mentions))[: arguments.mentions]
    block = encoder_config(arguments.encoder, data, train=arguments.train, work=arguments.work)
    config = {"encoder": block, "index": {"@misc": INDEXES[arguments.index]}}
    nlp = spacy.blank("en")
    normalizer = add_normalizer(nlp, config, data, work=arguments.work)
    with tempfile.TemporaryDirectory() as folder:
        app = make_app(nlp, corrections=Path(folder, "corrections.jsonl"))
        with serving(app) as port:
            started = time.process_time()
            times = type_all(port, mentions)
            spent = 1000 * (time.process_time() - started) / len(times)
    return {
        "dataset": arguments.dataset,
        "encoder": arguments.encoder,
        "index": arguments.index,
        "concepts": normalizer.lookup.index.concept_count,
        **summary(times),
        "cpu_ms": spent,
    }


@contextmanager
def serving(app: Any) -> Iterator[int]:
    """Serve an application in a thread.

    app (Callable): The application.
    YIELDS (int): Its port.
    """
    with listen("127.0.0.1", 0) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


def type_all(port: int, mentions: Sequence[str]) -> list[float]:
    """RETURNS (List[float]): The milliseconds of the answer to each new prefix."""
    prefixes = dict.fromkeys(
        mention[:length] for mention in mentions for length in range(1, len(mention) + 1)
    )
    connection = http.client.HTTPConnection("127.0.0.1", port)
    times = []
    for prefix in prefixes:
        body = json.dumps({"mentions": [prefix], "top_k": 10})
        started = time.perf_counter()
        connection.request("POST", "/api/search", body, HEADERS)
        json.load(connection.getresponse())
        times.append(1000 * (time.perf_counter() - started))
    connection.close()
    return times


def summary(times: Sequence[float]) -> Row:
    """RETURNS (Dict[str, Any]): The median, the 95th and the 99th percentile, and the slowest."""
    in_order = sorted(times)
    places = {"median_ms": 0.5, "p95_ms": 0.95, "p99_ms": 0.99, "slowest_ms": 1.0}
    last = len(in_order) - 1
    shares = {name: in_order[round(share * last)] for name, share in places.items()}
    return {"requests": len(times), **shares}


if __name__ == "__main__":
    main()

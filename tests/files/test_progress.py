import io
from pathlib import Path

import pytest

import spacy_connorm
from spacy_connorm.files.progress import BYTES, progress_bar


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass only when a test says so."""
    seconds = [0.0]
    monkeypatch.setattr("tqdm.std.time", lambda: seconds[0])
    return seconds


def run(monkeypatch, clock, stderr, *, seconds, **options):
    monkeypatch.setattr("sys.stderr", stderr)
    with progress_bar(total=2000, **options) as bar:
        clock[0] += seconds
        bar.update(1000)
        shown = stderr.getvalue()
    return shown, stderr.getvalue()


def test_long_work_is_shown_on_a_terminal_until_it_is_done(monkeypatch, clock):
    options = {"unit": "texts", "description": "Reading"}
    shown, left = run(monkeypatch, clock, Terminal(), seconds=3, **options)
    assert "Reading:  50%" in shown and "1000/2000" in shown and "333.33 texts/s" in shown
    assert left.endswith("\r") and not left.rsplit("\r", 2)[1].strip()


def test_bytes_have_their_units(monkeypatch, clock):
    shown, _ = run(monkeypatch, clock, Terminal(), seconds=4, unit=BYTES)
    assert "1.00k/2.00k" in shown and "250B/s" in shown


def test_short_work_is_not_shown(monkeypatch, clock):
    assert run(monkeypatch, clock, Terminal(), seconds=1, unit="texts") == ("", "")


def test_nothing_is_drawn_into_a_pipe(monkeypatch, clock):
    assert run(monkeypatch, clock, io.StringIO(), seconds=9, unit="texts") == ("", "")


def test_items_are_counted(monkeypatch, clock):
    monkeypatch.setattr("sys.stderr", Terminal())
    with progress_bar("abc", unit="letters", initial=2) as bar:
        assert list(bar) == ["a", "b", "c"]
        assert bar.n == 5


def test_every_bar_is_made_by_this_function():
    package = Path(spacy_connorm.__file__).parent
    makers = [path.name for path in package.rglob("*.py") if "tqdm(" in path.read_text("utf8")]
    assert makers == ["progress.py"]

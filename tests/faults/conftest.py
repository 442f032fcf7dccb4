"""How often a fault is looked for: a few times in `make test`, long in `make faults`."""

from collections import Counter
from pathlib import Path

import pytest
from long_run import is_long

_TRIALS = "trials"
# A test can record this property, with numbers by outcome.
OUTCOMES = "outcomes"


@pytest.fixture
def trials(pytestconfig, record_property):
    """A function that takes the number of trials in a short and in a long run, and gives that of
    this run. The summary of a long run prints it."""

    def choose(short: int, long: int) -> int:
        number = long if is_long(pytestconfig) else short
        record_property(_TRIALS, number)
        return number

    return choose


def pytest_terminal_summary(terminalreporter, config):
    if not is_long(config):
        return
    terminalreporter.section("trials")
    trials, tests = Counter(), Counter()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            facts = dict(report.user_properties)
            theme = Path(report.fspath).stem.removeprefix("test_")
            tests[theme, outcome] += 1
            trials[theme] += facts.get(_TRIALS, 1)
            if _TRIALS in facts:
                found = " ".join(f"{kind}: {n:,}" for kind, n in facts.get(OUTCOMES, {}).items())
                line = f"{facts[_TRIALS]:>9,} {outcome}  {report.nodeid} {found}"
                terminalreporter.write_line(line.rstrip())
    terminalreporter.section("trials by theme")
    for theme, number in sorted(trials.items()):
        told = ", ".join(
            f"{tests[theme, outcome]} tests {outcome}" for outcome in ("passed", "failed")
        )
        terminalreporter.write_line(f"{number:>9,}  {theme}: {told}")
    terminalreporter.write_line(f"{trials.total():>9,}  in all")

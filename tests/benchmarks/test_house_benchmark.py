"""Rooms, floors and arrows of a package, counted."""

import pytest


@pytest.fixture
def package(tmp_path):
    files = {
        "__init__.py": "from .store import open_store\n",
        "errors.py": "",
        "store.py": "import json\nfrom .errors import Error\n",
        "search/__init__.py": "",
        "search/exact.py": "from ..store import open_store\nfrom .base import Base\n",
        "search/base.py": "from .. import errors\n",
        "cli.py": "from .search.exact import search\nfrom .store import open_store\n",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    return tmp_path


def test_arrows_run_between_rooms(modules, package):
    from house import find_arrows

    assert find_arrows(package) == {
        "__init__": {"store"},
        "errors": set(),
        "store": {"errors"},
        "search": {"store", "errors"},
        "cli": {"search", "store"},
    }


def test_floors(modules):
    from house import floors

    arrows = {"a": set(), "b": {"a"}, "c": {"a", "b"}, "d": {"e"}, "e": {"d", "c"}}
    assert floors(arrows) == {"a": 1, "b": 2, "c": 3, "d": 4, "e": 4}

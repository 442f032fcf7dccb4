"""The notebook shows what it gives."""

import json
from pathlib import Path

import pytest
from spacy import displacy

from .pages import DOCS, ROOT

pytest.importorskip("matplotlib")
NOTEBOOK = DOCS / "tour.ipynb"


@pytest.fixture(scope="module")
def cells():
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf8"))
    return [row for row in notebook["cells"] if row["cell_type"] == "code"]


def shown(cell) -> str:
    """What a cell printed when it was saved."""
    return "".join("".join(output.get("text", "")) for output in cell["outputs"])


def test_the_tour_shows_what_its_cells_give(cells, tmp_path, monkeypatch, capsys):
    import matplotlib

    matplotlib.use("Agg")
    (tmp_path / "docs").mkdir()
    (tmp_path / "assets").symlink_to(ROOT / "assets")
    monkeypatch.chdir(tmp_path / "docs")
    names: dict = {"__name__": "tour"}
    for cell in cells:
        capsys.readouterr()
        exec(compile("".join(cell["source"]), NOTEBOOK.name, "exec"), names)
        assert capsys.readouterr().out == shown(cell)
    assert Path("found.csv").is_file()
    assert "HTN" in displacy.render(names["doc"], style="ent", jupyter=False)

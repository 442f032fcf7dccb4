import os
from pathlib import Path

import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.files.overlap import require_distinct_outputs


def test_outputs_with_the_same_name_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("link.json").symlink_to("a.json")
    for same in ("a.json", tmp_path / "a.json", "./b/../a.json", "link.json"):
        with pytest.raises(ConnormError, match="CN124.*two outputs"):
            require_distinct_outputs("b.json", None, "a.json", same)


def test_other_outputs_are_not(tmp_path):
    require_distinct_outputs()
    require_distinct_outputs(None, None, tmp_path, tmp_path / "a", "b", os.devnull, os.devnull)

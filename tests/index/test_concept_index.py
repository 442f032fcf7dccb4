"""Names gathered into rows and members, and members and keys on disk."""

import shutil

import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.index.backends.exact import ExactIndex
from spacy_connorm.index.concept_index import _opened_again

from .conftest import build


@pytest.mark.filterwarnings("ignore:.*CNW401")
def test_a_spawned_worker_opens_the_same_index_or_a_copy(tmp_path):
    index = build(tmp_path / "index")
    shutil.copytree(index.folder, tmp_path / "copy")
    shutil.rmtree(index.folder)
    (tmp_path / "copy").rename(index.folder)
    again = _opened_again(index.folder, ExactIndex(), index.manifest)
    assert again.manifest == index.manifest
    shutil.rmtree(index.folder)
    build(tmp_path / "index", synonyms=[])
    with pytest.raises(ConnormError, match="CN402.*was replaced"):
        _opened_again(index.folder, ExactIndex(), index.manifest)

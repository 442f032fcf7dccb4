import json

import pytest

from spacy_connorm.files.json_items import read_items

ITEMS = [{"a": "[1, 2]"}, {"b": [{"c": '"}'}, 2]}, "x, y", 3, [], {"d": "\\"}]


@pytest.mark.parametrize("indent", [None, 0, 2])
def test_items_are_read_one_by_one(tmp_path, indent):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(ITEMS, indent=indent))
    assert [json.loads(item) for _, item in read_items(path)] == ITEMS


def test_each_item_has_the_line_it_begins_in(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('\n[\n{"a":\n1},\n\n{"b" 2}, {"c": 3}\n]\n')
    assert list(read_items(path)) == [(3, '{"a":\n1}'), (6, '{"b" 2}'), (6, '{"c": 3}')]


@pytest.mark.parametrize(("text", "items"), [("", 0), ("[", 0), ("[]", 0), ("[1", 1), ('["a', 1)])
def test_an_array_that_is_cut_ends_somewhere(tmp_path, text, items):
    path = tmp_path / "a.json"
    path.write_text(text)
    assert len(list(read_items(path))) == items

from spacy_connorm.files import package_data
from spacy_connorm.files.package_data import read_toml


def test_a_table_is_read_with_tuples(tmp_path, monkeypatch):
    (tmp_path / "table.toml").write_text('[rows.one]\nnames = ["a", ["b"]]\ncount = 2\n', "utf8")
    monkeypatch.setattr(package_data, "files", lambda package: tmp_path)
    assert read_toml("ours", "table.toml") == {
        "rows": {"one": {"names": ("a", ("b",)), "count": 2}}
    }

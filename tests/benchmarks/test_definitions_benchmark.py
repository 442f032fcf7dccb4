"""The benchmark of definitions, on data of a few lines."""

import gzip
import json


def test_definitions_are_counted_and_shown(run, data, capsys):
    out = data / "out.json"
    note = "1|t|Heart attack (HA)\n1|a|HA again.\n1\t18\t20\tHA\tSpecificDisease\tD1\n\n"
    (data / "ncbi_disease" / "train.pubtator.txt.gz").unlink()
    (data / "ncbi_disease" / "dev.pubtator.txt.gz").unlink()
    path = data / "ncbi_disease" / "test.pubtator.txt.gz"
    path.write_bytes(gzip.compress(note.encode()))
    run("definitions.py", "--data", data, "--corpus", "ncbi", "--json", out, "--sample", "3")
    ours = json.loads(out.read_text())[0]
    assert (ours["finder"], ours["documents"], ours["definitions"]) == ("spacy_connorm", 1, 1)
    assert (ours["mentions"], ours["expanded"]) == (1, 1)
    assert "- HA: Heart attack" in capsys.readouterr().out

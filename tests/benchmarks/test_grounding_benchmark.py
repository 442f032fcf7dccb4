"""Sets of synonyms, their splits, and what is measured on them."""

import gzip
import json
import re

import pytest

from .organs import ORGANS, write_medic

PARTS = {"train", "test", "zero-shot"}
VARIANTS = {"vectors", "cca", "dan", "cca-dan", "bne"}


@pytest.fixture
def sets(modules):
    from _common import synonym_sets

    return synonym_sets


def test_names_of_several_concepts_and_long_ones_are_left_out(sets):
    pairs = [
        ("Heart  Attack (disorder)", "C1"),
        ("heart attack", "C1"),
        ("MI", "C1"),
        ("cold", "C2"),
        ("Cold", "C3"),
        ("common cold", "C2"),
        ("a, b, c, d", "C4"),
        ("one two three four five six", "C4"),
        ("...", "C5"),
    ]
    assert sets.usable_names(iter(pairs)) == {
        "C1": ["heart attack", "mi"],
        "C2": ["common cold"],
        "C4": ["one two three four five six"],
        "C5": ["..."],
    }


def test_the_split_follows_the_paper_s_rules(sets, data):
    write_medic(data)
    split = sets.split_set("medic", data, seed=0)
    names = sets.usable_names(sets.read_pairs("medic", data))
    assert len(split.zero_shot) == round(0.1 * len(names))
    assert not split.zero_shot.keys() & split.train.keys()
    assert split.zero_shot.keys() | split.train.keys() == names.keys()
    held_out = {part: dict(map(reversed, getattr(split, part))) for part in ("test", "validation")}
    for concept, own in names.items():
        if concept in split.zero_shot:
            assert split.zero_shot[concept] == own
            continue
        away = [part[concept] for part in held_out.values() if concept in part]
        assert sorted([*split.train[concept], *away]) == own
        assert len(away) == min(2, len(own) - 1)
    assert sets.split_set("medic", data, seed=0) == split
    assert sets.split_set("medic", data, seed=1) != split


def test_icd_10_codes_are_fused_by_category(sets, tmp_path):
    obo = (
        "format-version: 1.2\n\n[Term]\nid: DOID:1\nname: typhoid\nxref: ICD10CM:A01.0\n\n"
        "[Term]\nid: DOID:2\nname: cholera\nxref: ICD10CM:A00\n\n"
        "[Term]\nid: DOID:3\nname: infection\nxref: ICD10CM:A00-B99\n"
    )
    xml = (
        "<ICD10CM.tabular><version>2021</version><chapter><name>1</name><desc>Infections</desc>"
        '<section id="A00-A09"><desc>Intestinal infections</desc>'
        "<diag><name>A01</name><desc>Typhoid and paratyphoid</desc>"
        "<diag><name>A01.0</name><desc>Typhoid fever</desc>"
        "<inclusionTerm><note>Enteric fever</note></inclusionTerm></diag></diag>"
        "</section></chapter></ICD10CM.tabular>"
    )
    for path, text in zip(sets.set_files("icd10", tmp_path), (obo, xml), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()))
    assert sets.usable_names(sets.read_pairs("icd10", tmp_path)) == {
        "A00": ["cholera"],
        "A01": ["enteric fever", "typhoid", "typhoid and paratyphoid", "typhoid fever"],
    }


def test_craft_is_read_with_mentions_of_all_types(sets, data):
    text, ids = "Neurons of the retina.", {"Neurons": "CL:0000540", "retina": "UBERON:0000966"}
    mentions = [
        {
            "spans": [[start, start + len(name)]],
            "text": name,
            "id": id,
            "ontology": id.split(":")[0],
        }
        for name, id in ids.items()
        for start in [text.index(name)]
    ]
    article = json.dumps({"pmid": "1", "text": text, "mentions": mentions})
    for path in sets.set_files("corpora", data):
        if not path.is_file():
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(gzip.compress(article.encode()))
    pairs = set(sets.read_pairs("corpora", data))
    assert {*ids.items(), ("apoplexy", "D2")} <= pairs


def test_every_variant_is_scored_on_every_part(rows_of, data, few_vectors, capsys):
    write_medic(data)
    given = ["--set", "medic", "--data", data, "--hidden", "8", "--epochs", "2"]
    given += ["--bne-units", "6", "--max-pairs", "1"]
    rows = rows_of("grounding.py", *given, "--phrase", f"{ORGANS[0]} pain")
    told = re.search(r"Pairs of train: (\d+); in an epoch: (\d+)", capsys.readouterr().err)
    assert int(told[1]) > int(told[2]) > 0
    scores = [row for row in rows if row["table"] == "Synonym retrieval"]
    assert {(row["variant"], row["part"]) for row in scores} == {
        (variant, part) for variant in VARIANTS for part in PARTS
    }
    for row in scores:
        assert 0 <= row["map"] <= 100 and row["accuracy"] <= row["mrr"] <= 100
        published = {"train": 68, "test": 63, "zero-shot": 75}
        assert row["variant"] != "bne" or row["published_map"] == published[row["part"]]
        assert (row["epochs"] is None) == (row["variant"] in ("vectors", "cca"))
    lists = [row for row in rows if row["table"] != "Synonym retrieval"]
    assert len(lists) == 10 and all(lists[0].keys() > VARIANTS for _ in lists)
    # What was trained is kept.
    capsys.readouterr()
    again = rows_of("grounding.py", *given, "--variant", "cca-dan", "bne", "--phrase", "x")
    kept = [row for row in scores if row["variant"] in ("cca-dan", "bne")]
    assert [row for row in again if row["table"] == "Synonym retrieval"] == kept


def test_there_is_no_data(run, data, capsys):
    (data / "medic_2012" / "medic_06Jul2012.txt.gz").unlink()
    with pytest.raises(SystemExit) as exit:
        run("grounding.py", "--set", "medic", "--data", data)
    assert exit.value.code == 1
    assert "No data" in capsys.readouterr().err

"""Saves that fail and saved components that are not what they should be."""

import errno

import numpy as np
import pytest

from spacy_connorm import Concept, Ontology
from spacy_connorm.errors import ConnormError
from spacy_connorm.files.folders import pack, seal, unseal

MENTIONS = ["MI", "cold", "head spinning"]


@pytest.mark.parametrize(
    "step", ["numpy.save", "shutil.copytree", "spacy_connorm.pipeline.serialization.seal"]
)
def test_disk_that_fills_up_leaves_the_old_folder(saved, blank_normalizer, monkeypatch, step):
    before = pack(saved)
    normalizer = blank_normalizer().from_disk(saved)

    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(step, full)
    with pytest.raises(ConnormError, match="CN108.*saved.*disk is full"):
        normalizer.to_disk(saved)
    assert pack(saved) == before
    assert [path.name for path in saved.parent.iterdir()] == ["saved"]


def flip(place):
    def damage(content):
        at = min(int(len(content) * place), len(content) - 1)
        return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]

    return damage


DAMAGES = {
    "missing": lambda content: None,
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "shorter": lambda content: content[:-2],  # a manifest may lose its last line end
    "longer": lambda content: content + b"\0",
    "first bit": flip(0),
    "middle bit": flip(0.5),
    "last bit": flip(1),
}


@pytest.mark.parametrize("vectors", ["sparse", "annoy", "lists", "hybrid"])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=list(DAMAGES))
def test_damage_to_any_file_is_found(
    changed, blank_normalizer, hashes, hybrid, tmp_path, damage, vectors
):
    annoy = {
        **hashes,
        "index": {"@misc": "spacy-connorm.AnnoyIndex.v1", "exact_below": 0, "dtype": "float32"},
    }
    lists = {**hashes, "index": {"@misc": "spacy-connorm.IvfIndex.v1", "exact_below": 16}}
    settings = {"sparse": {}, "annoy": annoy, "lists": lists, "hybrid": hybrid}[vectors]
    changed(**settings).to_disk(tmp_path / "saved")
    normalizer = blank_normalizer(**settings)
    for name, content in pack(tmp_path / "saved").items():
        path = tmp_path / "saved" / name
        damaged = damage(content)
        path.unlink() if damaged is None else path.write_bytes(damaged)
        if damaged != content:
            with pytest.raises(ConnormError, match=r"CN4\d\d"):
                normalizer.from_disk(tmp_path / "saved")
        path.write_bytes(content)
    assert normalizer.from_disk(tmp_path / "saved").candidates(["MI"])


def test_no_byte_of_a_manifest_can_change_unnoticed(saved, normalizer):
    path = saved / "index" / "manifest.json"
    content = path.read_bytes()
    for at in range(0, len(content), 7):
        if content[at : at + 1].isspace():
            continue
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        with pytest.raises(ConnormError, match="CN40[012]"):
            normalizer.from_disk(saved)


def reseal(folder, **facts):
    """Change facts of a manifest as another version of this package might have written them."""
    manifest = unseal(folder)
    manifest.pop("files")
    seal(folder, {**manifest, **facts})


@pytest.mark.parametrize(
    ("part", "field"), [("", "format"), ("index", "format"), ("index", "index_format")]
)
def test_other_format_version(saved, blank_normalizer, part, field):
    reseal(saved / part, **{field: 99})
    if field == "index_format":
        reseal(saved)  # it lists the index
    with pytest.raises(ConnormError, match="CN401.*99"):
        blank_normalizer().from_disk(saved)


def test_index_of_another_encoder(make_normalizer, blank_normalizer, hashes, tmp_path):
    make_normalizer(**hashes).to_disk(tmp_path / "saved")
    other = {"@architectures": "tests.HashingEncoder.v1", "seed": 1}
    with pytest.raises(ConnormError, match="CN410.*hashes of 0.*hashes of 1"):
        blank_normalizer(**{**hashes, "encoder": other}).from_disk(tmp_path / "saved")


def test_encoder_alone_does_not_come_to_an_index_of_another(make_normalizer, blank_normalizer):
    other = blank_normalizer()
    other.initialize(lambda: [], ontology=Ontology([Concept("X1", "quite another text")]))
    before = other.candidates(["another"])
    with pytest.raises(ConnormError, match="CN410"):
        other.from_bytes(make_normalizer().to_bytes(exclude=["index"]), exclude=["index"])
    assert other.candidates(["another"]) == before


def test_sieve_that_the_index_was_not_built_for(saved, blank_normalizer):
    sieve = {"@misc": "spacy-connorm.Sieve.v1", "searches": ["O-C"], "thresholds": []}
    with pytest.raises(ConnormError, match="CN408.*O-C"):
        blank_normalizer(sieve=sieve).from_disk(saved)


@pytest.mark.parametrize("content", [b"", b"garbage", b"\x80", b"\x81\xa1a\x01", b"\xc1"])
def test_bytes_of_something_else(blank_normalizer, content):
    with pytest.raises(ConnormError, match="CN40[02]"):
        blank_normalizer().from_bytes(content)


@pytest.mark.parametrize("path", ["nothing", "file"])
def test_no_folder(blank_normalizer, tmp_path, path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConnormError, match="CN400"):
        blank_normalizer().from_disk(tmp_path / path)


@pytest.mark.parametrize("damaged", ["manifest.json", "encoder", "index/concepts.sqlite", "cfg"])
def test_failed_load_leaves_a_working_component(saved, make_pipeline, damaged):
    nlp = make_pipeline(synonyms=[("quite another", "C1")], top_k=3)
    normalizer = nlp.get_pipe("concept_normalizer")
    normalizer.add_synonyms([("coronary", "C2")])
    before, settings = normalizer.candidates(["coronary", *MENTIONS]), dict(normalizer.cfg)
    (saved / damaged).write_bytes(b"damaged")
    with pytest.raises(ConnormError, match="CN4"):
        normalizer.from_disk(saved)
    assert normalizer.candidates(["coronary", *MENTIONS]) == before
    assert normalizer.cfg == settings


@pytest.mark.parametrize("value", ["nan", "inf", "1e30"])
def test_vectors_that_are_not_at_unit_length(
    make_normalizer, blank_normalizer, hashes, tmp_path, value
):
    make_normalizer(**hashes).to_disk(tmp_path / "saved")
    folders = [tmp_path / "saved" / "index", tmp_path / "saved"]
    facts = [unseal(folder) for folder in folders]
    path = folders[0] / "texts.rows.npy"
    unit = np.load(path)
    unit[:] = float(value)
    np.save(path, unit)
    for folder, manifest in zip(folders, facts, strict=True):
        seal(folder, {**manifest, "files": {}})
    normalizer = blank_normalizer(**hashes).from_disk(tmp_path / "saved")
    with pytest.raises(ConnormError, match="CN420"):
        normalizer.candidates(["low temperatures"])

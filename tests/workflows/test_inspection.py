import shutil
from pathlib import Path

import pytest
import spacy
import srsly
from pipeline_package import make_package

from spacy_connorm import check, save_pipeline
from spacy_connorm.concepts import Candidate
from spacy_connorm.errors import ConnormError
from spacy_connorm.workflows import explain, search


@pytest.fixture(scope="module")
def nlp(demo_index):
    return spacy.load(demo_index)


def test_candidates_of_each_mention(demo_index, capsys):
    found = search(str(demo_index), ["hart attack", " "], top_k=2)
    assert [[candidate.concept_id for candidate in candidates][:1] for candidates in found] == [
        ["DEMO:0000006"],
        [],
    ]
    assert len(found[0]) == 2 and isinstance(found[0][0], Candidate)
    assert capsys.readouterr() == ("", "")


def test_a_loaded_pipeline_is_asked(nlp):
    assert search(nlp, ("heart attack",)) == search(nlp, ["heart attack"])
    assert len(search(nlp, ["heart attack"])[0]) == 10


def test_short_forms_of_the_pipeline_mean_the_same_alone(demo_index):
    nlp = spacy.load(demo_index)
    resolver = nlp.add_pipe("abbreviation_resolver", "table", before="concept_normalizer")
    resolver.cfg["short_forms"] = {"HAT": "heart attack"}
    found = search(nlp, ["HAT", "heart attack", ""], top_k=1)
    assert [[candidate.score for candidate in answers] for answers in found] == [[1.0], [1.0], []]
    assert found[0][0].concept_id == found[1][0].concept_id
    assert explain(nlp, ["HAT"])[0].parts[0].searched == "heart attack"


def test_search_asks_one_search_alone_if_it_is_named(nlp):
    assert search(nlp, ["flu"], search="D-T") == [[]]
    ((best,),) = search(nlp, ["heart attack"], search="O-T", top_k=1)
    assert (best.concept_id, best.score, best.search) == ("DEMO:0000006", 1.0, "O-T")


def test_one_search_alone_splits_composites_too(nlp):
    composite = ["influenza and heart attack"]
    (found,) = search(nlp, composite, search="O-T", top_k=1)
    assert (
        found == nlp.get_pipe("concept_normalizer").candidates(composite, search="O-T", top_k=1)[0]
    )
    assert [each.part for each in found] == [1, 2]


def test_types_and_branches(nlp):
    for one_search in (None, "O-T"):
        ((drug,),) = search(nlp, ["MS"], types=["drug"], top_k=1, search=one_search)
        ((valve,),) = search(nlp, ["MS"], branches=["DEMO:0000005"], top_k=1, search=one_search)
        assert (drug.name, valve.name) == ("morphine", "mitral stenosis")


def test_each_search_is_explained(nlp):
    (explanation,) = explain(nlp, [" hart  attack"], top_k=1)
    assert explanation.searched == "hart attack"
    assert [(step.search, step.answers) for step in explanation.steps] == [
        ("D-T", False),
        ("OD-T", True),
    ]


def test_each_part_of_a_composite_is_explained(nlp):
    (explanation,) = explain(nlp, ["flu and heart attack"], top_k=1)
    assert [part.searched for part in explanation.parts] == ["flu", "heart attack"]
    for part, candidates in zip(
        explanation.parts, explanation.interpretations[0].parts, strict=True
    ):
        (answering,) = (step for step in part.steps if step.answers)
        assert answering.candidates == candidates
    assert explanation.steps is explanation.parts[0].steps


def test_an_explanation_tells_codes(nlp):
    (explanation,) = explain(nlp, ["flu and heart attack"], code_systems=["DEMO"])
    steps = [step for part in explanation.parts for step in part.steps]
    found = [candidate for step in steps for candidate in step.candidates]
    found += [
        candidate for reading in explanation.interpretations for candidate in reading.candidates
    ]
    assert found and all(
        candidate.codes == {"DEMO": [candidate.concept_id.removeprefix("DEMO:")]}
        for candidate in found
    )


@pytest.mark.parametrize(
    ("pipeline", "options", "code"),
    [
        ("nowhere", {}, "CN700"),
        (".", {}, "CN701"),
        (None, {"component": "ner"}, "CN704"),
        (None, {"types": ["planet"]}, "CN406"),
        (None, {"types": "drug"}, "CN006"),
        (None, {"search": "O-C"}, "CN408"),
        (None, {"search": "best"}, "CN118"),
    ],
)
def test_bad_pipelines_and_options_of_search_are_refused(
    nlp, tmp_path, monkeypatch, pipeline, options, code
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConnormError, match=code):
        search(pipeline or nlp, ["flu"], **options)


def test_one_text_in_no_list_is_refused(nlp):
    for ask in (search, explain):
        with pytest.raises(ConnormError, match="CN006.*a list of texts"):
            ask(nlp, "flu")


@pytest.mark.parametrize("wrong", [None, 3, ["cold"]])
def test_only_texts_and_spans_are_explained(nlp, wrong):
    with pytest.raises(ConnormError, match="CN006.*`mention` must be a text or a span"):
        nlp.get_pipe("concept_normalizer").explain(wrong)
    with pytest.raises(ConnormError, match="CN006.*`mention` must be a text or a span"):
        nlp.get_pipe("concept_normalizer").explain(nlp.make_doc("a cold"))


@pytest.fixture
def index(demo_index, tmp_path):
    """A pipeline that may be damaged."""
    return shutil.copytree(demo_index, tmp_path / "index")


def test_a_sound_pipeline(demo_index, capsys):
    folder = demo_index / "concept_normalizer"
    report = check(str(demo_index))
    assert {folder, folder / "index"} < set(report.folders)
    assert report.path == demo_index and report.checked > 30 and report.unlisted == []
    assert capsys.readouterr() == ("", "")


OF_SPACY = [
    "config.cfg",
    "tokenizer",
    "vocab/strings.json",
    "vocab/lookups.bin",
    "entity_ruler/patterns.jsonl",
]


@pytest.mark.parametrize("name", OF_SPACY)
def test_damage_to_what_spacy_writes_is_named(pipeline, tmp_path, name):
    save_pipeline(pipeline, tmp_path / "saved")
    with (tmp_path / "saved" / name).open("a") as file:
        file.write("\n")
    with pytest.raises(ConnormError, match=f"CN402.*{Path(name).name}"):
        check(tmp_path / "saved")


def test_what_spacy_wrote_without_a_seal_is_listed(pipeline, tmp_path):
    pipeline.to_disk(tmp_path / "saved")
    report = check(tmp_path / "saved")
    listed = {path.as_posix() for path in report.unlisted}
    assert listed >= {*OF_SPACY, "meta.json"}
    assert not any("concept_normalizer" in name for name in listed)
    assert report.checked > 20


def test_what_was_added_later_is_listed(pipeline, tmp_path):
    save_pipeline(pipeline, tmp_path / "saved")
    for name in ("README.md", "vocab/more", "concept_normalizer/index/more"):
        (tmp_path / "saved" / name).write_text("x")
    report = check(tmp_path / "saved")
    names = [path.as_posix() for path in report.unlisted]
    assert names == ["concept_normalizer/index/more", "vocab/more"]


def test_meta_json_may_get_another_name_and_nothing_else(pipeline, tmp_path):
    save_pipeline(pipeline, tmp_path / "saved")
    path = tmp_path / "saved" / "meta.json"
    meta = srsly.read_json(path)
    srsly.write_json(path, {**meta, "name": "other", "version": "1.2.3", "license": "MIT"})
    assert check(tmp_path / "saved").unlisted == []
    srsly.write_json(path, {**meta, "components": []})
    with pytest.raises(ConnormError, match="CN402.*meta.json.*components"):
        check(tmp_path / "saved")
    path.unlink()
    with pytest.raises(ConnormError, match="CN402.*meta.json"):
        check(tmp_path / "saved")


def test_a_package_is_checked(pipeline, tmp_path, monkeypatch):
    save_pipeline(pipeline, tmp_path / "saved")
    (tmp_path / "out").mkdir()
    made = make_package(tmp_path / "saved", tmp_path / "out", "checked", "1.0.0")
    # What the package's setup.py does.
    shutil.copy(made / "meta.json", made / "en_checked" / "en_checked-1.0.0")
    shutil.copy(made / "meta.json", made / "en_checked")
    monkeypatch.syspath_prepend(made)
    monkeypatch.setattr(spacy.util, "is_package", lambda name: name == "en_checked")
    report = check("en_checked")
    assert report.path == made / "en_checked" / "en_checked-1.0.0"
    assert report.unlisted == []
    with (report.path / "tokenizer").open("ab") as file:
        file.write(b"x")
    with pytest.raises(ConnormError, match="CN402.*tokenizer"):
        check("en_checked")


def test_a_pipeline_that_can_not_be_loaded(pipeline, tmp_path):
    pipeline.to_disk(tmp_path / "saved")
    (tmp_path / "saved" / "config.cfg").write_text("[nlp]\nlang = 'none'\n")
    with pytest.raises(ConnormError, match="CN701"):
        check(tmp_path / "saved")


@pytest.mark.parametrize("damage", ["changed", "missing"])
@pytest.mark.parametrize("name", ["index/concepts.sqlite", "encoder", "cfg"])
def test_damage_is_named(index, name, damage):
    path = index / "concept_normalizer" / name
    content = path.read_bytes()
    path.unlink()
    if damage == "changed":
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(ConnormError, match=f"CN402.*{path.name}"):
        check(index)


def test_what_opening_passes_over_is_found(index, monkeypatch):
    from spacy_connorm.files import folders
    from spacy_connorm.files.folders import seal, unseal

    monkeypatch.setattr(folders, "_BLOCKS", 2)
    monkeypatch.setattr(folders, "_LARGE", 0)
    monkeypatch.setattr(folders, "_BLOCK", 16)
    folder = index / "concept_normalizer" / "index"
    for part in (folder, folder.parent, index):
        facts = unseal(part)
        seal(part, {key: facts[key] for key in facts if key != "files"}, leave_out=["meta.json"])
    store = folder / "concepts.sqlite"
    content = store.read_bytes()
    middle = len(content) // 2
    store.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    assert unseal(folder)
    with pytest.raises(ConnormError, match="CN402.*concepts.sqlite"):
        check(index)


def test_what_can_not_be_checked(tmp_path):
    with pytest.raises(ConnormError, match="CN700"):
        check("nowhere")
    with pytest.raises(ConnormError, match="CN436"):
        check(tmp_path)

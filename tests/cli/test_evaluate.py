import json

import pytest
import spacy
from spacy.cli import app
from spacy.tokens import DocBin
from typer.testing import CliRunner

import spacy_connorm.cli  # noqa: F401
from spacy_connorm.concepts import Concept, Ontology

CONCEPTS = [
    Concept("C1", "heart attack", ("myocardial infarction",), alt_ids=("OLD1",)),
    Concept("C2", "stroke", ("CVA",)),
    Concept("C3", "costovertebral angle", ("CVA",)),
    Concept("C4", "influenza", ("flu",)),
]
SETTINGS = {
    "encoder": {"@architectures": "spacy-connorm.NgramEncoder.v1"},
    "index": {"@misc": "spacy-connorm.ExactIndex.v1"},
    "labels": ["Disease", "Site"],
    "nil_threshold": 0.3,
}
GOLD = [
    ("heart attack", "Disease", "OLD1"),  # an alternate id
    ("CVA", "Site", "C3"),  # a tie that C2 leads
    ("flu", "Disease", "C4|C2"),  # a composite
    ("shock", "Disease", "C9"),  # an id that the index lacks
    ("gout", "Disease", ""),  # NIL
    ("aspirin", "Drug", "C4"),  # not for this normalizer
]
# Names with a number that no concept has: some are of no concept, some of another one.
DEV = [
    *((f"heart attack {number}", "Disease", "C1") for number in range(15)),
    *((f"influenza type {number}", "Disease", "C4") for number in range(15)),
    *((f"stroke of luck {number}", "Disease", "") for number in range(10)),
    *((f"angle {number} of an artery", "Site", "C2") for number in range(10)),
]
COMPOSITES = [
    ("Stroke and influenza", "Disease", "C2|C4"),
    ("HEART  attack", "Disease", "C1|OMIM:1"),
]


def write(path, mentions, nlp):
    docs = []
    for text, label, kb_id in mentions:
        doc = nlp.make_doc(text)
        doc.ents = [doc.char_span(0, len(text), label=label, kb_id=kb_id)]
        docs.append(doc)
    DocBin(docs=docs, store_user_data=True).to_disk(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("evaluate")
    nlp = spacy.blank("en")
    normalizer = nlp.add_pipe("concept_normalizer", config=SETTINGS)
    synonyms = [("Heart Attack", "C1")]
    normalizer.initialize(lambda: [], nlp=nlp, ontology=Ontology(CONCEPTS), synonyms=synonyms)
    nlp.to_disk(path / "pipeline")
    other = spacy.blank("en")
    encoder = {**SETTINGS["encoder"], "ngram_range": [1, 2]}
    normalizer = other.add_pipe("concept_normalizer", config={**SETTINGS, "encoder": encoder})
    normalizer.initialize(lambda: [], nlp=other, ontology=Ontology(CONCEPTS), synonyms=synonyms)
    other.to_disk(path / "other")
    normalizer.cfg["labels"] = ["Site"]
    other.to_disk(path / "sites")
    write(path / "gold.spacy", GOLD, nlp)
    write(path / "dev.spacy", DEV, nlp)
    write(path / "composite.spacy", COMPOSITES, nlp)
    write(path / "small.spacy", GOLD[:2], nlp)
    write(path / "train.spacy", [("Flu", "Disease", "C4")], nlp)
    write(path / "without.spacy", [("flu", "Disease", ""), ("flu", "Drug", "C4")], nlp)
    write(path / "foreign.spacy", [("flu", "Disease", "MESH:C4")], nlp)
    (path / "text.spacy").write_text("flu")
    (path / "object.json").write_text("{}")
    (path / "old.json").write_text('[{"search": "O-T"}]')
    return path


@pytest.fixture
def run(folder, monkeypatch):
    monkeypatch.chdir(folder)

    def invoke(*arguments):
        return CliRunner().invoke(app, ["connorm", "evaluate", *arguments])

    return invoke


def read(folder, name):
    return json.loads((folder / name).read_text(encoding="utf8"))


def words(result):
    return " ".join(result.output.split())


def test_both_protocols_stand_beside_each_other(run, folder):
    result = run("pipeline", "gold.spacy", "--json", "scores.json")
    assert result.exit_code == 0, result.output
    (row,) = read(folder, "scores.json")
    expected = {
        "search": "D-T+OD-T",
        "mentions": 4,
        "lenient@1": 75.0,
        "strict@1": 25.0,
        "strict@5": 50.0,
        "in_ontology_mentions": 3,
        "in_ontology_lenient@1": 100.0,
        "unseen_mentions": 3,
        "unseen_lenient@1": 66.67,
        "nil_mentions": 1,
        "nil_recall": 100.0,
    }
    assert {key: row[key] for key in expected} == expected
    assert "search mentions number lenient@1 lenient 95 % lenient@5" in words(result)
    assert "D-T+OD-T text unseen in D 3 66.7" in words(result)
    assert "Mentions of no concept (NIL)" in result.output


def test_searches_alone_are_compared_with_the_sieve(run, folder):
    result = run("pipeline", "gold.spacy", "--search", "D-T", "-s", "OD-T", "--json", "two.json")
    assert result.exit_code == 0, result.output
    rows = read(folder, "two.json")
    assert [row["search"] for row in rows] == ["D-T+OD-T", "D-T", "OD-T"]
    assert "strict@1_p" not in rows[0]
    assert rows[1]["strict@1_difference"] == 0.0
    assert "Compared with D-T+OD-T" in result.output


def test_unseen_is_told_by_another_d_if_one_is_named(run, folder):
    result = run("pipeline", "gold.spacy", "--train", "train.spacy", "--json", "train.json")
    assert result.exit_code == 0, result.output
    assert read(folder, "train.json")[0]["unseen_mentions"] == 3


def test_pipelines_stand_beside_each_other_and_are_compared(run, folder):
    result = run(
        *("pipeline", "gold.spacy", "--beside", "other", "-l", "first", "--json", "beside.json")
    )
    assert result.exit_code == 0, result.output
    one, other = read(folder, "beside.json")
    assert (one["pipeline"], one["corpus"], "against" in one) == ("first", "gold", False)
    assert (other["pipeline"], other["against"]) == ("other", "first D-T+OD-T")
    assert other["lenient@1_difference"] == other["lenient@1"] - one["lenient@1"]
    assert "Compared with first D-T+OD-T" in result.output
    assert "pipeline search mentions number" in words(result)


def test_the_grid_is_fourteen_rows_a_pipeline(run, folder):
    result = run(
        *("pipeline", "gold.spacy", "--beside", "other", "--grid", "--json", "grid.json"),
        *("--markdown", "grid.md", "--corpus-name", "mine"),
    )
    assert result.exit_code == 0, result.output
    rows = read(folder, "grid.json")
    assert len(rows) == 28
    assert {row["corpus"] for row in rows} == {"mine"}
    by_name = {(row["pipeline"], row["search"]): row for row in rows}
    # the sieve that the other rows are compared with, and the same search of the first pipeline
    assert "against" not in by_name["pipeline", "D-T+OD-T"]
    assert by_name["pipeline", "O-C"]["against"] == "pipeline D-T+OD-T"
    assert by_name["other", "O-C"]["against"] == "pipeline O-C"
    assert by_name["other", "D-C+O-T"]["threshold"] == 0.95
    assert {"lenient@1_rank", "lenient@1_average_rank", "seen_mentions"} <= rows[0].keys()
    assert "Lenient Acc@1 by corpus" in result.output
    text = (folder / "grid.md").read_text(encoding="utf8")
    titles = [line for line in text.splitlines() if line.startswith("## ")]
    protocol = "(protocol: as written)"
    assert titles[0] == f"## Lenient Acc@1 by corpus, percent {protocol}"
    assert titles[-1] == f"## mine: Compared with another run, paired bootstrap {protocol}"
    assert text.count("| D-C+OD-C |") == 2 * len(titles) == 12


def test_a_row_of_the_grid_is_what_the_pipeline_and_searches_alone_give(run, folder):
    run("pipeline", "gold.spacy", "-s", "O-T", "-s", "D-T", "-s", "OD-T", "--json", "alone.json")
    run("pipeline", "gold.spacy", "--grid", "--json", "all.json")
    grid = {row["search"]: row for row in read(folder, "all.json")}
    for row in read(folder, "alone.json"):
        same = {key: value for key, value in row.items() if key not in ("against", "protocol")}
        assert same == {key: grid[row["search"]][key] for key in same}


def test_the_threshold_of_the_grid_can_be_another(run, folder):
    result = run("pipeline", "gold.spacy", "--grid", "--threshold", "0.5", "--json", "half.json")
    assert result.exit_code == 0, result.output
    rows = {row["search"]: row for row in read(folder, "half.json")}
    assert rows["D-T+OD-T"]["threshold"] == 0.5
    assert rows["D-T+OD-T"]["against"] == "D-T+OD-T"  # at the pipeline's own


def test_corpora_stand_in_one_table(run, folder):
    run("pipeline", "gold.spacy", "--grid", "--json", "first.json")
    result = run(
        *("pipeline", "small.spacy", "--grid", "--add", "first.json", "--json", "both.json")
    )
    assert result.exit_code == 0, result.output
    assert "pipeline search gold small average rank" in words(result)
    rows = read(folder, "both.json")
    assert [row["corpus"] for row in rows] == ["gold"] * 14 + ["small"] * 14
    for row, other in zip(rows[:14], rows[14:], strict=True):
        ranks = [each["lenient@1_rank"] for each in (row, other)]
        assert row["lenient@1_average_rank"] == other["lenient@1_average_rank"] == sum(ranks) / 2


def test_neighbours_need_no_corpus(run, folder):
    result = run("pipeline", "-b", "other", "--neighbours", "heart", "--markdown", "near.md")
    assert result.exit_code == 0, result.output
    assert "Texts near 'heart'" in result.output
    assert "rank pipeline concept pipeline text pipeline cosine other concept" in words(result)
    text = (folder / "near.md").read_text(encoding="utf8")
    assert [line.split("|")[1].strip() for line in text.splitlines()[4:]] == ["1", "5"]


@pytest.mark.parametrize("name", ["picture.svg", "picture.png"])
def test_a_picture_needs_no_corpus(run, folder, name):
    result = run("pipeline", "-b", "other", "--picture", name, "--concept", "C1", "--concept", "C2")
    assert result.exit_code == 0, result.output
    assert (folder / name).stat().st_size > 1000


def test_wrong_answers_are_listed_by_kind(run, folder):
    result = run("pipeline", "gold.spacy", "--beside", "other", "--errors", "errors.md")
    assert result.exit_code == 0, result.output
    assert "pipeline D-T+OD-T open composite 1 33.3" in words(result)
    text = (folder / "errors.md").read_text(encoding="utf8")
    for title in ("## pipeline, D-T+OD-T", "### not in the ontology: 1", "### abbreviation: 1"):
        assert title in text


@pytest.mark.parametrize("name", ["errors.tsv", "errors.jsonl"])
def test_wrong_answers_are_listed(run, folder, name):
    result = run("pipeline", "gold.spacy", "--errors", name)
    assert result.exit_code == 0, result.output
    lines = (folder / name).read_text(encoding="utf8").splitlines()
    assert len(lines) == (4 if name.endswith(".tsv") else 3)
    for expected in ("CVA", "costovertebral angle", "stroke; influenza", "not in the index"):
        assert sum(expected in line for line in lines) == 1


def test_ids_written_otherwise_are_told(run):
    result = run("pipeline", "foreign.spacy")
    assert result.exit_code == 0, result.output
    assert "[CNW600]" in result.output
    assert "'MESH:C4', the index has ids such as 'C1'" in words(result)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["absent", "gold.spacy"], "CN700"),
        (["pipeline", "absent.spacy"], "CN100"),
        (["pipeline", "text.spacy"], "CN706"),
        (["pipeline", "without.spacy"], "CN600"),
        (["pipeline", "gold.spacy", "--train", "absent.spacy"], "CN100"),
        (["pipeline", "gold.spacy", "--search", "X-T"], "CN500"),
        (["pipeline", "gold.spacy", "--search", "O-C"], "CN408"),
        (["pipeline", "gold.spacy", "--errors", "errors.csv"], "CN708"),
        (["pipeline", "gold.spacy", "--json", "pipeline"], "CN105"),
        (["pipeline", "gold.spacy", "--component", "ner"], "CN704"),
        (["pipeline", "gold.spacy", "--beside", "absent"], "CN700"),
        (["pipeline", "gold.spacy", "--beside", "sites"], "CN601"),
        (["pipeline", "gold.spacy", "--beside", "pipeline"], "CN731"),
        (["pipeline", "gold.spacy", "-l", "a", "-l", "b"], "CN730"),
        (["pipeline"], "CN732"),
        (["pipeline", "gold.spacy", "--protocol", "papers"], "CN735"),
        (["pipeline", "gold.spacy", "--calibrate", "out"], "CN611"),
        (["pipeline", "--neighbours", "flu", "--calibrate", "out"], "CN733"),
        (["pipeline", "gold.spacy", "--curves", "curves.svg"], "CN733"),
        (["pipeline", "gold.spacy", "--calibrate", "out", "--curves", "curves.txt"], "CN708"),
        (["pipeline", "gold.spacy", "--calibrate", "other"], "CN705"),
        (["pipeline", "gold.spacy", "--calibrate", "out", "-b", "other"], "CN736"),
        (["pipeline", "gold.spacy", "--calibrate", "out", "--protocol", "biosyn"], "CN736"),
        (["pipeline", "--grid"], "CN733"),
        (["pipeline", "--neighbours", "flu", "--json", "a.json"], "CN733"),
        (["pipeline", "gold.spacy", "--threshold", "0.9"], "CN733"),
        (["pipeline", "gold.spacy", "--concept", "C1"], "CN733"),
        (["pipeline", "gold.spacy", "--grid", "--threshold", "9"], "CN502"),
        (["pipeline", "gold.spacy", "--add", "absent.json"], "CN100"),
        (["pipeline", "gold.spacy", "--add", "text.spacy"], "CN605"),
        (["pipeline", "gold.spacy", "--add", "object.json"], "CN605"),
        (["pipeline", "gold.spacy", "--add", "old.json"], "CN605"),
        (["pipeline", "--picture", "p.jpg"], "CN708"),
        (["pipeline", "--picture", "p.svg", "--concept", "C9"], "CN411"),
    ],
)
def test_bad_input_is_one_clear_message_and_exit_code_1(run, arguments, code):
    result = run(*arguments)
    assert result.exit_code == 1
    assert f"[{code}]" in result.output
    assert "Traceback" not in result.output


def test_the_protocol_is_named_in_every_table_and_row(run, folder):
    result = run(
        *("pipeline", "composite.spacy", "--protocol", "biosyn", "--search", "OD-T"),
        *("--json", "papers.json", "--markdown", "papers.md", "--errors", "papers_errors.md"),
    )
    assert result.exit_code == 0, result.output
    rows = read(folder, "papers.json")
    assert {row["protocol"] for row in rows} == {"biosyn"}
    # split by the number of gold ids; the one of OMIM counts as none
    assert (rows[0]["lenient@1"], rows[0]["strict@1"]) == (100.0, 100.0)
    tables = [line for line in (folder / "papers.md").read_text().splitlines() if line[:2] == "##"]
    caution = "(protocol: biosyn, which splits composites by the number of gold ids)"
    assert tables and all(line.endswith(caution) for line in tables)
    assert result.output.count("protocol: biosyn") == len(tables)


def test_the_grid_splits_under_the_papers_protocol_too(run, folder):
    result = run(
        "pipeline",
        "composite.spacy",
        "--protocol",
        "biosyn",
        "--grid",
        "--json",
        "papers_grid.json",
    )
    assert result.exit_code == 0, result.output
    (row,) = [row for row in read(folder, "papers_grid.json") if row["search"] == "OD-T"]
    assert (row["lenient@1"], row["strict@1"], row["protocol"]) == (100.0, 100.0, "biosyn")


def test_protocols_are_not_mixed(run, refused):
    run("pipeline", "gold.spacy", "--protocol", "biosyn", "--json", "biosyn.json")
    refused(run("pipeline", "gold.spacy", "-l", "open", "--add", "biosyn.json"), "CN610")


def test_no_row_stands_twice_in_a_table(run, refused):
    assert run("pipeline", "gold.spacy", "--json", "once.json").exit_code == 0
    refused(run("pipeline", "gold.spacy", "--add", "once.json"), "CN602")


@pytest.fixture(scope="module")
def calibrated(folder):
    arguments = ["--calibrate", str(folder / "sure"), "--markdown", str(folder / "sure.md")]
    for name in ("curves.svg", "curves.png", "curves.json"):
        arguments += ["--curves", str(folder / name)]
    paths = (str(folder / name) for name in ("pipeline", "dev.spacy"))
    return CliRunner().invoke(app, ["connorm", "evaluate", *paths, *arguments])


def test_a_calibrated_pipeline_has_its_settings_in_both_places(calibrated, folder):
    assert calibrated.exit_code == 0, calibrated.output
    nlp = spacy.load(folder / "sure")
    normalizer = nlp.get_pipe("concept_normalizer")
    config = nlp.config["components"]["concept_normalizer"]
    assert normalizer.cfg["nil_threshold"] == pytest.approx(config["nil_threshold"])
    assert config["nil_threshold"] > 0.3
    assert normalizer.cfg["calibration"] == pytest.approx(config["calibration"])
    assert list(normalizer.lookup.sieve.thresholds) == config["sieve"]["thresholds"]
    (candidates,) = normalizer.candidates(["heart attack"], top_k=1)
    assert 0.5 < candidates[0].probability <= 1
    before = spacy.load(folder / "pipeline").get_pipe("concept_normalizer")
    assert before.cfg["calibration"] is None


def test_what_was_fitted_is_shown_before_and_after_and_held_out(calibrated, folder):
    shown = words(calibrated)
    assert "calibrated on dev.spacy" in shown
    for label in ("as they were", "fitted, same mentions", "fitted, held-out mentions"):
        assert label in shown
        assert label in (folder / "sure.md").read_text()
    assert "nil_threshold 0.3000" in shown


def test_curves_are_drawn_and_written_as_rows(calibrated, folder):
    for name in ("curves.svg", "curves.png"):
        assert (folder / name).stat().st_size > 1000
    rows = read(folder, "curves.json")
    outcomes = [row for row in rows if row["table"] == "outcome"]
    before, same, _ = outcomes
    assert same["log_loss"] < before["log_loss"]
    assert same["concept_f"] >= before["concept_f"]
    bins = [row for row in rows if row["table"] == "reliability"]
    assert {row["settings"] for row in bins} == {row["settings"] for row in outcomes}
    curve = [row for row in rows if row["table"] == "nil_curve"]
    assert curve[0]["threshold"] > curve[-1]["threshold"]
    assert curve[-1]["coverage"] == 1.0


def test_a_calibrated_pipeline_can_be_calibrated_again_in_its_place(calibrated, run, folder):
    result = run("sure", "dev.spacy", "--calibrate", "again")
    assert result.exit_code == 0, result.output
    result = run("pipeline", "dev.spacy", "--calibrate", "again")
    assert result.exit_code == 0, result.output
    first, second = (
        spacy.load(folder / name).get_pipe("concept_normalizer").cfg for name in ("sure", "again")
    )
    assert first == second


def test_without_nil_the_threshold_is_null_and_says_so(run, folder):
    write(folder / "linked.spacy", [each for each in DEV if each[2]], spacy.blank("en"))
    result = run("pipeline", "linked.spacy", "--calibrate", "linked")
    assert result.exit_code == 0, result.output
    assert "null: no mention is NIL" in words(result)
    assert spacy.load(folder / "linked").get_pipe("concept_normalizer").cfg["nil_threshold"] is None


def test_calibrating_on_what_is_indexed_is_told(run, folder):
    nlp = spacy.load(folder / "pipeline")
    nlp.get_pipe("concept_normalizer").add_synonyms(
        [
            (text, "C3" if place % 2 else kb_id)
            for place, (text, _, kb_id) in enumerate(DEV)
            if kb_id
        ]
    )
    nlp.to_disk(folder / "indexed")
    result = run("indexed", "dev.spacy", "--calibrate", "too_sure")
    assert result.exit_code == 0, result.output
    assert "[CNW610] The index already has 100 %" in words(result)


def test_a_pipeline_that_resolves_abbreviations_reads_the_corpus_with_them(run, folder):
    nlp = spacy.load(folder / "pipeline")
    # not the angle or the stroke that the index calls CVA
    doc = nlp.make_doc("Cardiac vein attack (CVA) is known. CVA was seen.")
    doc.ents = [doc.char_span(36, 39, label="Disease", kb_id="C1")]
    DocBin(docs=[doc], store_user_data=True).to_disk(folder / "short.spacy")
    nlp.add_pipe("abbreviation_resolver", first=True)
    nlp.to_disk(folder / "resolving")
    result = run("resolving", "short.spacy", "-b", "pipeline", "--json", "short.json")
    assert result.exit_code == 0, result.output
    assert [row["strict@1"] for row in read(folder, "short.json")] == [100.0, 0.0]
    # the papers' protocol reads definitions by itself
    run("pipeline", "short.spacy", "--protocol", "biosyn", "--json", "short_papers.json")
    assert read(folder, "short_papers.json")[0]["strict@1"] == 100.0

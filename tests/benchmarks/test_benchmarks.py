"""The benchmarks' command lines, on data of a few lines."""

import pytest

from .conftest import pack

KEYS = {"dataset", "encoder", "search", "lenient@1", "lenient@5", "strict@1", "strict@5", "mrr"}


def test_accuracy_keeps_its_promise_to_scripts(rows_of, data):
    options = ("--dataset", "ncbi", "bc5cdr-d", "--encoder", "exact", "ngram", "--data", data)
    rows = rows_of("accuracy.py", *options)
    assert {row["dataset"] for row in rows} == {"ncbi", "bc5cdr-d"}
    rows = [row for row in rows if row["dataset"] == "ncbi"]
    assert {
        (row["encoder"], row["search"]): (row["lenient@1"], row["strict@1"]) for row in rows
    } == {
        # of apoplexy, infarct, CVA (tied) and the composite: O lacks the first
        ("exact", "O-T"): (50.0, 25.0),
        ("exact", "OD-T"): (75.0, 50.0),
        ("ngram", "O-T"): (75.0, 25.0),
        ("ngram", "OD-T"): (100.0, 50.0),
        ("ngram", "D-T+OD-T"): (100.0, 50.0),
    }
    for row in rows:
        assert {*KEYS, "mentions", "unseen_lenient@1"} <= row.keys()
        assert (row["mentions"], row["unseen_mentions"]) == (4, 3)
        assert (row["part"], row["train"]) == ("test", None)


def test_mentions_are_read_as_by_a_pipeline(rows_of, data):
    note = "1|t|stroke and infarct\n1|a|\n1\t0\t18\tstroke and infarct\tSpecificDisease\tD2|D1\n\n"
    pack(data / "ncbi_disease" / "test.pubtator.txt.gz", note)
    options = ("--dataset", "ncbi", "--encoder", "ngram", "--data", data, "--search", "OD-T")
    strict = []
    for more in ((), ("--as-read",)):
        (row,) = rows_of("accuracy.py", *options, *more)
        strict.append((row["read"], row["strict@1"]))
    assert strict == [("as written", 0.0), ("as by a pipeline", 100.0)]


def test_dev_is_scored_with_train_as_its_data(rows_of, data):
    arguments = ["--dataset", "ncbi", "--encoder", "exact", "--data", data]
    (row,) = rows_of("accuracy.py", *arguments, "--part", "dev", "--search", "OD-T")
    # of "heart attacks", which train has, and "apoplexy", which only dev itself has
    assert (row["mentions"], row["unseen_mentions"], row["lenient@1"]) == (2, 1, 50.0)


def test_a_score_is_compared_with_a_published_number(run, rows_of, data, capsys):
    arguments = ["--dataset", "ncbi", "--encoder", "exact", "--data", data, "--search", "OD-T"]
    (row,) = rows_of("accuracy.py", *arguments, "--against", "lenient@1=91.15")
    assert (row["against"], row["difference"]) == ("lenient@1=91.15", -16.15)
    assert row["difference_low"] < row["difference"] < row["difference_high"]
    assert 0 < float(row["p"]) <= 1
    assert "lenient@1=91.15" in capsys.readouterr().out
    for wrong in ("91.15", "lenient@1", "lenient@1=911", "mrr=50"):
        with pytest.raises(SystemExit):
            run("accuracy.py", *arguments, "--against", wrong)
        assert "--against" in capsys.readouterr().err.splitlines()[-1]


CTD = """\
# Report of made-up diseases
# Fields:
# DiseaseName\tDiseaseID\tAltDiseaseIDs\tDefinition\tParentIDs\tTreeNumbers\tParentTreeNumbers\
\tSynonyms\tSlimMappings
Infarction\tMESH:D1\tOMIM:100\t\t\t\t\tInfarkt\t
Angle\tMESH:D3\t\t\t\t\t\tCVA\t
"""


def test_the_protocol_of_belb(rows_of, data):
    pack(data / "ctd_diseases_2017" / "CTD_diseases.tsv.gz", CTD)
    arguments = ["--dataset", "ncbi", "--encoder", "ngram", "--data", data]
    ours, *published = rows_of("accuracy.py", *arguments, "--protocol", "belb")
    # CTD lacks D2: apoplexy is left out; "infarkt" is D1 or D2, and D1 is right, strictly or not
    assert ours["search"] == "O-T"
    assert (ours["mentions"], ours["single"], ours["left_out"]) == (3, 2, 1)
    assert (ours["belb@1"], ours["strict@1"]) == (100.0, 100.0)
    assert [(row["encoder"], row["belb@1"]) for row in published] == [
        ("BELHD (published)", 87.6),
        ("GenBioEL, abbreviations expanded (published)", 85.8),
    ]
    ours, *_ = rows_of("accuracy.py", *arguments, "--protocol", "belb", "--against", "belb@1=87.6")
    assert ours["difference"] == 12.4
    (row,) = rows_of(
        "accuracy.py", *arguments, "--protocol", "belb", "--part", "dev", "--search", "D-T+OD-T"
    )  # nothing is published on dev
    assert (row["search"], row["mentions"], row["left_out"]) == ("D-T+OD-T", 1, 1)


def test_a_data_set_without_dev(run, data, capsys):
    with pytest.raises(SystemExit):
        run(
            "accuracy.py",
            "--dataset",
            "nlmchem",
            "--encoder",
            "exact",
            "--data",
            data,
            "--part",
            "dev",
        )
    assert capsys.readouterr().err.splitlines()[-1].startswith("nlmchem has no dev part")


@pytest.mark.parametrize(
    ("script", "arguments", "message"),
    [
        ("accuracy.py", ["--dataset", "ncbi", "--encoder", "exact"], "No data: "),
        ("index_curve.py", [], "No data: "),
        ("memory.py", [], "No data: "),
    ],
)
def test_without_data_it_is_one_line_and_exit_code_1(
    run, tmp_path, capsys, script, arguments, message
):
    with pytest.raises(SystemExit) as exit:
        run(script, *arguments, "--data", tmp_path)
    assert exit.value.code == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith(message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--encoder", "word2vec"], "'word2vec' is no encoder"),
        (["--encoder", "no-such.cfg"], "'no-such.cfg' is no encoder"),
        (["--encoder", "ngram", "--search", "X-T"], "[CN118]"),
        (["--encoder", "exact", "--search", "OD-C"], "Exact matching"),
        (["--encoder", "ngram", "--gpu-id", "99"], "[CN713] Can't use GPU 99"),
    ],
)
def test_options_that_name_what_is_not_there(run, data, capsys, arguments, message):
    with pytest.raises(SystemExit) as exit:
        run("accuracy.py", "--dataset", "ncbi", "--data", data, *arguments)
    assert exit.value.code == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith(message)

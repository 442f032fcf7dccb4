import json

import pytest

from spacy_connorm import map_terms
from spacy_connorm.documents import read_sssom


@pytest.fixture
def out(make_pipeline, tmp_path):
    (tmp_path / "terms.csv").write_text("code,term\n1,head spinning\n2,cold\n", encoding="utf8")
    map_terms(make_pipeline(), tmp_path / "terms.csv", tmp_path / "out.tsv", accept=1.0, review=0)
    return tmp_path / "out.tsv"


@pytest.fixture
def reviewing(serving, out):
    return serving(review=out)


def test_rows_are_decided_and_undone(reviewing, out):
    assert reviewing.get("/api/info").json()["review"] == "out.tsv"
    told = reviewing.get("/api/review").json()
    (row, _) = reviewing.get("/api/review/rows?status=review").json()["rows"]
    assert told["decided"] == 0 and row["term"] == "head spinning"
    body = {"version": row["version"], "concept": "C5", "author": " Ann "}
    headers = {"Content-Type": "application/json"}
    sent = reviewing.post("/api/review/rows/0", content=json.dumps(body), headers=headers)
    assert sent.status_code == 201, sent.text
    assert (sent.json()["decided"], sent.json()["row"]["author"]) == (1, "Ann")
    assert read_sssom(out).mappings[0].object_label == "dizziness"
    again = reviewing.post("/api/review/rows/0", json={**body, "author": "Bob"})
    assert (again.status_code, again.json()["error"]["code"]) == (409, "CN787")
    version = reviewing.get("/api/review/rows/0").json()["version"]
    undone = reviewing.post("/api/review/rows/0/undo", json={"version": version})
    assert undone.status_code == 201 and undone.json()["decided"] == 0


@pytest.mark.parametrize(
    ("method", "address", "body", "status", "code"),
    [
        ("GET", "/api/review/rows?status=odd", None, 422, "CN764"),
        ("GET", "/api/review/rows?limit=1000", None, 422, "CN764"),
        ("GET", "/api/review/rows/9", None, 404, "CN786"),
        ("POST", "/api/review/rows/0", {"concept": "C5"}, 422, "CN764"),
        ("POST", "/api/review/rows/0", {"version": "a", "concept": "C99"}, 404, "CN411"),
        ("POST", "/api/review/rows/0", {"version": "a", "concept": ""}, 422, "CN764"),
        ("POST", "/api/review/rows/0/undo", {"version": "a", "x": 1}, 422, "CN764"),
    ],
)
def test_what_is_refused(reviewing, method, address, body, status, code):
    answer = reviewing.request(method, address, json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


def test_the_description_declares_the_errors_as_they_are(reviewing):
    described = reviewing.get("/openapi.json").json()
    schemas = described["components"]["schemas"]
    assert "HTTPValidationError" not in schemas
    problem = {"application/json": {"schema": {"$ref": "#/components/schemas/ProblemBody"}}}
    common = {"400", "401", "403", "408", "413", "421", "422", "429", "500", "503"}
    for path, methods in described["paths"].items():
        for method in methods.values():
            errors = {each: told for each, told in method["responses"].items() if each >= "400"}
            assert all(told["content"] == problem for told in errors.values())
            of_all = {"403", "421", "500"} if path == "/health" else common
            assert of_all <= errors.keys() <= of_all | {"404", "409"}
    undo = described["paths"]["/api/corrections/{correction_id}/undo"]["post"]["responses"]
    assert {"404", "409"} <= undo.keys()
    (error,) = schemas["ProblemBody"]["properties"]
    answer = reviewing.post("/api/annotate", json={}).json()
    assert answer.keys() == {error}
    assert answer[error].keys() == schemas["ProblemText"]["properties"].keys()


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b'subject_id\t"a\n', "CN115"),
        (b"\xff\n", "CN107"),
        (b"code\tterm\n", "CN115"),
        (None, "CN100"),
    ],
)
def test_a_damaged_file_of_mappings_is_no_fault_of_the_request(reviewing, out, content, code):
    out.unlink() if content is None else out.write_bytes(content)
    answer = reviewing.get("/api/review/rows/0")
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, code)


def test_without_a_review(client):
    assert client.get("/api/info").json()["review"] is None
    assert client.get("/api/review").status_code == 404


def test_a_token_guards_it(serving, out):
    assert serving(review=out, token="secret").get("/api/review").status_code == 401

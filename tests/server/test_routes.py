import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from correcting import NOTE, OTHER_NOTE

from spacy_connorm.documents import read_sssom
from spacy_connorm.server import RequestLimits
from spacy_connorm.workflows.annotation import to_record
from spacy_connorm.workflows.corrections import CorrectionsFile

COLD = {"text": NOTE, "start": NOTE.index("cold"), "end": NOTE.index("cold") + 4}


def refused(response, status, code):
    assert response.status_code == status, response.text
    error = response.json()["error"]
    assert error["code"] == code and error["message"]
    assert response.headers["content-type"] == "application/json"


def found(client, text):
    (record,) = client.post("/api/annotate", json={"texts": [text]}).json()["records"]
    return {ent["text"]: ent["kb_id"] for ent in record["ents"]}


def test_it_says_that_it_is_there(client):
    assert client.get("/health").json()["status"] == "ok"
    info = client.get("/api/info").json()
    assert info["labels"] == ["Chemical", "Disease"]
    assert (info["ontology"], info["release"]) == ("", "")
    assert info["types"] == ["Chemical", "Disease", "Event", "Phenomenon", "Symptom"]
    assert (info["concepts"], info["revision"], info["calibrated"]) == (6, 0, True)


def test_annotations_are_those_of_the_command(client, pipeline):
    answer = client.post("/api/annotate", json={"texts": [NOTE, {"text": OTHER_NOTE}, ""]}).json()
    normalizer = pipeline.get_pipe("concept_normalizer")
    expected = [to_record(pipeline(text), normalizer) for text in (NOTE, OTHER_NOTE, "")]
    assert answer == {"records": json.loads(json.dumps(expected)), "revision": 0}


def test_known_mentions_are_taken(client):
    text = {"text": "😀 vertigo \ud800", "mentions": [{"start": 2, "end": 9, "label": "X"}]}
    kind = {"Content-Type": "application/json"}
    content = json.dumps({"texts": [text]})
    (record,) = client.post("/api/annotate", content=content, headers=kind).json()["records"]
    assert [(ent["text"], ent["kb_id"]) for ent in record["ents"]] == [("vertigo", "C5")]
    assert record["text"] == "😀 vertigo \ufffd"


def test_search_has_the_options_of_the_command(client, pipeline):
    normalizer = pipeline.get_pipe("concept_normalizer")
    for options in (
        {},
        {"top_k": 1},
        {"types": ["Phenomenon"]},
        {"branches": ["C1"]},
        {"search": "O-T"},
    ):
        body = {"mentions": ["cold", "heart attacks"], **options}
        results = client.post("/api/search", json=body).json()["results"]
        expected = normalizer.candidates(["cold", "heart attacks"], **options)
        assert [result["candidates"] for result in results] == [
            [candidate._asdict() for candidate in candidates] for candidates in expected
        ]
        assert results[0]["kb_id"] == normalizer.decide(expected[0])
    assert client.post("/api/search", json={"mentions": [""]}).json()["results"] == [
        {"mention": "", "kb_id": "NIL", "candidates": []}
    ]


def test_explanations_have_interpretations_and_searches(client):
    body = {"mention": "cold and aspirin", "text": "A cold and aspirin.", "start": 2}
    answer = client.post("/api/explain", json=body).json()
    assert answer["interpretations"][0]["kind"] == "parts"
    assert [step["search"] for step in answer["parts"][0]["steps"]] == ["D-T", "OD-T"]
    assert answer["parts"][0]["steps"][-1]["candidates"][0]["name"]
    assert [part["searched"] for part in answer["parts"]] == ["cold", "aspirin"]


def test_a_concept_is_described_by_its_id_or_an_alternate_id(client):
    concept = client.get("/api/concepts/C2").json()
    assert concept["name"] == "heart attack"
    assert concept["parents"] == [{"concept_id": "C1", "name": "heart disease"}]
    assert client.get("/api/concepts/OMIM%3A2").json() == concept
    refused(client.get("/api/concepts/X9"), 404, "CN411")


def test_the_story_of_a_correction(client, path):
    assert client.get("/api/corrections").json()["corrections"] == []
    answer = client.post("/api/corrections", json={**COLD, "kb_id": "C4", "author": " Ann "})
    assert answer.status_code == 201
    made = answer.json()
    assert made["revision"] == 1
    assert len(path.read_text(encoding="utf8").splitlines()) == 1
    assert found(client, OTHER_NOTE)["cold"] == "C4"
    listed = client.get("/api/corrections?since=0").json()
    (view,) = listed["corrections"]
    assert (view["mention"], view["names"], view["author"], view["state"]) == (
        "cold",
        ["low temperature"],
        "Ann",
        "counts",
    )
    assert view["before"] + view["mention"] + view["after"] == NOTE
    assert client.get("/api/corrections?since=1").json()["corrections"] is None
    undone = client.post(f"/api/corrections/{made['id']}/undo", json={"author": "Bob"})
    assert undone.json()["revision"] == 2
    assert found(client, OTHER_NOTE)["cold"] == "C3"
    (view,) = client.get("/api/corrections").json()["corrections"]
    assert (view["state"], view["undone_by"]) == ("undone", "Bob")
    refused(client.post(f"/api/corrections/{made['id']}/undo", json={}), 409, "CN754")
    refused(client.post("/api/corrections/x/undo", json={}), 404, "CN753")


def test_a_new_start_has_all_corrections(serving, client):
    client.post("/api/corrections", json={**COLD, "kb_id": "NIL"})
    again = serving()
    assert found(again, OTHER_NOTE)["cold"] == "NIL"
    again.post("/api/corrections", json={**COLD, "kb_id": "C4"})
    assert found(client, OTHER_NOTE)["cold"] == "C4"
    states = [row["state"] for row in client.get("/api/corrections").json()["corrections"]]
    assert states == ["counts", "replaced"]


def test_nobodys_correction_is_lost(client, path):
    def say(number):
        body = {**COLD, "text": f"{NOTE} {number}", "kb_id": "C4", "author": str(number)}
        return client.post("/api/corrections", json=body).status_code

    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(say, range(40))) == {201}
    authors = [record.author for record in CorrectionsFile(path).read()]
    assert sorted(authors, key=int) == list(map(str, range(40)))
    assert client.get("/api/corrections").json()["total"] == 40


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("POST", "/api/annotate", "{", 422, "CN764"),
        ("POST", "/api/annotate", '{"texts": "cold"}', 422, "CN764"),
        ("POST", "/api/annotate", "[" * 100_000, 400, "CN764"),
        ("POST", "/api/search", '{"mentions": ["a"], "top_k": 0}', 422, "CN764"),
        ("POST", "/api/search", '{"mentions": ["a"], "types": ["X"]}', 422, "CN406"),
        ("POST", "/api/search", '{"mentions": ["a"], "search": "X"}', 422, "CN118"),
        ("POST", "/api/explain", '{"mention": "a", "text": "b", "start": 7}', 422, "CN755"),
        ("POST", "/api/corrections", json.dumps({**COLD, "kb_id": "X9"}), 404, "CN411"),
        ("POST", "/api/corrections", json.dumps({**COLD, "kb_id": ""}), 422, "CN764"),
        ("POST", "/api/corrections", json.dumps({**COLD, "kb_id": "C4|NIL"}), 422, "CN006"),
        ("POST", "/api/corrections", json.dumps({**COLD, "kb_id": "C4", "end": 99}), 422, "CN755"),
        ("GET", "/api/corrections?since=x", None, 422, "CN764"),
        ("GET", "/api/nothing", None, 404, "CN766"),
        ("GET", "/docs", None, 404, "CN766"),
        ("GET", "/static/..%2fapi.py", None, 404, "CN766"),
        ("PUT", "/api/annotate", "{}", 405, "CN766"),
    ],
)
def test_bad_requests(client, method, path, body, status, code):
    kind = "application/json"
    response = client.request(method, path, content=body, headers={"Content-Type": kind})
    refused(response, status, code)
    assert "cold" not in response.text.lower()


def test_large_requests(serving):
    limits = RequestLimits(body=1000, text=50, batch=2)
    client = serving(limits=limits)
    for texts, code in ((["x" * 51], "CN709"), ([""] * 3, "CN756"), (["x" * 1000], "CN756")):
        refused(client.post("/api/annotate", json={"texts": texts}), 413, code)
    chunks = (b"x" * 100 for _ in range(100))
    refused(client.post("/api/annotate", content=chunks), 413, "CN756")
    refused(client.post("/api/search", json={"mentions": ["x" * 51]}), 413, "CN709")
    assert client.post("/api/annotate", json={"texts": ["x" * 50]}).status_code == 200


@pytest.mark.parametrize("text", ["(" * 10_000, "a " + "'s" * 5_000, "((((((" * 10 + "a" * 90_000])
def test_texts_that_would_hold_up_the_tokenizer(client, text):
    refused(client.post("/api/annotate", json={"texts": ["cold", text]}), 413, "CN749")
    refused(client.post("/api/explain", json={"mention": "(", "text": text}), 413, "CN749")
    body = {"text": text, "start": 0, "end": 1, "kb_id": "C4"}
    refused(client.post("/api/corrections", json=body), 413, "CN749")
    refused(client.post("/api/search", json={"mentions": ["cold", text]}), 413, "CN749")
    refused(client.post("/api/explain", json={"mention": text}), 413, "CN749")


def test_the_client_of_the_docs(client, capsys):
    page = (Path(__file__).parents[2] / "docs" / "serve.md").read_text(encoding="utf8")
    (block,) = re.findall(r"^```python3\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    address = str(client.base_url).rstrip("/")
    exec(block.replace("http://127.0.0.1:8000", address), {})
    mention, kb_id = capsys.readouterr().out.rsplit(maxsplit=1)
    assert {mention: kb_id} == found(client, "Complains of head spinning.")


def test_the_reference_names_all_of_the_api(client):
    paths = client.get("/openapi.json").json()["paths"]
    assert set(paths) == {
        "/health",
        "/api/info",
        "/api/annotate",
        "/api/search",
        "/api/explain",
        "/api/concepts/{concept_id}",
        "/api/corrections",
        "/api/corrections/{correction_id}/undo",
    }
    for methods in paths.values():
        assert all(method["description"] for method in methods.values())


def test_threads_may_ask_while_others_correct(client):
    stop, wrong = threading.Event(), []

    def ask():
        while not stop.is_set():
            ids = found(client, OTHER_NOTE)
            if ids.keys() != {"head spinning", "cold", "aspirin"} or ids["aspirin"] != "C6":
                wrong.append(ids)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for kb_id in ("C4", "NIL", "C1", "C3") * 3:
        assert client.post("/api/corrections", json={**COLD, "kb_id": kb_id}).status_code == 201
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.fixture
def out(map_table):
    return map_table("code,term\n1,head spinning\n2,cold\n", accept=1.0)


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
        ("GET", "/api/review/rows/9", None, 404, "CN786"),
        ("POST", "/api/review/rows/0", {"concept": "C5"}, 422, "CN764"),
        ("POST", "/api/review/rows/0", {"version": "a", "concept": "C99"}, 404, "CN411"),
        ("POST", "/api/review/rows/0", {"version": "a", "concept": ""}, 422, "CN764"),
        ("POST", "/api/review/rows/0/undo", {"version": "a", "x": 1}, 422, "CN764"),
    ],
)
def test_bad_requests_to_a_review_are_refused_with_their_code(
    reviewing, method, address, body, status, code
):
    answer = reviewing.request(method, address, json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


def test_the_description_declares_the_errors_as_they_are(reviewing):
    described = reviewing.get("/openapi.json").json()
    schemas = described["components"]["schemas"]
    assert "HTTPValidationError" not in schemas
    problem = {"application/json": {"schema": {"$ref": "#/components/schemas/ProblemBody"}}}
    for methods in described["paths"].values():
        for method in methods.values():
            assert method["responses"]["default"]["content"] == problem
    (error,) = schemas["ProblemBody"]["properties"]
    answer = reviewing.post("/api/annotate", json={}).json()
    assert answer.keys() == {error}
    assert answer[error].keys() == schemas["ProblemText"]["properties"].keys()


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b'subject_id\t"a\n', "CN115"),
        (b"\xff\n", "CN107"),
        (None, "CN100"),
    ],
)
def test_a_damaged_file_of_mappings_is_an_error_of_the_server(reviewing, out, content, code):
    out.unlink() if content is None else out.write_bytes(content)
    answer = reviewing.get("/api/review/rows/0")
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, code)


def test_a_server_without_a_review_has_no_route_for_it(client):
    assert client.get("/api/info").json()["review"] is None
    assert client.get("/api/review").status_code == 404


def test_a_review_needs_the_token(serving, out):
    assert serving(review=out, token="secret").get("/api/review").status_code == 401

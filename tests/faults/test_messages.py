"""No text of users stands in an error, a warning or a log, unless they say so."""

import json
import logging
import os
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from shutil import rmtree
from string import Formatter
from typing import Any, NamedTuple

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Span

from spacy_connorm import Concept, Ontology, annotate_corpus
from spacy_connorm.concepts import read_concepts
from spacy_connorm.documents import read_sssom
from spacy_connorm.documents.docbin import write_docs
from spacy_connorm.documents.mentions import Mention
from spacy_connorm.documents.reading import read_corpus
from spacy_connorm.documents.spans import choose_spans
from spacy_connorm.errors import Errors, Warnings, quote, quote_all, quote_id, show_text
from spacy_connorm.evaluation.metrics import warn_of_unknown_ids
from spacy_connorm.linker.synonym_changes import read_synonyms
from spacy_connorm.ontology.reading import read_ontology
from spacy_connorm.ontology.report import Inventory, warn_about
from spacy_connorm.ontology.substitutions import read_substitutions
from spacy_connorm.server import RequestLimits
from spacy_connorm.training.config import TrainingData, read_mentions
from spacy_connorm.training.pool import build_pool
from spacy_connorm.workflows import CorrectedPipeline, read_terms
from spacy_connorm.workflows.annotation import Annotator
from spacy_connorm.workflows.corrections import CorrectionsFile
from spacy_connorm.workflows.inspection import search
from spacy_connorm.workflows.texts import InputText, read_inputs

# Letters that no name of the ontology has.
CANARY = "Ξανθίππη"
NGRAMS = {"@architectures": "spacy-connorm.NgramEncoder.v1"}
EXACT = {"@misc": "spacy-connorm.ExactIndex.v1"}
OBO = "format-version: 1.2\n\n[Term]\nid: A:1\n"


class World(NamedTuple):
    """nlp (Language): A pipeline with an indexed ontology.
    folder (Path): An empty folder.
    """

    nlp: Language
    folder: Path

    @property
    def normalizer(self) -> Any:
        return self.nlp.get_pipe("concept_normalizer")

    def file(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def ontology(self, name: str, content: str | bytes, **options: Any) -> list[Concept]:
        return list(read_ontology(self.file(name, content), **options))

    def corpus(self, name: str, content: str, **options: Any) -> list:
        return list(read_corpus(self.file(name, content), nlp=self.nlp, **options))


def _rrf(world: World) -> None:
    rows = ["|".join([cui, "ENG", *[CANARY] * 16, ""]) for cui in ("C0000002", "C0000001")]
    world.ontology("MRCONSO.RRF", "\n".join(rows) + "\n", hierarchy=False)


def _strange_ids(world: World) -> None:
    warn_of_unknown_ids([Mention("x", "D", CANARY, ((0, 1),))], world.folder, example=CANARY)


def _pool(world: World) -> None:
    mention = Mention("x", "D", CANARY, ((0, 1),))
    ontology = Ontology([Concept("C1", "one", ("two",))])
    settings = {"use_ontology": True, "data_share": None}
    build_pool(ontology, [mention], inputs=lambda texts: [*map(str.encode, texts)], **settings)


def _labels(world: World) -> None:
    doc = world.nlp.make_doc("x y")
    doc.ents = [Span(doc, 0, 1, label=CANARY)]
    path = world.file("labels.spacy", "")
    write_docs([doc], path)
    list(read_mentions([str(path)], TrainingData(ontology="o.jsonl", labels=["Disease"])))


def _pubtator(row: str) -> str:
    return f"7|t|{CANARY} and more\n{row}\n"


def _bioc(**fields: Any) -> str:
    return json.dumps([{"passages": [{"text": CANARY, "offset": 0, **fields}]}])


def _bioc_xml(content: str) -> str:
    return f"<collection><document>{content}</document></collection>"


def _read_inputs(world: World, lines: str) -> None:
    list(read_inputs(world.file("a.jsonl", lines)))


def _annotate_long(world: World) -> None:
    Annotator(world.nlp).make_doc(InputText("", CANARY * 200_000, {}, "line 1"))


def _annotate_corpus(world: World) -> None:
    line = json.dumps({"text": CANARY * 200_000, "id": CANARY})
    world.nlp.to_disk(world.folder / "pipeline")
    corpus, output = world.file("a.jsonl", line), world.folder / "out"
    rmtree(output, ignore_errors=True)
    annotate_corpus(world.folder / "pipeline", corpus, output)


def _new_concept(world: World) -> None:
    normalizer = spacy.blank("en").add_pipe(
        "concept_normalizer", config={"encoder": NGRAMS, "index": EXACT}
    )
    normalizer.initialize(lambda: [], synonyms=[("heart", CANARY)])


def _summarized(*concepts: Concept) -> None:
    summary = Inventory()
    for _ in summary.watch(concepts):
        pass
    warn_about(summary.summary(concepts))


PARENTS = {"parents": (CANARY,)}

# By code: the ways that lead to messages which could show a text.
SHOWN: dict[str, list[Callable[[World], object]]] = {
    "CN411": [lambda world: world.normalizer.add_synonyms([("heart", CANARY)])],
    "CN006": [
        lambda world: world.normalizer.add_synonyms([(CANARY, "C1", "C2")]),
        lambda world: world.normalizer.add_synonyms([CANARY]),
        lambda world: world.normalizer.candidates(CANARY),
        lambda world: world.normalizer.candidates(["a"], long_forms=[CANARY, "b"]),
        lambda world: world.normalizer.candidates(["a", [CANARY]]),
        lambda world: world.normalizer.initialize(lambda: [], nlp=world.nlp, ontology=[CANARY]),
        lambda world: search(world.nlp, CANARY),
        lambda world: Concept.from_dict({"concept_id": [CANARY], "canonical_name": "a"}),
    ],
    "CN009": [lambda world: world.normalizer.add_synonyms([("heart", "C1"), (CANARY, "C2")])],
    "CN101": [
        lambda world: Ontology([Concept("", CANARY)]),
        lambda world: Ontology([Concept(CANARY, "")]),
        lambda world: Concept.from_dict({"canonical_name": CANARY}),
    ],
    "CN115": [
        lambda world: list(read_concepts(world.file("a.jsonl", json.dumps({"text": CANARY})))),
        lambda world: read_terms(world.file("a.csv", f"code,term,count\nA,b,{CANARY}\n")),
    ],
    "CN204": [
        lambda world: world.corpus("a.txt", _pubtator(f"7\t{CANARY}\t5\tx\tD\tD1")),
        lambda world: world.corpus("a.txt", _pubtator(f"7\t0\t{CANARY}\tx\tD\tD1")),
        lambda world: world.corpus("a.json", _bioc(offset=CANARY)),
        lambda world: world.corpus("a.json", _bioc(text=[CANARY])),
        lambda world: world.corpus("a.json", json.dumps([CANARY])),
        lambda world: world.corpus(
            "a.xml", _bioc_xml(f"<passage><offset>{CANARY}</offset><text>x</text></passage>")
        ),
    ],
    "CN424": [
        lambda world: world.normalizer.add_synonyms([("C1", CANARY)]),
        lambda world: world.normalizer.initialize(
            lambda: [], ontology=Ontology([Concept("C1", "a")]), synonyms=[("C1", CANARY)]
        ),
    ],
    "CNW001": [lambda world: world.normalizer.remove_synonyms([(CANARY, "C1")])],
    "CNW101": [
        lambda world: Ontology([Concept(CANARY, "a"), Concept(CANARY, "b")]),
        lambda world: _summarized(Concept(CANARY, "a"), Concept(CANARY, "b")),
    ],
    "CNW102": [
        lambda world: world.ontology("a.obo", f"{OBO}name: a\nxref: {CANARY}\n"),
    ],
    "CNW103": [lambda world: _summarized(Concept("C1", "a", **PARENTS))],
    "CNW104": [lambda world: _summarized(Concept(CANARY, "a", **PARENTS))],
    "CNW105": [lambda world: _summarized(Concept(CANARY, "a" * 10_000))],
    "CNW106": [lambda world: _summarized(Concept(f"{CANARY}|", "a"))],
    "CNW204": [
        lambda world: world.corpus("a.txt", _pubtator(f"7\t0\t5\tx\t{CANARY}\tD1"), types=["D"])
    ],
    "CNW401": [_new_concept],
    "CNW600": [_strange_ids],
    "CNW810": [_pool],
    "CNW811": [_labels],
    "CNW790": [_annotate_corpus],
}
# These never show a text, but are about files that may be full of them.
NEVER_SHOWN: dict[str, list[Callable[[World], object]]] = {
    "CN104": [
        lambda world: world.ontology("a.tsv", f"id\tname\n{CANARY}\t\n", max_odd=1),
        lambda world: world.corpus("a.tsv", "\n"),
    ],
    "CN102": [lambda world: Ontology([Concept("NIL", CANARY)])],
    "CN116": [_rrf],
    "CN107": [lambda world: world.ontology("a.tsv", f"id\tname\n{CANARY}\n".encode("utf-16"))],
    "CN111": [lambda world: world.ontology("a.dat", CANARY)],
    "CN115": [
        lambda world: list(read_concepts(world.file("a.jsonl", CANARY))),
        lambda world: world.ontology("a.obo", f"{OBO}{CANARY}\n"),
        lambda world: world.ontology("a.xml", f"<ICD10CM.tabular>\n&{CANARY};\n", format="icd10cm"),
        lambda world: world.ontology("a.csv", f'id,name\n"{CANARY}\n'),
        lambda world: world.ontology("a.csv", f"id,name\nA,b,{CANARY}\n"),
        lambda world: world.ontology("MRCONSO.RRF", f"C1|{CANARY}\n"),
        lambda world: list(read_substitutions(world.file("a.tsv", CANARY))),
        lambda world: list(read_synonyms(world.file("a.tsv", CANARY))),
        lambda world: read_sssom(world.file("a.tsv", CANARY)),
        lambda world: CorrectionsFile(world.file("a.jsonl", f"{CANARY}\n")).read(),
    ],
    "CN204": [
        lambda world: world.corpus("a.txt", f"{CANARY}\n"),
        lambda world: world.corpus("a.tsv", f"{CANARY}\n"),
        lambda world: world.corpus("a.txt", _pubtator(f"7\t0\t5\t{CANARY}\t\tD1")),
        lambda world: world.corpus("a.txt", _pubtator(CANARY)),
        lambda world: (
            world.file("a.txt", CANARY),
            world.corpus("a.ann", f"T1\tD {CANARY}\t{CANARY}\n"),
        ),
    ],
    "CN207": [
        lambda world: world.corpus("a.txt", _pubtator(f"7\t4\t4\t{CANARY}\tD\tD1")),
        lambda world: world.corpus("a.txt", _pubtator(f"7\t0\t99\t{CANARY}\tD\tD1")),
    ],
    "CN707": [lambda world: _read_inputs(world, f'{{"title": "{CANARY}"}}\n')],
    "CN709": [_annotate_long],
    "CN749": [
        lambda world: RequestLimits().require_texts(
            [CANARY + "(" * 9000], spacy.blank("en").tokenizer
        )
    ],
    "CN755": [
        lambda world: CorrectedPipeline(world.nlp, world.folder / "a.jsonl").correct(
            CANARY, 0, 99, "C1"
        )
    ],
    "CNW002": [lambda world: choose_spans(world.nlp.make_doc(CANARY), spans_key="x", labels=())],
    "CNW110": [
        lambda world: world.ontology(
            "a.obo", f"{OBO}name: a\nsynonym: {CANARY}\n\n[Term]\nname: {CANARY}\n", max_odd=1
        )
    ],
    "CNW200": [lambda world: world.corpus("a.txt", _pubtator(f"7\t0\t5\t{CANARY}\tD\tD1"))],
    "CNW201": [lambda world: world.corpus("a.txt", f"7|t|{CANARY}\n")],
    "CNW202": [
        lambda world: world.corpus("a.json", _bioc(text=CANARY + "<>").replace("<>", r"\ud800"))
    ],
    "CNW203": [lambda world: world.corpus("a.txt", f"7|t|{CANARY}\n\n8|t|x\n\n7|t|{CANARY}\n")],
}

SHOWN_WAYS = [(code, way) for code, ways in SHOWN.items() for way in ways]
OTHER_WAYS = [(code, way) for code, ways in NEVER_SHOWN.items() for way in ways]


@pytest.fixture
def world(make_pipeline, tmp_path, monkeypatch):
    monkeypatch.delenv("SPACY_CONNORM_SHOW_TEXT", raising=False)
    return World(make_pipeline(), tmp_path)


def told(way: Callable[[World], object], world: World, caplog: Any) -> str:
    """RETURNS (str): All that a user and a log see: the error with its causes, warnings, logs."""
    told = []
    with warnings.catch_warnings(record=True) as caught, caplog.at_level(logging.DEBUG):
        warnings.simplefilter("always")
        try:
            way(world)
        except Exception as error:
            told += traceback.format_exception(error)
    told += [str(warning.message) for warning in caught]
    return "\n".join([*told, caplog.text])


def _ids(ways):
    return [f"{code}-{number}" for number, (code, _) in enumerate(ways)]


@pytest.mark.parametrize(("code", "way"), SHOWN_WAYS, ids=_ids(SHOWN_WAYS))
def test_texts_are_shown_only_if_asked(code, way, world, caplog, monkeypatch):
    hidden = told(way, world, caplog)
    assert f"[{code}]" in hidden and CANARY not in hidden, hidden
    monkeypatch.setenv("SPACY_CONNORM_SHOW_TEXT", "1")
    shown = told(way, world, caplog)
    assert f"[{code}]" in shown and CANARY in shown, shown


@pytest.mark.parametrize(("code", "way"), OTHER_WAYS, ids=_ids(OTHER_WAYS))
def test_other_messages_never_show_texts(code, way, world, caplog, monkeypatch):
    monkeypatch.setenv("SPACY_CONNORM_SHOW_TEXT", "1")
    shown = told(way, world, caplog)
    assert f"[{code}]" in shown and CANARY not in shown, shown


# Fields of messages that hold settings, places, counts or names of ours.
SETTINGS = """
action asked attribute batcher chosen columns component components corpus cosine count distribution
expected fewest format gpu_id input key label labels lang length library limit line metric minilm
missing name named needed number option options other output part path percent pipeline pipelines
place precision protocol right search searches separator setting signal size source step targets
texts threshold thresholds tried unknown version what wrong
"""
# Other fields that hold no text of users: names of ours, settings, ids that somebody asked for, and
# what libraries say of files that are not theirs.
NO_TEXTS = """
CN010 CN104 CN106 CN108 CN111 CN112 CN113 CN114 CN118 CN123 CN125 CN126 CN127 CN128 CN213 CN219
CN220 CN305 CN306 CN317 CN318 CN322 CN323 CN324 CN333 CN341 CN401 CN402 CN406 CN408 CN410 CN413
CN421 CN422 CN430 CN601 CN701 CN702 CN703 CN704 CN708 CN711 CN713 CN716 CN717 CN719 CN720
CN721 CN740 CN751 CN764 CN774 CN775 CN791 CN793 CN794 CN798 CN799 CN810 CN829 CNW770 CNW781 CNW812
"""


def test_every_message_that_may_hold_a_text_is_tried():
    settings, tried = set(SETTINGS.split()), {*SHOWN, *NEVER_SHOWN, *NO_TEXTS.split()}
    for messages in (Errors, Warnings):
        for message in messages:
            fields = {name for _, name, _, _ in Formatter().parse(message.value) if name}
            assert fields <= settings or message.name in tried, (message.name, fields - settings)


def test_documents_leave_no_trace(make_pipeline, caplog, capfd):
    nlp = make_pipeline()
    nlp.add_pipe("abbreviation_resolver", before="concept_normalizer")
    text = f"{CANARY} had a heart attack (HA) and {CANARY} cancer. HA?"
    with warnings.catch_warnings(), caplog.at_level(logging.DEBUG):
        warnings.simplefilter("error")
        docs = list(nlp.pipe([text, CANARY, "", "(" * 100]))
        nlp.get_pipe("concept_normalizer").explain(docs[0].ents[0])
    assert docs[0].ents[0].kb_id_ == "C2"
    assert CANARY not in caplog.text + "".join(capfd.readouterr())


def test_texts_are_described(monkeypatch):
    monkeypatch.setenv("SPACY_CONNORM_SHOW_TEXT", "0")
    assert quote("heart") == "a text (5 characters)"
    assert quote(["heart", "attack"]) == "a value of type list (2 items)"
    assert quote(1) == "a value of type int"
    assert quote_all(["heart", "attack"]) == "2 (`SPACY_CONNORM_SHOW_TEXT=1` shows them)"
    assert quote_id("MESH:D003920") == "'MESH:D003920'"
    assert quote_id("heart attack 2") == "a text (14 characters)"
    show_text()
    assert (quote("heart"), quote_all(["a", "b"]), quote_id("heart")) == (
        "'heart'",
        "'a', 'b'",
        "'heart'",
    )
    show_text(False)
    assert quote("heart") == "a text (5 characters)"
    assert quote_all([]) == "none"


def test_an_unexpected_error_shows_no_variables(invoke, monkeypatch):
    monkeypatch.delenv("_TYPER_STANDARD_TRACEBACK", raising=False)
    monkeypatch.setattr("spacy_connorm.cli.check.check", lambda *args, **options: 1 / 0)
    assert isinstance(invoke("check", "x").exception, ZeroDivisionError)
    assert os.environ["_TYPER_STANDARD_TRACEBACK"] == "1"

"""Plain sentences with and without findings."""

from collections import Counter

import pytest

from .conftest import pack

TERM = "[Term]\nid: HP:{number:07}\nname: {name}\nis_a: HP:0000118\n\n"
NAMES = ("Seizure", "Fever", "Cough", "Ataxia", "Hepatomegaly", "Chest pain", "Microcephaly")


@pytest.fixture
def hpo(data):
    """The data folder, with seven findings of HPO."""
    root = "[Term]\nid: HP:0000118\nname: Phenotypic abnormality\n\n"
    terms = [TERM.format(number=number, name=name) for number, name in enumerate(NAMES, start=1)]
    pack(data / "hpo_2025" / "hp_2025-01-16.obo.gz", root + "".join(terms))
    return data


def test_sentences_pass_by_kind_and_half(rows_of, hpo, capsys):
    arguments = ("--set", "sentences-hpo", "--data", hpo, "--show", "chosen")
    rows = rows_of("sentences.py", *arguments)
    kinds = Counter(row["kind"] for row in rows if row["kind"] != "findings")
    assert len(kinds) == 6 and {*kinds.values()} == {2}
    # Of the others, this ontology has no name.
    findings = [row for row in rows if row["kind"] == "findings"]
    assert 0 < sum(row["all"] for row in findings) <= len(NAMES)
    shown = [line for line in capsys.readouterr().out.splitlines() if line.startswith("sentences")]
    failed = sum(row["all"] - row["passed"] for row in rows if row["half"] == "chosen")
    assert len(shown) == failed


def test_a_sentence_without_a_finding_passes_where_nothing_is_found(modules, monkeypatch):
    import sentences

    from spacy_connorm.evaluation.end_to_end import LinkedSpan

    fever = LinkedSpan(0, 5, "fever", frozenset(["HP:1"]))
    denied = fever._replace(concept_ids=frozenset(["HP:1 negated"]))
    assert sentences.is_right(set(), [])
    assert not sentences.is_right(set(), [denied])
    assert sentences.is_right({"HP:1"}, [fever])
    assert not sentences.is_right({"HP:1"}, [denied])


def test_statements_have_the_mark_of_each_finding(modules, hpo):
    from _common.sentences import ask, marked_spans

    asked = ask("statements", hpo)
    texts = {sentence.text: asked.marked_ids(sentence) for sentence in asked.sentences}
    assert texts["No history of seizures."] == {"HP:0000001 negated history"}
    assert texts["Seizures persists."] == {"HP:0000001"}
    doc = asked.finder()("Denies fever but reports cough.")
    ids = {concept_id for span in marked_spans(doc, asked.ontology) for concept_id in span[3]}
    assert ids == {"HP:0000002 negated", "HP:0000003"}


def test_ablation_asks_for_them(rows_of, hpo):
    arguments = ("--rules", "--table", "rules", "--data", hpo)
    rows = rows_of("ablation.py", *arguments, "--dataset", "sentences-hpo")
    worth = {row["row"]: row["sentences-hpo"] for row in rows}
    # "Fever charts", "the wheezing sound file" and their like.
    assert worth["other word"] > 0

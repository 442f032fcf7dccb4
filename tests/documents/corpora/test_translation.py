"""Gold ids of a corpus in another vocabulary than the ontology's."""

import pytest

from spacy_connorm import Concept, Ontology
from spacy_connorm.documents.corpora import CorpusReport, convert_corpus, read_corpus
from spacy_connorm.documents.corpora.report import AMBIGUOUS, KNOWN, TRANSLATED, UNKNOWN
from spacy_connorm.documents.mentions import annotated_mentions
from spacy_connorm.errors import ConnormError, ConnormWarning

ONTOLOGY = Ontology(
    [
        Concept("MONDO:1", "influenza", xrefs=("MSH:D007251", "UMLS:C0021400")),
        Concept("MONDO:2", "mumps", xrefs=("MESH:D009107",), alt_ids=("MONDO:22",)),
        Concept("MONDO:3", "breast cancer", xrefs=("MESH:D001943",)),
        Concept("MONDO:4", "benign breast neoplasm", xrefs=("MESH:D001943", "OMIM:114480")),
    ]
)


@pytest.fixture
def read(tmp_path, nlp):
    def read(*ids, ontology=ONTOLOGY):
        lines = ["7|t|flu", *(f"7\t0\t3\tflu\tDisease\t{each}" for each in ids)]
        path = tmp_path / "a.pubtator"
        path.write_text("\n".join(lines) + "\n", encoding="utf8")
        report = CorpusReport()
        (doc,) = read_corpus(path, nlp=nlp, report=report, ids_of=ontology)
        return [mention.kb_id for mention in annotated_mentions(doc)], report

    return read


@pytest.mark.parametrize(
    ("given", "written", "outcomes"),
    [
        ("D007251", "MONDO:1", [TRANSLATED]),
        ("MESH:D007251", "MONDO:1", [TRANSLATED]),
        ("C0021400", "MONDO:1", [TRANSLATED]),
        ("OMIM:114480", "MONDO:4", [TRANSLATED]),
        ("D007251|D009107", "MONDO:1|MONDO:2", [TRANSLATED, TRANSLATED]),
        ("D007251+D009107", "MONDO:1+MONDO:2", [TRANSLATED, TRANSLATED]),
        ("D007251|-1", "MONDO:1|-1", [TRANSLATED]),
        ("MONDO:1", "MONDO:1", [KNOWN]),
        ("MONDO:22", "MONDO:2", [KNOWN]),
        ("D001943|D007251", "D001943|MONDO:1", [AMBIGUOUS, TRANSLATED]),
        ("D000000|D007251", "D000000|MONDO:1", [UNKNOWN, TRANSLATED]),
        ("X1|D007251", "X1|MONDO:1", [UNKNOWN, TRANSLATED]),
    ],
)
def test_ids_that_one_concept_refers_to_are_replaced(read, given, written, outcomes):
    (found,), report = read(given)
    assert found == written
    assert sorted(report.translated.elements()) == sorted(outcomes)
    assert report.concept_ids == set(written.replace("+", "|").split("|")) - {"-1"}


def test_mentions_without_an_id_stay_so(read):
    found, report = read("-1", "D007251")
    assert found == ["", "MONDO:1"]
    assert report.translated.total() == 1


def test_an_ontology_of_another_vocabulary_warns(read):
    with pytest.warns(ConnormWarning, match=r"CNW205.* 2 "):
        found, _ = read("D007251", "D001943", ontology=Ontology([Concept("HP:1", "fever")]))
    assert found == ["D007251", "D001943"]


def test_a_corpus_is_converted_with_a_file(tmp_path):
    path, ontology = tmp_path / "a.pubtator", tmp_path / "o.jsonl"
    path.write_text("7|t|flu\n7\t0\t3\tflu\tDisease\tD007251\n", encoding="utf8")
    ONTOLOGY.to_disk(ontology)
    report = convert_corpus(path, tmp_path / "a.spacy", ids_of=ontology)
    assert report.concept_ids == {"MONDO:1"}
    with pytest.raises(ConnormError, match="CN121"):
        convert_corpus(path, ontology, ids_of=ontology)
    with pytest.raises(ConnormError, match="CN100"):
        convert_corpus(path, tmp_path / "a.spacy", ids_of=tmp_path / "absent.jsonl")
    with pytest.raises(ConnormError, match=r"CN103.*a\.pubtator"):
        convert_corpus(path, tmp_path / "a.spacy", ids_of=path)

import pytest

from spacy_connorm.concepts import Concept
from spacy_connorm.errors import ConnormError
from spacy_connorm.ontology import ReadReport
from spacy_connorm.ontology.obo import read_obo
from spacy_connorm.ontology.tsv import read_tsv

from .conftest import by_id, counts, lenient, strict


def test_obo_takes_the_synonyms_of_all_scopes(data):
    report = ReadReport()
    concepts = by_id(read_obo(data / "small.obo", report=report))
    assert concepts["T:2"] == Concept(
        concept_id="T:2",
        canonical_name='head, neck and "face" pain',
        aliases=("headache or neck ache", "cephalalgia", "pain", "migraine", "stiff neck"),
        types=("symptom",),
        definition='Pain above the shoulders, "by definition".',
        parents=("T:1",),
        alt_ids=("T:20", "T:21"),
        xrefs=("MESH:D900003", "UMLS:C0000009"),
        narrow=("migraine",),
        broad=("pain",),
        related=("stiff neck",),
    )
    assert concepts["T:1"].types == ("finding",)
    assert report.licence == "Licence: free for tests."
    assert counts(report) == {"an obsolete term": 1}
    assert report.scopes == {"EXACT": 2, "BROAD": 1, "NARROW": 1, "RELATED": 1}


def test_scopes_that_are_left_out_are_counted(data):
    report = ReadReport()
    concepts = by_id(read_obo(data / "small.obo", scopes=["EXACT"], report=report))
    assert concepts["T:2"].aliases == ("headache or neck ache", "cephalalgia")
    assert concepts["T:2"].exact_names == concepts["T:2"].names
    scopes = ("BROAD", "NARROW", "RELATED")
    assert counts(report) == {
        "an obsolete term": 1,
        **{f"a synonym of scope {scope}": 1 for scope in scopes},
    }


@pytest.mark.parametrize("kind", ["Term", "term", "TERM"])
def test_the_case_of_a_stanza_does_not_matter(tmp_path, kind):
    path = tmp_path / "cases.obo"
    path.write_text(f"[{kind}]\nid: T:1\nname: asthma\n\n[Typedef]\nid: r\nname: part of\n")
    assert [concept.concept_id for concept in read_obo(path)] == ["T:1"]


def test_obo_takes_synonyms_of_old_tags(tmp_path):
    path = tmp_path / "old.obo"
    path.write_text(
        'format-version: 1.0\n\n[Term]\nid: A:1\nname: one\nexact_synonym: "a" []\n'
        'narrow_synonym: "b" [X:1]\nbroad_synonym: "c" []\nrelated_synonym: "d" []\n'
        'synonym: "e" []\n'
    )
    (concept,) = read_obo(path)
    assert concept.exact_names == ("one", "a")
    assert (concept.narrow, concept.broad, concept.related) == (("b",), ("c",), ("e", "d"))


@pytest.mark.parametrize(
    "between", ["\n! part two\n\n", "\n! part two\n", " ! part two\n", "", "\n \n\n"]
)
def test_obo_stanzas_begin_at_their_first_line(tmp_path, between):
    path, report = tmp_path / "a.obo", ReadReport()
    stanzas = ["[Term]\nid: A:1\nname: one\n", "[Typedef]\nid: t\n", "[Term] ! two\nid: A:2\n"]
    header = "data-version: a/2025-01-16\ndefault-namespace: d\nremark: licence: free\n"
    path.write_text(between.join(["! ours\n", header, *stanzas, "name: two\n", "is_a: A:1\n"]))
    assert list(read_obo(path, report=report)) == [
        Concept("A:1", "one", types=("d",)),
        Concept("A:2", "two", types=("d",), parents=("A:1",)),
    ]
    assert (report.licence, report.release) == ("licence: free", "a/2025-01-16")


@pytest.mark.parametrize("broken", ["this line is broken", "[Term", ": x"])
def test_obo_tells_the_line_that_is_broken(tmp_path, broken):
    path = tmp_path / "a.obo"
    path.write_text(f"[Term]\nid: A:1\n\n{broken}\nname: one\nxref: A:5\n\n[Term]\nid: A:2\n")
    with pytest.raises(ConnormError, match=r"CN115.*line 4: .*OBO.*tag"):
        list(read_obo(path))


@pytest.mark.parametrize("synonym", ["synonym: a EXACT []", 'exact_synonym: "a', 'synonym: ""'])
def test_obo_tells_the_line_of_a_synonym_that_it_cannot_read(tmp_path, synonym):
    path, report = tmp_path / "a.obo", lenient()
    path.write_text(f'[Term]\nid: A:1\nname: one\n{synonym}\nsynonym: "b" EXACT []\n')
    (concept,) = read_obo(path, report=report)
    assert concept.aliases == ("b",)
    assert report.odd.skipped == 1
    assert "line 4: can't be read as OBO (a synonym without a text" in str(report.odd.first)


def test_obo_tells_the_line_of_a_term_whose_id_stands_for_no_concept(tmp_path):
    path, report = tmp_path / "a.obo", lenient()
    path.write_text("[Term]\nid: A:1\nname: one\n\n[Term]\nid: NIL\nname: two\n")
    (concept,) = read_obo(path, report=report)
    assert concept.concept_id == "A:1" and report.odd.skipped == 1
    assert "line 5: can't be read as OBO (a term without an id" in str(report.odd.first)


@pytest.mark.parametrize("tag", ["name: two", 'def: "two" []'])
def test_of_two_names_or_definitions_the_first_counts(tmp_path, tag):
    path, report = tmp_path / "a.obo", lenient()
    path.write_text(f'[Term]\nid: A:1\nname: one\ndef: "one" []\n{tag}\n')
    (concept,) = read_obo(path, report=report)
    assert (concept.canonical_name, concept.definition, concept.aliases) == ("one", "one", ())
    assert "line 5: can't be read as OBO (a second `" in str(report.odd.first)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            r"""synonym: "3,3',3"-triiodothyronine" EXACT []""",
            ("""3,3',3"-triiodothyronine""", "EXACT"),
        ),
        ('synonym: "the "big" one" NARROW iupac [X:1 "a b"]', ('the "big" one', "NARROW")),
        ('synonym: "5" disk" BROAD [] {a="b"} ! note', ('5" disk', "BROAD")),
        ('synonym: "the "big" one" []', ('the "big" one', "RELATED")),
        ('synonym: "a \\"b\\" c" EXACT [X:1 "d"]', ('a "b" c', "EXACT")),
        ('synonym: "a" EXACT [X:1 "an EXACT [copy]"]', ("a", "EXACT")),
        ('synonym: "one\\\n two" EXACT []', ("one two", "EXACT")),
        ('synonym: "one\n two: three\nfour" EXACT []', ("one two: three four", "EXACT")),
    ],
)
def test_a_synonym_may_have_quotation_marks_and_several_lines(tmp_path, line, expected):
    path, report = tmp_path / "a.obo", strict()
    path.write_text(
        f"[Term]\nid: A:1\nname: one\n{line}\nis_a: A:2! two\n\n[Term]\nid: A:2\nname: b\n"
    )
    concept, _ = read_obo(path, report=report)
    text, scope = expected
    assert (concept.aliases, report.scopes, concept.parents) == ((text,), {scope: 1}, ("A:2",))


def test_cross_references_without_a_prefix_are_counted(tmp_path):
    obo, table, report = tmp_path / "a.obo", tmp_path / "a.tsv", ReadReport()
    xrefs = ("MIM:1", "611644", "PMID:2", "http://x.org/3", "611645")
    lines = "".join(f"xref: {xref}\n" for xref in xrefs)
    obo.write_text(f"[Term]\nid: A:1\nname: one\n{lines}")
    table.write_text(f"id\tname\tcodes\nA:1\tone\t{'|'.join(xrefs)}\n")
    readings = (read_obo(obo, report=report), read_tsv(table, xrefs="codes", report=report))
    assert [concept.xrefs for reading in readings for concept in reading] == [("OMIM:1",)] * 2
    left_out = report.left_out["a cross-reference without the prefix of its vocabulary"]
    assert (left_out.first, left_out.count, left_out.broken) == ("'611644'", 4, True)


def test_a_synonym_of_two_scopes_is_exact(tmp_path):
    path = tmp_path / "two.obo"
    path.write_text('[Term]\nid: A:1\nname: one\nsynonym: "a" RELATED []\nsynonym: "a" EXACT []\n')
    (concept,) = read_obo(path)
    assert (concept.related, concept.exact_names) == ((), ("one", "a"))


def test_obo_settings(data):
    concepts = by_id(read_obo(data / "small.obo", scopes=("NARROW", "BROAD")))
    assert concepts["T:2"].aliases == ("pain", "migraine")
    assert concepts.keys() == {"T:1", "T:2"}


@pytest.mark.parametrize("setting", [{"scopes": ("EXAKT",)}])
def test_obo_names_settings_it_does_not_know(data, setting):
    with pytest.raises(ConnormError, match="CN118"):
        list(read_obo(data / "small.obo", **setting))


def test_obo_quotes_may_hold_what_begins_comments_and_modifiers(tmp_path):
    path = tmp_path / "o.obo"
    path.write_text(
        "format-version: 1.2\n\n[Term]\nid: X:1\nname: x\n"
        'def: "Of the !Kung {people}." [PMID:1] ! a comment\n'
        'synonym: "foo ! bar" EXACT [] {source="a"}\nsynonym: "a \\! b" NARROW []\n'
    )
    (concept,) = read_obo(path)
    assert concept.definition == "Of the !Kung {people}."
    assert (concept.aliases, concept.narrow) == (("foo ! bar", "a ! b"), ("a ! b",))

"""Reading in whatever format, with whatever is wrong with the file, and converting."""

import gzip
import json
from pathlib import Path

import pytest

from spacy_connorm import build_index, load_normalizer
from spacy_connorm.concepts import Concept, Ontology, Source, write_concepts
from spacy_connorm.concepts.ontology import read_licence, write_licence
from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.ontology import (
    OntologyReader,
    ReadReport,
    convert_ontology,
    join_ontologies,
    learn_substitutions,
    open_ontology,
    read_ontology,
    stream_ontology,
)
from spacy_connorm.ontology.obo import read_obo
from spacy_connorm.ontology.reading import read_jsonl, with_curies
from spacy_connorm.ontology.synonyms import split_short_forms

from .conftest import by_id

LINE = '{"concept_id": "T:1", "canonical_name": "one", "aliases": [], "types": []}\n'


def test_compressed_files_that_are_damaged(tmp_path):
    whole = gzip.compress("".join(LINE.replace("T:1", f"T:{i}") for i in range(999)).encode())
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xFF
    for content in (LINE.encode(), whole[: len(whole) // 2], bytes(flipped)):
        path = tmp_path / "a.jsonl.gz"
        path.write_bytes(content)
        with pytest.raises(ConnormError, match=r"CN(106|107|115)"):
            read_ontology(path)


def test_a_missing_file_and_a_folder(tmp_path):
    with pytest.raises(ConnormError, match=r"CN100.*nowhere\.jsonl"):
        read_ontology(tmp_path / "nowhere.jsonl")
    with pytest.raises(ConnormError, match="CN104"):
        read_ontology(tmp_path)
    with pytest.raises(ConnormError, match="CN105"):
        Ontology.from_disk(tmp_path)


def test_names_are_cleaned(tmp_path):
    path = tmp_path / "a.jsonl"
    records = [
        {"concept_id": " T:1\x00", "canonical_name": "heart\x00attack", "aliases": ["a \ud83d b"]},
        {"concept_id": "T:2", "canonical_name": "نوبة قلبية", "aliases": ["💔", " 💔 ", "\t"]},
        {"concept_id": "T:3", "canonical_name": "\x01\x02"},
        {"concept_id": "T:4", "canonical_name": "x" * 10_000},
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    with pytest.warns(ConnormWarning) as caught:
        ontology = read_ontology(path, max_odd=0.3)
    assert [str(w.message)[:8] for w in caught] == ["[CNW110]", "[CNW105]"]
    assert ontology["T:1"].names == ("heart attack", "a b")
    assert ontology["T:2"].names == ("نوبة قلبية", "💔")
    assert len(ontology["T:4"].canonical_name) == 10_000
    ontology.to_disk(tmp_path / "b.jsonl")
    assert list(Ontology.from_disk(tmp_path / "b.jsonl")) == list(ontology)


def test_a_short_form_before_its_long_form_is_a_name_of_its_own(tmp_path):
    table = tmp_path / "findings.csv"
    synonyms = (
        "LBP - Low back pain|Lumbago - chronic|AP -Pain|Pain - LBP|PNS - somatic|LBP - Lumbar pain"
    )
    table.write_text(f"id,name,synonyms\n1,Low back pain,{synonyms}\n")
    (concept,) = read_ontology(table)
    split = ("LBP", "Lumbago - chronic", "AP -Pain", "Pain - LBP", "PNS - somatic", "Lumbar pain")
    assert concept.aliases == split


def test_both_names_have_the_language_of_the_synonym():
    french = "HTA - Hypertension artérielle"
    names = ("HTA", "Hypertension artérielle")
    concept = Concept("1", "Hypertension", (french,), languages=((french, "fr"),))
    assert split_short_forms(concept).languages == tuple((name, "fr") for name in names)
    assert split_short_forms(concept).aliases == names


def test_what_is_doubtful_is_warned_of_once(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("id\tname\tabove\nT:1\tone\tT:2\nT:2\ttwo\tT:1|T:9\n\tnone\t\n")
    with pytest.warns(ConnormWarning) as caught:
        read_ontology(path, parents="above", max_odd=0.5)
    assert [str(w.message)[:8] for w in caught] == ["[CNW110]", "[CNW103]", "[CNW104]"]
    assert "line 4" in str(caught[0].message)


def test_a_repeated_id_is_merged_with_a_warning(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(LINE + LINE.replace("one", "uno"))
    with pytest.warns(ConnormWarning, match="CNW101.*T:1") as caught:
        ontology = read_ontology(path)
    assert len(caught) == 1
    assert ontology["T:1"].names == ("one", "uno")


def test_a_stream_is_one(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(LINE + "no json\n")
    concepts = stream_ontology(path)
    assert next(concepts) == Concept("T:1", "one")
    with pytest.raises(ConnormError, match="CN115"):
        next(concepts)


def test_nothing_left_tells_what_was_left_out(data):
    with pytest.raises(ConnormError, match=r"CN104.*another language \(\d"):
        read_ontology(data / "META", languages=["ZZZ"])


def test_the_source_is_kept(data):
    ontology = read_ontology(data / "small.obo")
    assert ontology.source.path == "small.obo"
    assert len(ontology.source.sha256) == 64
    assert ontology.source.licence == "Licence: free for tests."
    assert read_ontology(data / "small.obo", licence="Mine.").source.licence == "Mine."
    assert read_ontology(data / "META").source.path == "MRCONSO.RRF"


def test_the_licence_travels_with_the_file(data, tmp_path):
    path = tmp_path / "small.jsonl"
    read_ontology(data / "small.obo").to_disk(path)
    assert Ontology.from_disk(path).source.licence == "Licence: free for tests."
    assert Ontology.from_disk(path, licence="Mine.").source.licence == "Mine."
    report = ReadReport()
    assert len(list(stream_ontology(path, report=report))) == 2
    assert report.licence == "Licence: free for tests."
    Ontology([Concept("T:1", "one")]).to_disk(path)
    assert read_licence(path) == ""


def test_nothing_is_read_before_the_registered_reader_is_called(data, tmp_path):
    OntologyReader(tmp_path / "not_there_yet.obo")
    options = {"scopes": ["EXACT", "BROAD"]}
    ontology = OntologyReader(data / "small.obo", licence="Mine.", options=options)()
    assert "pain" in ontology["T:20"].aliases
    assert ontology.source.licence == "Mine."


def test_the_reader_is_registered(data):
    from spacy.util import registry

    config = {
        "ontology": {"@readers": "spacy-connorm.Ontology.v1", "path": str(data / "medic.txt")}
    }
    assert len(registry.resolve(config)["ontology"]()) == 3


def test_opened_it_is_the_ontology_that_is_read(tmp_path):
    path = tmp_path / "o.jsonl"
    Ontology([Concept("A", "one", ("two",)), Concept("B", "three")]).to_disk(path)
    (read, stream) = read_ontology(path, licence="mine"), open_ontology(path, licence="mine")
    assert stream.source == read.source
    assert list(stream) == list(read)


def test_opened_it_warns_of_what_looks_like_a_mistake_at_the_end(tmp_path):
    path = tmp_path / "o.jsonl"
    concepts = [Concept("A", "one", parents=("X1",)), Concept("B", "two", parents=("Y",))]
    Ontology(concepts).to_disk(path)
    stream = open_ontology(path)
    with pytest.warns(ConnormWarning, match="CNW103.*2 .*'X1'") as warned:
        assert len(list(stream)) == 2
    assert len(warned) == 1


def test_opened_it_says_at_once_that_it_is_empty(tmp_path):
    (tmp_path / "o.jsonl").write_text("\n")
    with pytest.raises(ConnormError, match="CN104"):
        open_ontology(tmp_path / "o.jsonl")


DEMO = Path(__file__).parents[2] / "assets" / "demo_ontology.obo"


def test_what_is_converted_is_returned_and_its_licence_kept(data, tmp_path, capsys):
    out = tmp_path / "new" / "small.jsonl.gz"
    summary, report, licence = convert_ontology(data / "small.obo", out)
    assert (summary.concepts, summary.names, summary.ids, summary.parents) == (2, 7, 4, 1)
    left_out = {reason: (kind.count, kind.first) for reason, kind in report.left_out.items()}
    assert left_out["an obsolete term"] == (1, "T:3")
    assert report.scopes == {"EXACT": 2, "BROAD": 1, "NARROW": 1, "RELATED": 1}
    assert licence == "Licence: free for tests."
    ontology = Ontology.from_disk(out)
    assert ontology["T:20"].canonical_name == 'head, neck and "face" pain'
    assert ontology["T:20"].broad == ("pain",)
    assert ontology.source.licence == licence
    assert capsys.readouterr() == ("", "")


def test_the_terms_of_use_are_in_place_before_the_names(data, tmp_path, monkeypatch):
    out = tmp_path / "small.jsonl"
    convert_ontology(data / "small.obo", out, licence="Old.")
    old = out.read_bytes()
    replace = Path.replace

    def stop(part, path):
        if path == out:
            raise KeyboardInterrupt
        return replace(part, path)

    monkeypatch.setattr(Path, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        convert_ontology(data / "small.obo", out, licence="New.")
    assert (out.read_bytes(), read_licence(out)) == (old, "New.")
    with pytest.raises(KeyboardInterrupt):
        convert_ontology(data / "medic.txt", out)
    assert (out.read_bytes(), read_licence(out)) == (old, "New.")
    monkeypatch.undo()
    convert_ontology(data / "medic.txt", out)
    assert read_licence(out) == ""


@pytest.mark.parametrize("write", [join_ontologies, learn_substitutions])
def test_the_terms_of_joined_ontologies_are_in_place_before_them(tmp_path, monkeypatch, write):
    source, out = tmp_path / "mine.jsonl", tmp_path / "out.jsonl"
    Ontology([Concept("T:1", "kidney pain")], source=Source(licence="Mine.")).to_disk(source)

    def stop(part, path):
        assert path != out
        return replace(part, path)

    replace = Path.replace
    monkeypatch.setattr(Path, "replace", stop)
    with pytest.raises(AssertionError):
        write([source], out)
    assert not out.exists()
    assert read_licence(out) == "mine.jsonl: Mine."


@pytest.mark.parametrize(
    ("name", "options", "concepts"),
    [
        ("META", {"languages": ["SPA", "ENG"], "semantic_types": ["T184"], "hierarchy": False}, 2),
        ("META", {"languages": (), "tradenames": True, "sources": ["RXNORM"]}, 2),
        ("META", {"format": "rrf"}, 4),
        ("rxnorm", {"tradenames": True}, 3),
        ("snomed", {"dialect": "900000000000508004"}, 5),
        ("mesh_descriptors.tsv", {"tree": "mesh_tree.tsv"}, 3),
        ("mesh_descriptors.xml", {"supplementary": "mesh_supplementary.xml"}, 4),
        ("mesh_descriptors.tsv", {"format": "tsv", "header": False, "id": 1, "name": 2}, 3),
        ("mesh_supplementary.tsv", {"id": "mesh_scr_id"}, 2),
        ("icd10cm_order.txt", {"tabular": "icd10cm_tabular.xml"}, 5),
        ("small.obo", {"scopes": ["EXACT", "BROAD"]}, 2),
        ("ctd_diseases.tsv", {}, 3),
        ("medic.txt", {}, 3),
    ],
)
def test_every_format_and_its_options(data, tmp_path, monkeypatch, name, options, concepts):
    monkeypatch.chdir(data)
    out = tmp_path / "out.jsonl"
    assert convert_ontology(name, out, **options).summary.concepts == concepts
    assert len(Ontology.from_disk(out)) == concepts


def test_a_file_that_breaks_off_leaves_the_old_one(data, tmp_path):
    old, broken = tmp_path / "old.jsonl", tmp_path / "broken.jsonl"
    convert_ontology(data / "small.obo", old)
    before = old.read_bytes()
    broken.write_bytes(before + b"{")
    with pytest.raises(ConnormError, match="CN115"):
        convert_ontology(broken, old)
    assert old.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "broken.jsonl",
        "old.jsonl",
        "old.jsonl.licence.txt",
    ]


def test_places_that_cannot_be_written(data, tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.jsonl").mkdir()
    for out, code in (
        (tmp_path / "file" / "out.jsonl", "CN108"),
        (tmp_path / "folder.jsonl", "CN105"),
        (tmp_path / "out.obo", "CN708"),
    ):
        with pytest.raises(ConnormError, match=code):
            convert_ontology(data / "small.obo", out)


def test_repeated_ids_are_counted(data, tmp_path):
    twice = tmp_path / "twice.jsonl"
    convert_ontology(data / "small.obo", twice)
    twice.write_text(twice.read_text() * 2)
    with pytest.warns(ConnormWarning, match="CNW101"):
        summary = convert_ontology(twice, tmp_path / "out.jsonl").summary
    assert (summary.concepts, summary.repeated_ids.count) == (4, 2)


def test_the_demo_ontology_is_sound_and_ambiguous(tmp_path, recwarn):
    summary, _, licence = convert_ontology(DEMO, tmp_path / "demo.jsonl")
    assert not [warning for warning in recwarn if warning.category is ConnormWarning]
    assert 60 <= summary.concepts <= 100
    assert summary.shared_names.count >= 4
    assert licence.startswith("MIT")
    ontology = Ontology.from_disk(tmp_path / "demo.jsonl")
    meanings = [concept for concept in ontology if "MS" in concept.names]
    assert {kind for concept in meanings for kind in concept.types} == {"disease", "drug"}


def test_ids_get_their_prefix_and_stay_as_alternate_ids(data):
    concepts = read_ontology(data / "ctd_diseases.tsv", curies=True)
    sniffles = concepts["D900001"]
    assert sniffles.concept_id == "MESH:D900001"
    assert sniffles.parents == ("MESH:D900000",)
    assert sniffles.alt_ids == ("DOID:90001", "OMIM:900001", "D900001")
    assert concepts["OMIM:900002"].parents == ("MESH:D900000", "MESH:D900001")
    codes = read_ontology(data / "icd10cm_order.txt", curies=True)
    assert codes["A90.0"].concept_id == "ICD10CM:A90.0"
    assert codes["A90.0"].parents == ("ICD10CM:A90",)


@pytest.mark.parametrize(
    "concept", [Concept("404640003", "dizziness"), Concept("HP:1", "x", parents=("HP:2",))]
)
def test_ids_with_a_prefix_or_of_no_known_vocabulary_stay(concept):
    assert with_curies(concept) == concept


def test_a_pipeline_writes_them_and_takes_the_others(data, tmp_path, ngrams):
    convert_ontology(data / "ctd_diseases.tsv", tmp_path / "ctd.jsonl", curies=True)
    overrides = {ngrams[0].removeprefix("--"): ngrams[1]}
    built = build_index(tmp_path / "ctd.jsonl", tmp_path / "index", overrides=overrides)
    normalizer = load_normalizer(built.path)
    normalizer.add_synonyms([("wet nose", "D900001"), ("dry nose", "MSH:D900000")])
    found = normalizer.candidates(["sniffles", "wet nose", "dry nose"], top_k=1)
    ids = ["MESH:D900001", "MESH:D900001", "MESH:D900000"]
    assert [each[0].concept_id for each in found] == ids


def test_a_setting_that_no_format_has_is_refused(data):
    with pytest.raises(ConnormError, match="CN113"):
        read_ontology(data / "ctd_diseases.tsv", curie=True)


def test_ids_that_look_like_those_of_mesh_stay_in_their_vocabulary():
    concept = Concept("C102883", "x", parents=("C102870", "D000001"), xrefs=("NCIT:C102883",))
    assert with_curies(concept).parents == ("NCIT:C102870", "MESH:D000001")


def test_jsonl_reads_what_was_written_and_the_licence_beside_it(tmp_path):
    concept = Concept("T:1", "a", ("b",), ("T047",), "d", ("T:0",), ("T:9",))
    path, report = tmp_path / "kb.jsonl.gz", ReadReport()
    write_concepts([concept], path)
    write_licence("Be kind.", path)
    assert list(read_jsonl(path, report=report)) == [concept]
    assert report.licence == "Be kind."


def test_jsonl_keeps_scopes_and_reads_some(data, tmp_path):
    path = tmp_path / "small.jsonl"
    Ontology(read_obo(data / "small.obo")).to_disk(path)
    assert by_id(read_jsonl(path)) == by_id(read_obo(data / "small.obo"))
    for scopes in (["EXACT"], ["EXACT", "NARROW"], ["BROAD"], []):
        read = by_id(read_jsonl(path, scopes=scopes))["T:2"]
        assert read == by_id(read_obo(data / "small.obo", scopes=scopes))["T:2"]
    with pytest.raises(ConnormError, match="CN118.*scopes.*EXAKT"):
        list(read_jsonl(path, scopes=["EXAKT"]))


def _rrf_row(number):
    row = [
        "",
        "ENG",
        "P",
        "",
        "PF",
        "",
        "Y",
        f"A{number}",
        "",
        "",
        "",
        "X",
        "PT",
        "1",
        "",
        "0",
        "N",
    ]
    row[0], row[14] = f"C{number:07}", f"n {number}"
    return "|".join(row) + "|"


_TURTLE = (
    "@prefix o: <http://www.w3.org/2002/07/owl#> .\n"
    "@prefix r: <http://www.w3.org/2000/01/rdf-schema#> ."
)
# By format: the file, its first lines, what writes a concept, an odd line, and the last lines.
READERS = {
    "jsonl": ("a.jsonl", "", '{{"concept_id": "T:{0}", "canonical_name": "n {0}"}}', "{", ""),
    "json": ("a.json", "[", '{{"concept_id": "T:{0}", "canonical_name": "n {0}"}}', "3", "]"),
    "obo": ("a.obo", "", "[Term]\nid: T:{0}\nname: n {0}", "no tag", ""),
    "tsv": ("a.tsv", "id\tname", "T:{0}\tn {0}", "T:9\tn\tm", ""),
    "csv": ("a.csv", "id,name", "T:{0},n {0}", 'T:9,"n" m', ""),
    "ctd": ("a.ctd", "# DiseaseName\tDiseaseID", "n {0}\tMESH:D{0}", "n", ""),
    "medic": ("a.txt", "", "D{0}||n {0}", "D9", ""),
    "mesh": ("a.mesh", "", "D{0:06}\tn {0}", "n\tD", ""),
    "icd10cm": ("a.icd", "", "{0:05} A{0:02}     1 {1:60} n {0}", "A99 n", ""),
    "rrf": ("MRCONSO.RRF", "", _rrf_row, "C9999999|ENG|", ""),
    "obographs": (
        "b.json",
        '{"graphs": [{"id": "g", "nodes": [',
        '{{"id": "http://x.org/T_{0}", "type": "CLASS", "lbl": "n {0}"}}',
        '{"type": "CLASS", "id": 3}',
        "]}]}",
    ),
    "rdf": (
        "a.ttl",
        _TURTLE,
        '<http://x.org/T_{0}> a o:Class; r:label "n {0}" .',
        '<http://x.org/NUMBER/NIL> a o:Class; r:label "odd" .',
        "",
    ),
}


@pytest.mark.parametrize("kind", READERS)
def test_one_odd_line_is_skipped_counted_and_named_by_every_reader(tmp_path, kind):
    name, head, concept, odd, tail = READERS[kind]
    path = tmp_path / name
    render = concept if callable(concept) else lambda number: concept.format(number, f"n {number}")
    lines = list(map(render, range(1, 61)))

    def read(lines, **settings):
        items = (",\n" if name.endswith(".json") else "\n").join(lines)
        path.write_text("\n".join(filter(None, [head, items, tail])) + "\n")
        format = {"json": "jsonl", "csv": "tsv"}.get(kind, kind)
        return list(stream_ontology(path, format=format, **settings))

    expected = read(lines)
    assert len(expected) == 60
    with_one = [*lines[:40], odd, *lines[40:]]
    with pytest.warns(ConnormWarning, match=rf"CNW110.*{name}': 1 of \d+ lines") as caught:
        assert read(with_one) == expected
    assert len(caught) == 1
    with pytest.raises(ConnormError):
        read(with_one, max_odd=0)
    with pytest.raises(ConnormError, match="--max-odd"):
        read([*lines, *(odd.replace("NUMBER", str(number)) for number in range(20))])

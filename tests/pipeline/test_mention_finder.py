"""Mentions in plain text, found by the names of the normalizer's index."""

from functools import partial

import pytest
import spacy
from finding import NGRAMS, make_finder, marked

from spacy_connorm import Concept, Ontology
from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.pipeline.mention_finder import MentionFinder, find_nested_mentions

CONCEPTS = [
    Concept("C1", "Breast Neoplasms", ("breast cancer", "cancer of the breast"), types=("Tumor",)),
    Concept("C2", "cancer", types=("Tumor",)),
    Concept("C3", "Crohn's disease", types=("Disease",)),
    Concept("C4", "Wiskott-Aldrich syndrome", ("WAS",), types=("Disease",)),
    Concept("C5", "beta-thalassaemia", ("haemorrhage",)),
    Concept("C6", "disease", ("Fall", "diabetes type 2", "L-Dopa")),
]


@pytest.fixture(scope="module")
def make():
    """A function that makes a pipeline from plain text to ids."""
    return partial(make_finder, CONCEPTS, first=["abbreviation_resolver"])


@pytest.fixture(scope="module")
def plain(make):
    """Such a pipeline without settings. Tests do not change it."""
    return make()


def found(nlp, text):
    return [(ent.text, ent.kb_id_) for ent in nlp(text).ents]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Early breast cancers.", [("breast cancers", "C1")]),
        ("Cancers of the breast", [("Cancers of the breast", "C1")]),
        ("BREAST-CANCER", [("BREAST-CANCER", "C1")]),
        ("Her cancer, breast", [("cancer", "C2")]),
        ("crohn disease and β-thalassemia", [("crohn disease", "C3"), ("β-thalassemia", "C5")]),
        ("type II diabetes", [("type II diabetes", "C6")]),
        ("WAS is rare; it was found", [("WAS", "C4")]),
        ("L-dopa", [("L-dopa", "C6")]),
        ("This disease was there.", []),
        ("", []),
        ("breast of cancer of", [("breast of cancer", "C1")]),
    ],
)
def test_names_are_found_in_any_spelling_and_order(plain, text, expected):
    assert found(plain, text) == expected


def test_the_types_are_looked_up_once_although_synonyms_are_added(make, monkeypatch):
    nlp = make(normalizer={"types": ["Disease"]})
    normalizer = nlp.get_pipe("concept_normalizer")
    assert found(nlp, "Crohn disease") == [("Crohn disease", "C3")]
    monkeypatch.delattr(type(normalizer.lookup.index.store), "of_types")
    normalizer.add_synonyms([("regional enteritis", "C3")])
    assert found(nlp, "regional enteritis, cancer") == [("regional enteritis", "C3")]


def test_it_tells_what_it_assigns(plain):
    told = plain.analyze_pipes(keys=["assigns"])["summary"]["mention_finder"]["assigns"]
    assert {*told} == {"doc.ents", "doc.spans", "span._.matched_name"}


@pytest.mark.parametrize("name", ["ovarian cancer", "Cancer, Ovarian"])
def test_no_name_goes_across_a_conjunction_in_another_order(make, name):
    nlp = make(coordinations=False)
    nlp.get_pipe("concept_normalizer").add_synonyms([(name, "C3")])
    text = "breast cancer and ovarian cancer"
    assert found(nlp, text) == [("breast cancer", "C1"), ("ovarian cancer", "C3")]


@pytest.mark.parametrize(
    "text",
    [
        "- [Cancer]\n- Breast pain",
        "[Cancer]\nBreast pain",
        "[Cancer] • breast pain",
        "[Cancer] - breast pain",
        "Neoplasms with breast pain",
        "Neoplasms with \n breast pain",
        "[Cancer in the breast]",
        "[Cancer due to breast]",
        "[Cancer of the\nbreast]",
        "[Cancer\n of the breast]",
        "[Breast\ncancer]",
    ],
)
def test_no_name_goes_across_lines_or_items_in_another_order(plain, text):
    assert marked(plain, text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("has pain, severe cancer", "cancer"),
        ("has pain, later", ""),
    ],
)
def test_a_grade_after_a_comma_is_not_of_the_name_before_it(make, text, expected):
    nlp = make()
    nlp.get_pipe("concept_normalizer").add_synonyms([("severe pain", "C3"), ("later pain", "C3")])
    assert "".join(each for each, _ in found(nlp, text)) == expected


def test_prepositions_of_names_are_followed(make):
    nlp = make()
    nlp.get_pipe("concept_normalizer").add_synonyms([("cancer, resistance to", "C3")])
    assert found(nlp, "resistance to cancer") == [("resistance to cancer", "C3")]


def test_a_name_with_a_plus_is_not_found_where_the_text_has_a_minus(make):
    nlp = make()
    nlp.get_pipe("concept_normalizer").add_synonyms([("ER+ cancer", "C1")])
    assert found(nlp, "ER- cancer, ER+ cancer") == [("cancer", "C2"), ("ER+ cancer", "C1")]
    assert "minus" in nlp.get_pipe("mention_finder").explain(nlp("ER- cancer")[:]).reason


def test_a_ruler_behind_it_is_loaded_with_its_phrases(make, tmp_path):
    nlp = make()
    ruler = nlp.add_pipe("entity_ruler", after="mention_finder")
    ruler.add_patterns([{"label": "OTHER", "pattern": "gout attack"}])
    nlp.to_disk(tmp_path / "saved")
    found_by = [(ent.text, ent.label_) for ent in nlp("cancer, gout attack").ents]
    assert found_by == [("cancer", "Tumor"), ("gout attack", "OTHER")]
    loaded = spacy.load(tmp_path / "saved")
    assert [(ent.text, ent.label_) for ent in loaded("cancer, gout attack").ents] == found_by


def test_without_an_index_it_is_refused_when_loaded_too():
    nlp = spacy.blank("en")
    finder = nlp.add_pipe("mention_finder")
    nlp.add_pipe("concept_normalizer", config=NGRAMS)
    finder.from_bytes(finder.to_bytes())
    with pytest.raises(ConnormError, match="CN001"):
        nlp("cancer")
    with pytest.raises(ConnormError, match="CN001"):
        finder.explain(nlp.make_doc("cancer")[:])


def test_a_capital_a_inside_a_text_belongs_to_a_name(make):
    nlp = make()
    names = [("hepatitis", "C3"), ("hepatitis A", "C4")]
    nlp.get_pipe("concept_normalizer").add_synonyms(names)
    text = "Hepatitis A, a hepatitis, cancer of a breast. A cancer."
    expected = [("Hepatitis A", "C4"), ("hepatitis", "C3"), ("cancer of a breast", "C1")]
    assert found(nlp, text) == [*expected, ("cancer", "C2")]


def test_a_short_form_counts_as_what_the_document_defines(make):
    text = "Breast cancer (BC) and we all saw (WAS). BC WAS."
    assert found(make(), text)[-1] == ("BC", "C1")


def test_entities_that_are_there_already_stay(make):
    nlp = make()
    ruler = nlp.add_pipe("entity_ruler", first=True)
    ruler.add_patterns([{"label": "OTHER", "pattern": "Early breast"}])
    doc = nlp("Early breast cancer, cancer")
    assert [(ent.text, ent.label_) for ent in doc.ents] == [
        ("Early breast", "OTHER"),
        ("cancer", "Tumor"),
    ]


def test_labels_are_semantic_types_or_what_these_are_mapped_to(make):
    text = "cancer, haemorrhage, Crohn's disease"
    assert [ent.label_ for ent in make()(text).ents] == ["Tumor", "MENTION", "Disease"]
    nlp = make(labels={"Tumor": "T"}, label="X")
    assert [ent.label_ for ent in nlp(text).ents] == ["T", "X", "X"]


def test_only_what_the_normalizer_may_find_is_found(make):
    nlp = make(normalizer={"types": ["Disease"]})
    assert found(nlp, "cancer or Crohn's disease") == [("Crohn's disease", "C3")]
    nlp.get_pipe("concept_normalizer").cfg["types"] = ["Tumor"]
    assert found(nlp, "cancer or Crohn's disease") == [("cancer", "C2")]


def test_added_synonyms_are_found_and_removed_ones_are_not(make):
    nlp = make()
    normalizer = nlp.get_pipe("concept_normalizer")
    normalizer.add_synonyms([("mammary carcinoma", "C1")])
    normalizer.remove_synonyms([("cancer", "C2")])
    assert found(nlp, "Mammary carcinomas, no cancer") == [("Mammary carcinomas", "C1")]


def test_stop_texts_are_found_no_longer_and_saved(make, tmp_path):
    nlp = make()
    nlp.get_pipe("mention_finder").add_stop_texts(["Cancers"])
    assert found(nlp, "cancer, breast cancer") == [("breast cancer", "C1")]
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert found(loaded, "cancer, breast cancer") == [("breast cancer", "C1")]
    with pytest.raises(ConnormError, match="CN006.*texts"):
        nlp.get_pipe("mention_finder").add_stop_texts("cancer")
    with pytest.raises(ConnormError, match="CN006.*texts"):
        nlp.get_pipe("mention_finder").add_stop_texts([1])


def test_a_stop_list_is_read(make, tmp_path):
    (tmp_path / "stop.txt").write_text("Crohn disease\n\n haemorrhages \n", encoding="utf8")
    nlp = make()
    text = "Crohn's disease, hemorrhage, thalassemia beta"
    assert len(nlp(text).ents) == 3
    finder = nlp.get_pipe("mention_finder")
    finder.initialize(lambda: [], nlp=nlp, stop_list=tmp_path / "stop.txt")
    assert finder.cfg["stop_texts"][-2:] == ["Crohn disease", "haemorrhages"]
    assert found(nlp, text) == [("thalassemia beta", "C5")]
    with pytest.raises(ConnormError, match="CN100.*nowhere"):
        finder.initialize(lambda: [], nlp=nlp, stop_list=tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("text", "is_mention", "reason", "names"),
    [
        ("breast cancer", True, "", ("breast cancer", "cancer of the breast")),
        ("cancer", False, "overlaps", ("cancer",)),
        ("was", False, "exactly these letters", ("WAS",)),
        ("disease", False, "stop text", ("disease",)),
        ("This", False, "no name", ()),
    ],
)
def test_it_explains_what_is_found_and_what_is_not(plain, text, is_mention, reason, names):
    doc = plain("This disease was a breast cancer.")
    start = doc.text.index(text)
    span = doc.char_span(start, start + len(text))
    explained = plain.get_pipe("mention_finder").explain(span)
    assert explained.is_mention == is_mention
    assert reason in explained.reason
    assert set(explained.names) == set(names)


def test_workers_find_the_same(make):
    nlp = make()
    texts = ["Breast cancer.", "", "No WAS", "was"]
    expected = [found(nlp, text) for text in texts]
    docs = nlp.pipe(texts, n_process=2, batch_size=1)
    assert [[(ent.text, ent.kb_id_) for ent in doc.ents] for doc in docs] == expected


def test_batches_find_what_single_documents_do(make):
    nlp = make()
    texts = ["Breast", "cancer", "breast cancer " * 40, "cancer of", "the breast"]
    expected = [found(nlp, text) for text in texts]
    assert [[(e.text, e.kb_id_) for e in doc.ents] for doc in nlp.pipe(texts)] == expected


def test_it_is_saved_with_its_settings(make, tmp_path):
    nlp = make(short_letters=6, undefined_short_forms=True)
    nlp.to_disk(tmp_path)
    finder = spacy.load(tmp_path).get_pipe("mention_finder")
    assert (finder.cfg["short_letters"], finder.cfg["undefined_short_forms"]) == (6, True)
    assert isinstance(finder, MentionFinder)
    other = make().get_pipe("mention_finder")
    other.from_bytes(finder.to_bytes())
    assert other.cfg == finder.cfg
    finder.from_disk(tmp_path / "mention_finder", exclude=["cfg"])
    assert other.from_bytes(other.to_bytes(exclude=["cfg"])).cfg == finder.cfg
    (tmp_path / "mention_finder" / "cfg").write_text("{}")
    with pytest.raises(ConnormError, match="CN402"):
        spacy.load(tmp_path)
    for content in (b"\xc1", b"\x01"):
        with pytest.raises(ConnormError, match="CN402"):
            other.from_bytes(content)


def test_a_pipeline_without_a_normalizer_says_so():
    nlp = spacy.blank("en")
    nlp.add_pipe("mention_finder")
    with pytest.raises(ConnormError, match="CN010"):
        nlp("Breast cancer")


def test_mentions_that_come_too_late_are_told_once(make):
    nlp = make()
    nlp.remove_pipe("mention_finder")
    nlp.add_pipe("mention_finder", "late", last=True)
    with (
        pytest.warns(ConnormWarning, match="CNW006.*'concept_normalizer'"),
        pytest.warns(ConnormWarning, match="CNW003.*'late'.*'concept_normalizer'") as caught,
    ):
        assert [found(nlp, "A cancer.") for _ in range(2)] == [[("cancer", "")]] * 2
    assert sorted(warning.message.code for warning in caught) == ["CNW003", "CNW006"]


def test_a_finder_between_two_normalizers_or_without_one_is_not_late(make):
    nlp = make()
    settings = {**NGRAMS, "attribute_prefix": "first_"}
    first = nlp.add_pipe("concept_normalizer", "first", first=True, config=settings)
    first.initialize(lambda: [], nlp=nlp, ontology=Ontology(CONCEPTS))
    with pytest.warns(ConnormWarning, match="CNW006.*'first'"):
        assert found(nlp, "A cancer.") == [("cancer", "C2")]
    alone = make()
    alone.disable_pipe("concept_normalizer")
    assert found(alone, "A cancer.") == [("cancer", "")]


def test_the_normalizer_can_be_named(make):
    nlp = make(normalizer={}, spans_key="sc")
    finder = nlp.get_pipe("mention_finder")
    finder.cfg["normalizer"] = "other"
    with pytest.raises(ConnormError, match="CN010.*'other'.*concept_normalizer"):
        nlp("Breast cancer")
    finder.cfg["normalizer"] = "concept_normalizer"
    assert finder.normalizer is nlp.get_pipe("concept_normalizer")


def test_a_type_without_a_name_loses_no_mention(make):
    nlp = make()
    concepts = [Concept("C1", "gout", types=("",)), Concept("C2", "flu", types=("", "Disease"))]
    normalizer = nlp.get_pipe("concept_normalizer")
    normalizer.initialize(lambda: [], nlp=nlp, ontology=Ontology(concepts))
    found = [(ent.text, ent.label_, ent.kb_id_) for ent in nlp("Gout, flu.").ents]
    assert found == [("Gout", "MENTION", "C1"), ("flu", "Disease", "C2")]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("target", "DO"),
        ("short_letters", True),
        ("short_letters", -1),
        ("stop_texts", "disease"),
        ("labels", {"T": 1}),
        ("labels", ["T"]),
        ("labels", {"T": ""}),
        ("label", None),
        ("label", ""),
        ("spans_key", 3),
        ("nested_mentions", "yes"),
        ("coordinations", 1),
    ],
)
def test_invalid_settings_are_refused(setting, value):
    with pytest.raises(ConnormError, match=f"CN006.*{setting}"):
        MentionFinder(spacy.blank("en"), **{setting: value})


def test_unknown_settings_are_refused():
    with pytest.raises(ConnormError, match="CN006.*settings"):
        MentionFinder(spacy.blank("en"), colour="red")


def test_names_of_the_ontology_or_of_annotated_documents_alone(make):
    nlp = make()
    nlp.get_pipe("concept_normalizer").add_synonyms([("pink ribbon illness", "C1"), ("flu", "C2")])
    text = "pink ribbon illness, flu, cancer"
    everything = [("pink ribbon illness", "C1"), ("flu", "C2"), ("cancer", "C2")]
    for target, expected in (("OD", everything), ("O", everything[2:]), ("D", everything[:2])):
        nlp.get_pipe("mention_finder").cfg["target"] = target
        assert found(nlp, text) == expected


def annotated(nlp, *texts):
    """Documents in which what stands in brackets is annotated."""
    for text in texts:
        before, _, rest = text.partition("[")
        marked, _, after = rest.partition("]")
        doc = nlp.make_doc(before + marked + after)
        if marked:
            doc.ents = [doc.char_span(len(before), len(before + marked), label="X")]
        yield doc


def test_what_annotators_do_not_mark_is_learned(make):
    nlp = make()
    finder = nlp.get_pipe("mention_finder")
    texts = ["A cancer", "Cancers", "cancer again", "a [breast cancer]", "haemorrhage", "[WAS]"]
    assert finder.learn_stop_texts(annotated(nlp, *texts), min_times=4) == []
    assert finder.learn_stop_texts(annotated(nlp, *texts)) in (["cancer"], ["Cancers"])
    assert found(nlp, "cancer, breast cancer") == [("breast cancer", "C1")]
    half = ["[haemorrhage]", "haemorrhage", "haemorrhages"]
    assert finder.learn_stop_texts(annotated(nlp, *half)) == []
    assert finder.learn_stop_texts(annotated(nlp, *half), max_share=0.5) == ["haemorrhage"]


def test_annotated_spans_are_where_the_normalizer_looks_for_them(make):
    nlp = make()
    nlp.get_pipe("concept_normalizer").cfg["spans_key"] = "gold"
    docs = list(annotated(nlp, *["a [haemorrhage]"] * 3))
    for doc in docs:
        doc.spans["gold"], doc.ents = list(doc.ents), []
    assert nlp.get_pipe("mention_finder").learn_stop_texts(docs) == []


def test_stop_texts_are_learned_from_documents_alone(make):
    nlp = make()
    finder = nlp.get_pipe("mention_finder")
    with pytest.raises(ConnormError, match="CN006.*docs"):
        finder.learn_stop_texts(["cancer"])
    docs = [nlp.make_doc("cancer")]
    for setting, value in (("min_times", 0), ("max_share", 1.5)):
        with pytest.raises(ConnormError, match=f"CN006.*{setting}"):
            finder.learn_stop_texts(docs, **{setting: value})
    assert finder.learn_stop_texts([]) == []


ANATOMY = [
    Concept("U1", "retina"),
    Concept("U2", "retinal vein"),
    Concept("U3", "hypertension", ("HTN",)),
    Concept("U4", "organism", ("body", "whole organism"), related=("body",)),
    Concept("U5", "cerebellum"),
]


@pytest.fixture(scope="module")
def make_anatomy():
    """A function that makes a pipeline with adjectives and inexact synonyms to find."""

    return partial(make_finder, ANATOMY, first=["abbreviation_resolver"])


@pytest.fixture(scope="module")
def with_and_without_adjectives(make_anatomy):
    """Such a pipeline, and one that does not derive them. Tests do not change them."""
    return make_anatomy(), make_anatomy(derivations=False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Retinal and cerebellar lesions", [("Retinal", "U1"), ("cerebellar", "U5")]),
        ("the retinal veins", [("retinal veins", "U2")]),
        ("hypertensive patients", [("hypertensive", "U3")]),
        ("the vein, retinal", [("retinal", "U1")]),
        ("mental hyper", []),
        ("retinal", [("retinal", "U1")]),
    ],
)
def test_adjectives_are_found_where_the_name_is_the_noun(
    with_and_without_adjectives, text, expected
):
    with_adjectives, without = with_and_without_adjectives
    assert found(with_adjectives, text) == expected
    nouns_only = [each for each in expected if "vein" in each[0]]
    assert found(without, text) == nouns_only


def test_all_overlapping_mentions_come_once(make_anatomy):
    doc = make_anatomy(nested_mentions=True)("retinal vein")
    assert [span.text for span in doc.spans["mentions_all"]] == ["retinal", "retinal vein"]


def test_stop_texts_hold_for_adjectives_and_for_their_nouns(make_anatomy):
    assert found(make_anatomy(stop_texts=["retinal"]), "retinal retina") == [("retina", "U1")]
    assert found(make_anatomy(stop_texts=["retina"]), "retinal retina") == []


def test_short_forms_stand_for_their_long_forms_alone(make_anatomy):
    nlp = make_anatomy()
    text = "renal edema tubular injury necrosis atrophy lesion (RETINAL). RETINAL again"
    assert nlp(text).ents == ()
    assert found(nlp, "RETINAL again") == [("RETINAL", "U1")]


def test_the_explanation_of_an_adjective_has_the_names(make_anatomy):
    nlp = make_anatomy()
    finder = nlp.get_pipe("mention_finder")
    assert finder.explain(nlp("so retinal")[1:2]) == (True, "", ("retina",), "")


def test_inexact_synonyms_are_found_on_request(make_anatomy):
    text = "the body of the whole organism"
    assert found(make_anatomy(), text) == [("whole organism", "U4")]
    both = [("body", "U4"), ("whole organism", "U4")]
    assert found(make_anatomy(inexact_names=True), text) == both


@pytest.mark.parametrize(
    ("inexact", "expected"),
    [(False, [("cancer", "C2"), ("spot", "C8")]), (True, [("cancer spot", "C7")])],
)
def test_an_inexact_synonym_hides_no_names_unless_it_is_found_itself(make, inexact, expected):
    spots = [
        Concept("C7", "lesion", ("cancer spot",), related=("cancer spot",)),
        Concept("C8", "spot"),
    ]
    nlp = make(inexact_names=inexact)
    normalizer = nlp.get_pipe("concept_normalizer")
    normalizer.initialize(lambda: [], nlp=nlp, ontology=Ontology([*CONCEPTS, *spots]))
    assert found(nlp, "a cancer spot") == expected


@pytest.mark.parametrize(
    ("name", "is_found"),
    [
        ("ganglion cell layer", True),
        ("cell layer", False),  # too short
        ("inner plexiform layer", False),  # another concept's, too
    ],
)
def test_an_inexact_synonym_of_three_words_is_found_if_no_other_concept_has_it(
    make, name, is_found
):
    synonyms = ("ganglion cell layer", "cell layer", "inner plexiform layer")
    layers = [
        Concept("C7", "retinal ganglionic lamina", synonyms, related=synonyms),
        Concept("C8", "internal lamina", synonyms[2:], related=synonyms[2:]),
    ]
    nlp = make()
    normalizer = nlp.get_pipe("concept_normalizer")
    normalizer.initialize(lambda: [], nlp=nlp, ontology=Ontology(layers))
    assert found(nlp, name) == [(name, "C7")] * is_found


SHARED = [
    Concept("X1", "abnormal ear", ("Ear anomaly",)),
    Concept("X2", "Ear anomalies", ("abnormality of the ear",)),
    Concept("X3", "nucleus", ("nuclear body of a cell", "cellular nuclear structure")),
    Concept("X4", "cell nucleus"),
]


@pytest.fixture(scope="module")
def with_shared_words():
    """A pipeline whose names have words in common. Tests do not change it."""
    return make_finder(SHARED)


@pytest.mark.parametrize(
    ("text", "name", "concept"),
    [
        ("Ear anomalies", "Ear anomalies", "X2"),
        ("EAR ANOMALY", "Ear anomaly", "X2"),  # the preferred name, in the plural
        ("Nucleus of the cell", "cell nucleus", "X4"),
        ("anomaly of the ear", "Ear anomalies", "X2"),
    ],
)
def test_a_mention_is_what_the_name_that_it_was_found_by_denotes(
    with_shared_words, text, name, concept
):
    (ent,) = with_shared_words(text).ents
    assert (ent.text, ent._.matched_name, ent.kb_id_) == (text, name, concept)
    explained = with_shared_words.get_pipe("concept_normalizer").explain(ent)
    assert [interpretation.kind for interpretation in explained.interpretations] == ["found name"]
    assert explained.interpretations[0].texts == (name,)


def test_a_name_with_other_words_answers_unless_the_mention_is_nearer_to_another():
    nlp = spacy.blank("en")
    nlp.add_pipe("mention_finder")
    normalizer = nlp.add_pipe("concept_normalizer", config=NGRAMS)
    names = ("Abnormal weight gain", "Failure to gain weight", "Agitation", "Psychomotor agitation")
    concepts = [Concept(f"X{number}", name) for number, name in enumerate(names)]
    normalizer.initialize(lambda: [], ontology=Ontology(concepts))
    gain, agitation = nlp("Has wt gain. Agitation").ents
    assert (gain._.matched_name, gain.kb_id_) == ("Abnormal weight gain", "X0")
    kinds = [interpretation.kind for interpretation in normalizer.explain(gain).interpretations]
    assert kinds == ["reworded name", "as written"]
    assert gain._.candidates[0].score == pytest.approx(0.93)
    assert agitation.kb_id_ == "X2"
    normalizer.add_synonyms([("wt gain", "X1")])
    assert found(nlp, "Has wt gain.") == [("wt gain", "X1")]


def test_annotated_data_and_users_overrule_the_name_that_was_found(make):
    nlp = make()
    (ent,) = nlp("Breast cancers").ents
    assert (ent._.matched_name, ent.kb_id_) == ("breast cancer", "C1")
    nlp.get_pipe("concept_normalizer").add_synonyms([("Breast cancers", "C2")])
    assert found(nlp, "Breast cancers") == [("Breast cancers", "C2")]
    assert found(nlp, "cancer of the breast") == [("cancer of the breast", "C1")]


def test_the_name_of_another_index_is_not_searched(make):
    doc = make()("breast cancers")
    other = spacy.blank("en").add_pipe("concept_normalizer", config=NGRAMS)
    other.initialize(lambda: [], ontology=Ontology([Concept("Y1", "breasts cancer")]))
    (ent,) = other(doc).ents
    assert [interpretation.kind for interpretation in other.explain(ent).interpretations] == [
        "as written"
    ]
    assert ent.kb_id_ == "Y1"


def test_nested_mentions_are_found_and_linked_in_the_same_pass(make_anatomy):
    nlp = make_anatomy(nested_mentions=True)
    doc = nlp("retinal vein")
    assert [(ent.text, ent.kb_id_) for ent in doc.ents] == found(make_anatomy(), "retinal vein")
    spans = [(span.text, span.kb_id_) for span in doc.spans["mentions_all"]]
    assert spans == [("retinal", "U1"), *((ent.text, ent.kb_id_) for ent in doc.ents)]
    finder = nlp.get_pipe("mention_finder")
    assert not finder.explain(doc[:1]).is_mention
    assert "mentions_all" not in make_anatomy()("retinal vein").spans
    again = nlp.from_bytes(nlp.to_bytes())("retinal vein")
    assert len(again.spans["mentions_all"]) == 2


def test_nested_parts_of_a_coordination_are_mentions(make):
    doc = make(nested_mentions=True)("breast cancer and Crohn's disease")
    assert [span.text for span in doc.spans["mentions_all"]] == [
        "breast cancer",
        "cancer",
        "Crohn's disease",
    ]


def test_no_nested_mentions_are_asked_of_another_component():
    nlp = spacy.blank("en")
    normalizer = nlp.add_pipe("concept_normalizer", config=NGRAMS)
    with pytest.raises(ConnormError, match="CN006.*mention_finder"):
        find_nested_mentions(nlp, normalizer)


@pytest.fixture(scope="module")
def with_verbs():
    """A pipeline with names of participles. Tests do not change it."""
    names = ["retinal vein", "occluded retinal vein", "collar bone", "occluded vein"]
    return make_finder(Concept(f"V{number}", name) for number, name in enumerate(names))


@pytest.mark.parametrize(
    "text",
    [
        "The [retinal veins are occluded].",
        "Occlusion was in the [retinal vein]",
        "the [retinal vein] is an occlusion",
        "WAS [occluded retinal vein]",
        "a [vein occluded]",
        "[bone of the collar]",
    ],
)
def test_verbs_may_stand_before_an_adjective_and_nouns_keep_their_order(with_verbs, text):
    assert marked(with_verbs, text) == text


def test_a_synonym_removed_between_finder_and_normalizer_answers_for_what_was_found(make):
    nlp = make()
    finder, normalizer = nlp.get_pipe("mention_finder"), nlp.get_pipe("concept_normalizer")
    normalizer.add_synonyms([("blue spots", "C5")])
    removed = [("haemorrhage", "C5"), ("blue spots", "C5")]
    texts = ["A haemorrhage and blue spots.", "A cancer."]
    docs = [finder(nlp.make_doc(text)) for text in texts]
    normalizer.remove_synonyms(removed)
    later = list(normalizer.pipe(docs))
    assert [[ent.kb_id_ for ent in doc.ents] for doc in later] == [["C5", "C5"], ["C2"]]
    assert {ent._.candidates[0].text for ent in later[0].ents} == {"haemorrhage", "blue spots"}
    assert not nlp(texts[0]).ents


def test_a_synonym_added_between_finder_and_normalizer_is_known_to_the_normalizer(make):
    nlp = make()
    finder, normalizer = nlp.get_pipe("mention_finder"), nlp.get_pipe("concept_normalizer")
    doc = finder(nlp.make_doc("A cancer."))
    normalizer.add_synonyms([("cancer", "C6")], count=3)
    assert normalizer(doc).ents[0].kb_id_ == "C6"

import pytest
import spacy
from asserted_pipeline import default_pipeline, make_pipeline, read

from spacy_connorm.documents.spans import get_assertions
from spacy_connorm.errors import ConnormError
from spacy_connorm.pipeline.settings import TERMS


def test_negation_is_read_as_negspacys_own_attribute():
    nlp = default_pipeline()
    (fever,) = nlp("denies fever").ents
    assert fever._.negex is True
    assert (fever._.possible, fever._.family, fever._.history) == (False, False, False)


def test_it_tells_all_that_it_assigns():
    nlp = default_pipeline()
    (fever,) = nlp("denies fever").ents
    told = nlp.analyze_pipes(keys=["assigns"])["summary"]["assertion_marker"]["assigns"]
    set_here = {key[1] for key in fever.doc.user_data if key[0] == "._."}
    assert {*told} == {f"span._.{attribute}" for attribute in set_here}


def test_a_text_without_mentions_is_left_as_it_is():
    nlp = default_pipeline()
    doc = nlp("Denies everything.")
    assert not doc.ents and not doc.user_data


def test_spans_of_a_key_are_marked():
    nlp = make_pipeline(spans_key="findings")
    doc = nlp.make_doc("no fever")
    doc.spans["findings"] = [doc.char_span(3, 8, label="FINDING")]
    doc = nlp.get_pipe("assertion_marker")(doc)
    assert get_assertions(doc.spans["findings"][0]) == ("negated",)


def test_own_words_take_the_place_of_the_usual_ones(tmp_path):
    own = {kind: [] for kind in TERMS} | {"preceding_negations": ["kein"]}
    make_pipeline(terms={"negated": own}).to_disk(tmp_path)
    nlp = spacy.load(tmp_path)
    assert read(nlp("kein fever")) == {"fever": ("negated",)}
    assert read(nlp("no fever")) == {"fever": ()}
    nlp.get_pipe("assertion_marker").cfg["terms"] = {}
    assert read(nlp("no fever")) == {"fever": ("negated",)}


def test_settings_pass_through_bytes():
    marker = make_pipeline(spans_key="findings").get_pipe("assertion_marker")
    other = make_pipeline().get_pipe("assertion_marker").from_bytes(marker.to_bytes())
    assert other.cfg == marker.cfg
    with pytest.raises(ConnormError, match="CN402"):
        other.from_bytes(b"\xc1")


def test_words_in_another_form_are_refused():
    with pytest.raises(ConnormError, match="CN006.*negated.*pseudo_negations"):
        make_pipeline(terms={"negated": {"words": ["no"]}})


@pytest.mark.parametrize(
    "word, own", [("denies", None), ("kein", {"preceding_negations": ["kein"]})]
)
def test_a_memory_zone_ends_and_assertions_go_on(word, own):
    nlp = make_pipeline()
    if own:
        terms = {"negated": {kind: [] for kind in TERMS} | own}
        nlp.get_pipe("assertion_marker").cfg["terms"] = terms
    for _ in range(3):
        with nlp.memory_zone():
            assert read(nlp(f"{word} fever")) == {"fever": ("negated",)}


def test_workers_hand_assertions_back():
    docs = make_pipeline().pipe(["no fever", "cough"], n_process=2, batch_size=1)
    assert list(map(read, docs)) == [{"fever": ("negated",)}, {"cough": ()}]


def test_an_attribute_of_another_component_may_be_anything():
    doc = spacy.blank("en")("fever")
    doc.ents = [doc.char_span(0, 5, label="FINDING")]
    doc.user_data["._.", "negex", 0, 5] = "perhaps"
    assert read(doc) == {"fever": ()}


def test_mentions_inside_others_are_negated_with_them():
    nlp = default_pipeline()
    doc = nlp.make_doc("no high fever. A cough")
    doc.ents = [doc.char_span(3, 13, label="FINDING"), doc.char_span(17, 22, label="FINDING")]
    doc.spans["mentions_all"] = [doc.char_span(8, 13), doc.char_span(17, 22)]
    nlp.get_pipe("assertion_marker")(doc)
    assert list(map(get_assertions, doc.spans["mentions_all"])) == [("negated",), ()]


def test_own_words_take_the_place_of_patterns_too():
    own = {kind: [] for kind in TERMS} | {"preceding_negations": ["oma"]}
    text = "Her brother, aged 12, has asthma. Fits in a cousin. His mother's fever. Oma cough"
    doc = make_pipeline(terms={"family": own})(text)
    assert read(doc) == {"asthma": (), "fits": (), "fever": (), "cough": ("family",)}


def test_signs_of_the_notation_in_own_words_are_meant_as_they_are():
    own = {kind: [] for kind in TERMS} | {"preceding_negations": ["(kein|ohne)"]}
    nlp = make_pipeline(terms={"negated": own})
    assert read(nlp("(kein|ohne) fever")) == {"fever": ("negated",)}
    assert read(nlp("kein fever")) == {"fever": ()}


def test_a_language_without_a_folder_marks_nothing():
    doc = make_pipeline("xx")("No fever. Mother: asthma")
    assert read(doc) == {"fever": (), "asthma": ()}


@pytest.mark.parametrize(
    "text, kind",
    [
        *(("Probable fever", "suspected"), ("Fever cannot be excluded", "suspected")),
        *(("R/o fever", "differential"), ("Fever?", "differential")),
        *(("Return if fever", "hypothetical"), ("Risk of fever", "hypothetical")),
        *(("No fever", ""), ("Is it fever? Yes", ""), ("Likely fever (cough)", "suspected")),
    ],
)
def test_possible_mentions_have_a_kind(text, kind):
    assert default_pipeline()(text).ents[-1]._.possibility == kind

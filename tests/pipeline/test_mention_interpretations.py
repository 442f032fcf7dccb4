"""The component reads mentions: what documents define, composites, probabilities."""

import pytest
import spacy
from nil_settings import nil_below
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example

from spacy_connorm import Concept, Ontology
from spacy_connorm.errors import ConnormError

CONCEPTS = (
    Concept("B", "breast cancer", ("breast neoplasm",)),
    Concept("O", "ovarian cancer"),
    Concept("M", "diffuse mesangial sclerosis"),
    Concept("I", "isolated diffuse mesangial sclerosis"),
    Concept("A", "atrial fibrillation"),
)
CALIBRATION = {"intercept": -4.0, "score": 6.0, "margin": 5.0}
NOTE = (
    "Diffuse mesangial sclerosis (DMS) was found; isolated DMS (IDMS) was not. IDMS again, and "
    "breast and ovarian cancer."
)


def annotate(doc, *mentions):
    """Make each first occurrence of a text an entity."""
    starts = [doc.text.rindex(mention) for mention in mentions]
    doc.ents = [
        doc.char_span(start, start + len(mention), label="Disease")
        for start, mention in zip(starts, mentions, strict=True)
    ]
    return doc


@pytest.fixture
def make(blank_pipeline):
    """A function that makes a pipeline that resolves abbreviations and normalizes entities."""

    def make(*, resolver=True, examples=(), **settings):
        nlp = blank_pipeline(**settings)
        nlp.remove_pipe("entity_ruler")
        if resolver:
            nlp.add_pipe("abbreviation_resolver", first=True)
        normalizer = nlp.get_pipe("concept_normalizer")
        normalizer.initialize(lambda: examples, nlp=nlp, ontology=Ontology(CONCEPTS))
        return nlp

    return make


def read(nlp, text, *mentions):
    return nlp(annotate(nlp.make_doc(text), *mentions))


def ids(doc):
    return [ent.kb_id_ for ent in doc.ents]


def test_a_note_as_people_write_it(make):
    doc = read(make(), NOTE, "IDMS", "breast and ovarian cancer")
    assert ids(doc) == ["I", "B|O"]
    assert doc.ents[0]._.candidates[0].searched == "isolated Diffuse mesangial sclerosis"
    assert [
        (candidate.part, candidate.searched)
        for candidate in doc.ents[1]._.candidates
        if candidate.score == 1
    ] == [
        (1, "breast cancer"),
        (2, "ovarian cancer"),
    ]


@pytest.mark.parametrize(
    ("settings", "searched"),
    [
        ({"resolver": False, "read_initials": False}, "IDMS"),
        # By the names of the index.
        ({"resolver": False}, "isolated diffuse mesangial sclerosis"),
        ({}, "isolated Diffuse mesangial sclerosis"),
    ],
    ids=str,
)
def test_abbreviations_can_be_left_alone(make, settings, searched):
    doc = read(make(**settings), NOTE, "IDMS")
    assert {candidate.searched for candidate in doc.ents[0]._.candidates} == {searched}


def test_composites_can_be_left_alone(make):
    doc = read(make(split_composites=False), NOTE, "breast and ovarian cancer")
    assert ids(doc)[0] in ("B", "O")
    assert {candidate.part for candidate in doc.ents[0]._.candidates} == {0}


def test_top_k_counts_for_each_part(make):
    doc = read(make(top_k=1), NOTE, "breast and ovarian cancer")
    assert [candidate.part for candidate in doc.ents[0]._.candidates] == [1, 2]


def test_parts_under_the_threshold_are_left_out(make):
    nlp = make(**nil_below(0.999))
    doc = read(nlp, "breast and ovarial cancer", "breast and ovarial cancer")
    parts = {candidate.part: candidate for candidate in doc.ents[0]._.candidates[::-1]}
    assert parts[1].score == 1
    assert 0.6 < parts[2].score < 0.999
    assert ids(doc) == ["B"]


def test_what_a_user_says_of_a_short_form_is_heard(make):
    nlp = make()
    nlp.get_pipe("concept_normalizer").add_synonyms([("AF", "A")])
    doc = read(nlp, "After atrial flutter (AF), AF again.", "AF")
    assert ids(doc) == ["A"]
    assert doc.ents[0]._.candidates[0].searched == "AF"


def test_long_forms_of_annotated_mentions_are_annotated_data(make):
    text = "Afebrile ablation (AFA) is made up. AFA it is."
    gold = annotate(spacy.blank("en").make_doc(text), "AFA")
    gold.set_ents([Span(gold, ent.start, ent.end, "Disease", kb_id="A") for ent in gold.ents])
    example = Example(spacy.blank("en").make_doc(text), gold)
    normalizer = make(examples=[example]).get_pipe("concept_normalizer")
    for text in ("afebrile ablation", "AFA"):
        best = normalizer.candidates([text])[0][0]
        assert (best.concept_id, best.score) == ("A", 1)


# Calibration


def test_probabilities_stand_beside_scores(make):
    doc = read(make(calibration=CALIBRATION), "breast cancer", "breast cancer")
    first, second = doc.ents[0]._.candidates[:2]
    assert 0 < second.probability < first.probability < 1
    assert first.score == 1
    doc = read(make(compare_words=False), "breast cancer", "breast cancer")
    assert doc.ents[0]._.candidates[0].probability is None


def test_bad_calibration_is_refused(blank_pipeline):
    with pytest.raises(ConnormError, match="CN006.*calibration"):
        blank_pipeline(calibration={"slope": 1.0})


def test_unknown_setting_is_refused(make):
    from spacy_connorm.pipeline.concept_normalizer import ConceptNormalizer

    made = make().get_pipe("concept_normalizer")
    parts = {"encoder": made.lookup.encoder, "index": made.lookup.backend}
    with pytest.raises(ConnormError, match="CN006.*nil_treshold"):
        ConceptNormalizer(made.vocab, **parts, sieve=made.lookup.sieve, nil_treshold=0.5)


# Whole pipelines


def test_everything_survives_saving(make, tmp_path):
    settings = {"calibration": CALIBRATION, "split_composites": False}
    nlp = make(**settings)
    nlp.to_disk(tmp_path / "pipeline")
    loaded = spacy.load(tmp_path / "pipeline")
    one, other = (
        read(each, NOTE, "IDMS", "breast and ovarian cancer").ents for each in (nlp, loaded)
    )
    assert [ent._.candidates for ent in one] == [ent._.candidates for ent in other]
    assert one[0]._.candidates[0].probability is not None


def test_answers_survive_a_docbin(make):
    doc = read(make(), NOTE, "IDMS", "breast and ovarian cancer")
    content = DocBin(docs=[doc], store_user_data=True).to_bytes()
    (copy,) = DocBin().from_bytes(content).get_docs(doc.vocab)
    assert [ent._.candidates for ent in copy.ents] == [ent._.candidates for ent in doc.ents]
    joined = Doc.from_docs([copy, doc])
    assert [ent.kb_id_ for ent in joined.ents] == ids(doc) * 2


def test_workers_read_as_the_parent_does(make):
    nlp = make()
    docs = [annotate(nlp.make_doc(NOTE), "IDMS", "breast and ovarian cancer") for _ in range(3)]
    texts = [doc.copy() for doc in docs]
    assert [ids(doc) for doc in nlp.pipe(docs, n_process=2)] == [ids(nlp(doc)) for doc in texts]


def test_explanation_tells_all_readings(make):
    nlp = make()
    doc = read(nlp, NOTE, "IDMS", "breast and ovarian cancer")
    normalizer = nlp.get_pipe("concept_normalizer")
    abbreviation, composite = map(normalizer.explain, doc.ents)
    assert [interpretation.kind for interpretation in abbreviation.interpretations] == ["long form"]
    assert abbreviation.searched == "isolated Diffuse mesangial sclerosis"
    assert [interpretation.kind for interpretation in composite.interpretations][:2] == [
        "parts",
        "as written",
    ]
    assert composite.interpretations[0].texts == ("breast cancer", "ovarian cancer")
    assert composite.steps[0].search == "D-T"

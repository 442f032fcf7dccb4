import spacy

from spacy_connorm.documents.abbreviations import find_long_forms, get_abbreviations
from spacy_connorm.pipeline.abbreviation_resolver import AbbreviationResolver

TEXTS = ["Deep vein thrombosis (DVT) again. No PE.", "", "PE (pulmonary embolism). DVT?"]


def make_pipeline():
    nlp = spacy.blank("en")
    nlp.add_pipe("abbreviation_resolver")
    return nlp


def read(doc):
    return [(each.short, each.long) for each in get_abbreviations(doc)]


EXPECTED = [[("DVT", "Deep vein thrombosis")], [], [("PE", "pulmonary embolism")]]


def test_every_document_has_its_own_definitions():
    nlp = make_pipeline()
    assert isinstance(nlp.get_pipe("abbreviation_resolver"), AbbreviationResolver)
    docs = list(nlp.pipe(TEXTS))
    assert [read(doc) for doc in docs] == EXPECTED
    assert find_long_forms(docs[0], [docs[0][-2:-1], docs[0][4:5]]) == ["", "Deep vein thrombosis"]


def test_workers_hand_definitions_back():
    docs = make_pipeline().pipe(TEXTS, n_process=2, batch_size=1)
    assert [read(doc) for doc in docs] == EXPECTED


def test_a_pipeline_is_loaded_as_it_was_saved(tmp_path):
    make_pipeline().to_disk(tmp_path)
    nlp = spacy.load(tmp_path)
    assert nlp.pipe_names == ["abbreviation_resolver"]
    assert [read(doc) for doc in nlp.pipe(TEXTS)] == EXPECTED


def test_it_tells_what_it_assigns():
    nlp = make_pipeline()
    analysis = nlp.analyze_pipes(keys=["assigns"])
    assigned = analysis["summary"]["abbreviation_resolver"]["assigns"]
    assert assigned == ["doc._.abbreviations", "span._.long_form"]

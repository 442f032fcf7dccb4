"""Where names stand, as features of tokens."""

import numpy as np
import pytest
import spacy
from finding import NGRAMS
from spacy.tokens import Span
from spacy.training import Example
from spacy.util import registry
from thinc.api import Model

from spacy_connorm import Concept, Ontology

CNN = {
    "@architectures": "spacy.MaxoutWindowEncoder.v2",
    "width": 16,
    "window_size": 1,
    "maxout_pieces": 2,
    "depth": 1,
}
# It knows nothing of a word but the length of its shape.
SHAPES = {
    "@architectures": "spacy.MultiHashEmbed.v2",
    "width": 16,
    "attrs": ["SHAPE"],
    "rows": [50],
    "include_static_vectors": False,
}
pytestmark = pytest.mark.usefixtures("name_embed")
NAMES = ("flu", "mumps", "gout", "acne")
OTHERS = ("tea", "bread", "milk", "rice")


@pytest.fixture
def doc():
    return spacy.blank("en")("a heart attack or flu")


def zeros(width):
    def forward(model, docs, is_train):
        return [model.ops.alloc2f(len(doc), width) for doc in docs], lambda gradient: []

    return Model("zeros", forward, dims={"nO": width})


def embed(**settings):
    make = registry.architectures.get("assets.NameEmbed.v1")
    return make(zeros(2), **{"spans_key": "names", **settings})


def test_tokens_begin_continue_and_end_names(doc):
    doc.spans["names"] = [Span(doc, 0, 3, "X"), Span(doc, 4, 5, "X")]
    model = embed(scale=2)
    model.initialize(X=[doc])
    (rows,) = model.predict([doc])
    assert rows.shape == (5, 7)
    assert rows[:, :2].tolist() == [[0, 0]] * 5
    begin, inside, last, unit, outside = (np.eye(5) * 2).tolist()
    assert rows[:, 2:].tolist() == [begin, inside, last, outside, unit]


def test_empty_spans_are_not_taken_for_names(doc):
    doc.spans["names"] = [doc[1:1], doc[5:5]]
    model = embed()
    model.initialize(X=[doc])
    assert model.predict([doc])[0][:, 2:].tolist() == [[0, 0, 0, 0, 1]] * 5


def test_a_document_without_the_group_has_no_names(doc):
    model = embed()
    empty = doc[:0].as_doc()
    model.initialize(X=[doc])
    rows, none = model.predict([doc, empty])
    assert rows[:, 6].tolist() == [1] * 5 and not rows[:, :6].any()
    assert none.shape == (0, 7)


def test_a_width_mixes_vectors_and_features(doc):
    doc.spans["names"] = [doc[4:5]]
    model = embed(width=3)
    model.initialize(X=[doc])
    (rows,), backward = model.begin_update([doc])
    assert rows.shape == (5, 3)
    assert (rows[0] == rows[1]).all() and (rows[0] != rows[4]).any()
    assert backward([np.ones_like(rows)]) == []
    copy = embed(width=3)
    copy.initialize(X=[doc])
    copy.from_bytes(model.to_bytes())
    assert (copy.predict([doc])[0] == rows).all()


@pytest.fixture
def tagger():
    """From plain text to mentions, by an NER that sees names of the ontology, not words."""
    nlp = spacy.blank("en")
    nlp.add_pipe("mention_finder", config={"spans_key": "names", "target": "O"})
    tok2vec = {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": {
            "@architectures": "assets.NameEmbed.v1",
            "embed": SHAPES,
            "spans_key": "names",
            "width": 16,
        },
        "encode": CNN,
    }
    nlp.add_pipe("ner", config={"model": {"tok2vec": tok2vec}})
    normalizer = nlp.add_pipe("concept_normalizer", config=NGRAMS)
    ontology = Ontology([Concept(f"C{place}", name) for place, name in enumerate(NAMES)])
    normalizer.initialize(lambda: [], nlp=nlp, ontology=ontology, synonyms=[("tea", "C0")])
    return nlp


def test_an_ner_learns_from_names_and_finds_others(tagger, tmp_path):
    spacy.util.fix_random_seed(0)
    examples = []
    for name, other in zip(NAMES[:2], OTHERS[:2], strict=True):
        text = f"Had {other} and {name}."
        start = text.index(name)
        made = tagger.make_doc(text)
        entities = {"entities": [(start, start + len(name), "DISEASE")]}
        examples.append(Example.from_dict(made, entities))
    with tagger.select_pipes(enable=["mention_finder", "ner"]):
        tagger.initialize(lambda: examples)
    with tagger.select_pipes(enable=["mention_finder", "ner", "concept_normalizer"]):
        for _ in range(40):
            tagger.update(examples, annotates=["mention_finder"], exclude=["concept_normalizer"])
    tagger.to_disk(tmp_path)
    for nlp in (tagger, spacy.load(tmp_path)):
        doc = nlp("Had rice and gout.")
        assert [(ent.text, ent.label_, ent.kb_id_) for ent in doc.ents] == [
            ("gout", "DISEASE", "C2")
        ]
        assert [span.text for span in doc.spans["names"]] == ["gout"]
        assert not nlp("Had tea.").spans["names"], "D is not looked at"

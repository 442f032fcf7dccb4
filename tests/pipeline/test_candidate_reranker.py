"""Candidates ranked again, by what annotated documents say and by the sentence."""

import pickle

import pytest
import spacy
from spacy.cli.train import train
from spacy.tokens import DocBin, Span
from spacy.training import Example
from spacy.util import fix_random_seed
from thinc.api import Config

from spacy_connorm import Concept, Ontology
from spacy_connorm.errors import ConnormError, ConnormWarning
from spacy_connorm.pipeline.loading import linking_names
from spacy_connorm.pipeline.marked_corpus import create_marked_reader, mark_mentions

WORDS = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "pretrained_vectors": None,
    "width": 8,
    "depth": 1,
    "embed_size": 200,
    "window_size": 1,
    "maxout_pieces": 2,
    "subword_features": False,
}
# "cold" is the common cold (C3) and a low temperature (C4), and the sieve takes the first.
SENTENCES = [
    *[(f"Patient {number} has a cold today", "C3") for number in "abcdef"],
    *[(f"Weather {number} was cold outside", "C4") for number in "abcdef"],
]
ANSWERS = {"The patient has a cold": "C3", "This weather was cold": "C4"}
ALL_SEARCHED = {"@misc": "spacy-connorm.Sieve.v1", "searches": ["OD-T"], "thresholds": []}


def annotated(nlp, text, concept):
    doc = nlp.make_doc(text)
    place = [token.text for token in doc].index("cold")
    doc.ents = [Span(doc, place, place + 1, "Disease", kb_id=concept)]
    return doc


def examples(nlp, sentences):
    found = [
        Example(nlp.make_doc(text), annotated(nlp, text, concept)) for text, concept in sentences
    ]
    for example in found:
        mark_mentions(example)
    return found


@pytest.fixture
def make(make_pipeline):
    """A function that makes a pipeline with a reranker, not trained."""

    def build(model=None, **settings):
        nlp = make_pipeline(sieve=ALL_SEARCHED, **settings)
        block = {"@architectures": "spacy-connorm.CandidateReranker.v1", "tok2vec": None}
        nlp.add_pipe("candidate_reranker", config={"model": {**block, **(model or {})}})
        return nlp

    return build


@pytest.fixture
def trained():
    """A function that trains a pipeline's reranker alone."""

    def run(nlp, sentences, *, epochs=40):
        fix_random_seed(0)
        reranker = nlp.get_pipe("candidate_reranker")
        learned = examples(nlp, sentences)
        reranker.initialize(lambda: learned, nlp=nlp)
        optimizer = nlp.create_optimizer()
        optimizer.learn_rate = 0.02
        losses = [
            reranker.update(learned, sgd=optimizer)["candidate_reranker"] for _ in range(epochs)
        ]
        assert losses[-1] < losses[0]
        return nlp

    return run


def ids(nlp, texts):
    return [doc.ents[0].kb_id_ for doc in nlp.pipe(texts)]


def test_it_learns_what_annotators_mean(make, trained):
    nlp = make(synonyms=[("cold", "C4")] * 3)
    sieve = nlp.get_pipe("concept_normalizer")
    sieve.remove_synonyms([("cold", "C4")])
    sieve.add_synonyms([("cold", "C4")])
    trained(nlp, [(text, "C3") for text, _ in SENTENCES])
    assert ids(nlp, list(ANSWERS)) == ["C3", "C3"]


def test_the_sentence_decides(make, trained, hashes):
    nlp = trained(make({"tok2vec": WORDS}, encoder=hashes["encoder"]), SENTENCES)
    assert ids(nlp, list(ANSWERS)) == list(ANSWERS.values())


def test_candidates_attributes_and_ids_agree_and_scores_stay(make, trained, hashes):
    nlp = trained(make({"tok2vec": WORDS}, encoder=hashes["encoder"]), SENTENCES)
    text = "This weather was cold"
    with nlp.select_pipes(disable="candidate_reranker"):
        before = nlp(text).ents[0]._.candidates
    span = nlp(text).ents[0]
    assert span._.candidates[0].concept_id == span.kb_id_ == span._.kb_id == span._.kb_ents[0][0]
    assert set(span._.candidates) == set(before) and span._.candidates != before


def test_an_untrained_one_keeps_the_order(make):
    nlp = make()
    nlp.get_pipe("candidate_reranker").initialize(lambda: examples(nlp, SENTENCES), nlp=nlp)
    assert ids(nlp, list(ANSWERS)) == ["C3", "C3"]


def test_what_has_no_concept_stays_without(make, trained, hashes):
    nlp = trained(make(nil_threshold=1.0, encoder=hashes["encoder"]), SENTENCES)
    assert ids(nlp, ["He took ASA"]) == ["NIL"]


@pytest.mark.parametrize("held_out", [True, False])
def test_a_training_document_is_left_out_of_d_if_d_has_it(make_pipeline, held_out):
    """Its own mentions would tell the answer."""
    nlp = make_pipeline(sieve=ALL_SEARCHED, synonyms=[("cold snap", "C5")])
    nlp.add_pipe("candidate_reranker", config={"held_out": held_out})
    doc = nlp.make_doc("A cold snap")
    doc.ents = [Span(doc, 1, 3, "Disease", kb_id="C5")]
    example = Example(nlp.make_doc(doc.text), doc)
    mark_mentions(example)
    batch = nlp.get_pipe("candidate_reranker")._prepare(example).batch
    assert (batch.names[0] == "dizziness") is not held_out
    assert batch.features[0, 0] < 0.9 if held_out else batch.features[0, 0] > 0.99


def test_documents_without_mentions_or_choices(make, trained):
    nlp = make()
    sentences = [*SENTENCES, ("Nothing cold here", "C99")]
    learned = examples(nlp, sentences)
    empty = Example(nlp.make_doc("Nothing"), nlp.make_doc("Nothing"))
    reranker = nlp.get_pipe("candidate_reranker")
    reranker.initialize(lambda: [empty, *learned], nlp=nlp)
    assert reranker.update([empty], sgd=nlp.create_optimizer()) == {"candidate_reranker": 0.0}
    assert reranker.update([empty, *learned], sgd=nlp.create_optimizer())["candidate_reranker"] > 0
    assert [len(doc.ents) for doc in nlp.pipe(["", "Nothing", "It was cold"])] == [0, 0, 1]


def test_saved_loaded_pickled_and_in_workers(make, trained, hashes, tmp_path):
    nlp = trained(make({"tok2vec": WORDS}, encoder=hashes["encoder"]), SENTENCES)
    expected = ids(nlp, list(ANSWERS))
    nlp.to_disk(tmp_path / "pipeline")
    loaded = spacy.load(tmp_path / "pipeline")
    assert ids(loaded, list(ANSWERS)) == expected
    assert [doc.ents[0].kb_id_ for doc in loaded.pipe(ANSWERS, n_process=2)] == expected
    reranker = pickle.loads(pickle.dumps(loaded.get_pipe("candidate_reranker")))
    with loaded.select_pipes(disable="candidate_reranker"):
        docs = list(loaded.pipe(ANSWERS))
    assert [reranker(doc).ents[0].kb_id_ for doc in docs] == expected
    again = make({"tok2vec": WORDS}, encoder=hashes["encoder"])
    again.get_pipe("candidate_reranker").from_bytes(nlp.get_pipe("candidate_reranker").to_bytes())
    assert ids(again, list(ANSWERS)) == expected


def test_one_from_another_pipeline_warns(make, trained, blank_pipeline, tmp_path):
    nlp = blank_pipeline(sieve=ALL_SEARCHED)
    ontology = Ontology([Concept("C3", "cold"), Concept("C4", "cold")])
    nlp.get_pipe("concept_normalizer").initialize(lambda: [], nlp=nlp, ontology=ontology)
    nlp.add_pipe("candidate_reranker", source=trained(make(), SENTENCES))
    with pytest.warns(ConnormWarning, match="CNW004.*'candidate_reranker'.*'concept_normalizer'"):
        nlp("It was cold")
    assert len(ids(nlp, ["It was cold"])) == 1  # it warns once
    nlp.to_disk(tmp_path / "saved")
    assert len(ids(spacy.load(tmp_path / "saved"), ["It was cold"])) == 1


def test_spans_of_a_group_and_a_prefix(make, trained):
    settings = {"spans_key": "sc", "attribute_prefix": "mesh_"}
    nlp = make(**settings)
    docs = []
    for text, concept in SENTENCES:
        doc = annotated(nlp, text, concept)
        doc.spans["sc"], doc.ents = list(doc.ents), []
        docs.append(Example(nlp.make_doc(text), doc))
        mark_mentions(docs[-1])
    reranker = nlp.get_pipe("candidate_reranker")
    reranker.initialize(lambda: docs, nlp=nlp)
    optimizer = nlp.create_optimizer()
    optimizer.learn_rate = 0.02
    for _ in range(40):
        assert reranker.update(docs[6:], sgd=optimizer)["candidate_reranker"] > 0  # all mean C4
    marked = nlp.get_pipe("concept_normalizer")(docs[6].predicted)
    assert marked.spans["sc"][0]._.mesh_kb_id == "C3"
    assert reranker(marked).spans["sc"][0]._.mesh_kb_id == "C4"
    assert not marked.spans["sc"][0].kb_id_


@pytest.mark.parametrize(
    ("break_it", "code"),
    [
        (lambda nlp: nlp.remove_pipe("concept_normalizer"), "CN015"),
        (lambda nlp: nlp.disable_pipe("concept_normalizer"), "CN016"),
        (lambda nlp: None, "CN017"),
    ],
)
def test_what_is_missing_is_said(make, trained, break_it, code):
    nlp = make()
    if code != "CN017":
        trained(nlp, SENTENCES, epochs=2)
    break_it(nlp)
    with pytest.raises(ConnormError, match=code):
        nlp("It was cold")


def test_another_normalizer_than_the_named_one(make):
    nlp = make()
    nlp.get_pipe("candidate_reranker").cfg["normalizer"] = "mesh"
    with pytest.raises(ConnormError, match="CN015.*'mesh'"):
        nlp("It was cold")


def test_nothing_to_learn_from(make):
    nlp = make()
    with pytest.raises(ConnormError, match="CN018"):
        nlp.get_pipe("candidate_reranker").initialize(lambda: [], nlp=nlp)


def test_sentences_need_dense_vectors(make):
    nlp = make({"tok2vec": WORDS})
    with pytest.raises(ConnormError, match="CN014"):
        nlp.get_pipe("candidate_reranker").initialize(lambda: examples(nlp, SENTENCES), nlp=nlp)


@pytest.fixture
def files(make_pipeline, tmp_path, hashes):
    """What `reranker.cfg` reads: a pipeline and two corpora, as overrides of its paths."""
    nlp = make_pipeline(sieve=ALL_SEARCHED, **hashes)
    nlp.remove_pipe("entity_ruler")
    nlp.to_disk(tmp_path / "index")
    overrides = {"paths.index": str(tmp_path / "index")}
    for part in ("train", "dev"):
        # The sieve takes the other concept.
        docs = [annotated(nlp, text, "C4") for text, _ in SENTENCES]
        DocBin(docs=docs).to_disk(tmp_path / f"{part}.spacy")
        overrides[f"paths.{part}"] = str(tmp_path / f"{part}.spacy")
    return overrides


def last_scores(tmp_path):
    """The scores of dev without a reranker are 0, as the sieve takes the other concept."""
    nlp = spacy.load(tmp_path / "trained" / "model-last")
    dev = create_marked_reader(tmp_path / "dev.spacy")
    with nlp.select_pipes(disable="candidate_reranker"):
        assert nlp.evaluate(list(dev(nlp)))["concept_acc"] == 0.0
    return nlp.evaluate(list(dev(nlp)))


def test_the_shipped_config_trains(files, tmp_path, request):
    assets = request.config.rootpath / "assets"
    overrides = {**files, "nlp.lang": "xx"}
    train(assets / "reranker.cfg", tmp_path / "trained", overrides=overrides)
    assert last_scores(tmp_path)["concept_acc"] == 1.0


def test_the_shipped_config_reads_sentences_with_a_frozen_transformer(
    files, tmp_path, request, tiny_folder
):
    pytest.importorskip("spacy_transformers")
    assets = request.config.rootpath / "assets"
    nlp = spacy.load(files.pop("paths.index"))
    block = Config().from_disk(assets / "ner-transformer.cfg")["components"]["transformer"]
    block["model"]["name"] = str(tiny_folder)
    nlp.add_pipe(block.pop("factory"), config=block).initialize(lambda: [], nlp=nlp)
    nlp.to_disk(tmp_path / "ner")
    overrides = {
        **files,
        "paths.pipeline": str(tmp_path / "ner"),
        "nlp.lang": "xx",
    }
    train(assets / "reranker-transformer.cfg", tmp_path / "trained", overrides=overrides)
    trained = spacy.load(tmp_path / "trained" / "model-last")
    assert last_scores(tmp_path)["concept_acc"] == 1.0
    own, old = (
        each.get_pipe("transformer").model.layers[0].shims[0]._model.state_dict()
        for each in (trained, nlp)
    )
    assert all((own[name] == old[name]).all() for name in old)  # frozen


def test_a_batch_with_nothing_to_learn_leaves_a_shared_layer_to_the_others(make, hashes):
    nlp = make({"tok2vec": WORDS}, encoder=hashes["encoder"])
    reranker = nlp.get_pipe("candidate_reranker")
    learned = examples(nlp, SENTENCES)
    reranker.initialize(lambda: learned, nlp=nlp)
    answered = []
    tok2vec = reranker.model.get_ref("tok2vec")
    forward = tok2vec._func

    def watched(model, docs, is_train):
        vectors, backprop = forward(model, docs, is_train)
        return vectors, lambda gradient: answered.append(len(gradient)) or backprop(gradient)

    tok2vec._func = watched
    empty = Example(nlp.make_doc("Nothing"), nlp.make_doc("Nothing"))
    losses = reranker.update([empty, *examples(nlp, [("It was cold", "C99")])])
    assert losses == {"candidate_reranker": 0.0} and answered == [2]


def test_long_forms_that_come_later_than_initialize_are_searched(make):
    nlp = make()
    nlp.add_pipe("abbreviation_resolver", first=True)
    reranker = nlp.get_pipe("candidate_reranker")
    text = "Heart disease (HD) and HD"
    doc = nlp.make_doc(text)
    doc.ents = [Span(doc, len(doc) - 1, len(doc), "Disease", kb_id="C1")]

    def example():
        made = Example(nlp.make_doc(text), doc)
        mark_mentions(made)
        return made

    reranker.initialize(lambda: [example(), *examples(nlp, SENTENCES)], nlp=nlp)
    read = example()
    nlp.get_pipe("abbreviation_resolver")(read.predicted)
    assert reranker._prepare(read).batch.names[0] == "heart disease"


def test_alternate_ids_of_gold_mentions_are_right(make):
    nlp = make()
    doc = nlp.make_doc("An MI")
    doc.ents = [Span(doc, 1, 2, "Disease", kb_id="OMIM:2")]
    example = Example(nlp.make_doc("An MI"), doc)
    mark_mentions(example)
    learned = nlp.get_pipe("candidate_reranker")._prepare(example)
    assert learned.right.sum() == 1
    assert learned.batch.names[learned.right.argmax()] == "heart attack"


def test_only_mentions_with_the_normalizers_labels_are_learned(make):
    nlp = make(labels=["Chemical"])
    (example,) = examples(nlp, SENTENCES[:1])  # a disease
    assert not len(nlp.get_pipe("candidate_reranker")._prepare(example).right)


def test_inner_products_are_refused(make):
    index = {"@misc": "spacy-connorm.ExactIndex.v1", "metric": "dot"}
    nlp = make(index=index, split_composites=False, rewriting_weight=0.0)
    with pytest.raises(ConnormError, match="CN422"):
        nlp.get_pipe("candidate_reranker").initialize(lambda: examples(nlp, SENTENCES), nlp=nlp)


def test_taken_over_from_another_pipeline(make, trained, tmp_path):
    nlp = trained(make(synonyms=[("cold", "C3")]), [(text, "C4") for text, _ in SENTENCES])
    nlp.to_disk(tmp_path / "source")
    names = ("entity_ruler", "concept_normalizer", "candidate_reranker")
    blocks = {name: {"source": str(tmp_path / "source")} for name in names}
    config = {"nlp": {"lang": "xx", "pipeline": list(names)}, "components": blocks}
    taken = spacy.util.load_model_from_config(Config(config), auto_fill=True)
    assert ids(taken, list(ANSWERS)) == ids(nlp, list(ANSWERS)) == ["C4", "C4"]


def test_what_only_finds_mentions_leaves_both_out(make, trained):
    nlp = trained(make(), SENTENCES)
    normalizer = nlp.get_pipe("concept_normalizer")
    names = linking_names(nlp, normalizer)
    assert names == ["concept_normalizer", "candidate_reranker"]
    assert [ent.kb_id_ for ent in nlp("It was cold", disable=names).ents] == [""]

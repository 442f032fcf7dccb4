"""Texts with equal forms have equal inputs, whatever the encoder."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy import registry
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from spacy_connorm.encoders import encoder_forms, encoder_inputs
from spacy_connorm.encoders.tokens import TokenizerForms

PIECES = [
    "a",
    "A",
    "[SEP]",
    "[sep]",
    "é",
    "É",
    "e\u0301",
    "İ",
    "ß",
    " ",
    "\t",
    "\0",
    "-",
    "头",
    "\ud800",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=4).map("".join)
NGRAM = {"@architectures": "spacy-connorm.NgramEncoder.v1"}


def dan(folder):
    return {"@architectures": "spacy-connorm.DanEncoder.v1", "name": str(folder), "buckets": 64}


def transformer(folder):
    return {"@architectures": "spacy-connorm.TransformerEncoder.v1", "name": str(folder)}


def hybrid(folder):
    return {
        "@architectures": "spacy-connorm.HybridEncoder.v1",
        "dense": dan(folder),
        "lexical": NGRAM,
    }


@pytest.fixture(
    scope="module",
    params=[dan, transformer, hybrid, lambda _: NGRAM],
    ids=["dan", "bert", "hybrid", "ngram"],
)
def encoder(request, tiny_folder):
    model = registry.resolve({"encoder": request.param(tiny_folder)})["encoder"]
    model.initialize(X=["a é ß [SEP] 头 heart attack", "sep"])
    return model


@settings(max_examples=50)
@given(texts=st.lists(TEXTS, min_size=2, max_size=30))
def test_texts_with_equal_forms_have_equal_inputs(encoder, texts):
    forms, inputs = encoder_forms(encoder, texts), encoder_inputs(encoder, texts)
    by_form = dict(zip(forms, inputs, strict=True))
    assert [by_form[form] for form in forms] == inputs


def test_case_makes_no_other_form_of_an_uncased_text(encoder):
    one, other = encoder_forms(encoder, ["Heart Attack", "heart attack"])
    assert one == other


def test_an_encoder_without_forms_gives_the_texts(hashes):
    model = registry.resolve({"encoder": hashes["encoder"]})["encoder"]
    model.initialize()
    assert encoder_forms(model, ["Heart", "heart"]) == ["Heart", "heart"]


@pytest.mark.parametrize(
    ("normalizer", "alike"),
    [
        (None, False),
        (normalizers.NFKC(), False),
        (normalizers.Lowercase(), True),
        (normalizers.BertNormalizer(lowercase=False), False),
        (normalizers.BertNormalizer(lowercase=True), True),
    ],
    ids=str,
)
def test_forms_follow_the_normalizer_of_a_tokenizer(normalizer, alike):
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "a": 1, "A": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    one, other = TokenizerForms(tokenizer)(["A", "a"])
    assert (one == other) is alike


def test_a_special_token_is_told_from_its_letters():
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.add_special_tokens(["[SEP]"])
    forms = TokenizerForms(tokenizer)(["[SEP]", "[sep]", "\0[SEP]"])
    assert len(set(forms)) == 3


def test_forms_are_asked_of_loaded_encoders_only():
    from spacy_connorm.errors import ConnormError

    model = registry.resolve({"encoder": NGRAM})["encoder"]
    with pytest.raises(ConnormError, match="CN301"):
        encoder_forms(model, ["a"])

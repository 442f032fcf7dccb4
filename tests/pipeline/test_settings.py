"""Settings are checked when they are set."""

import pickle

import numpy as np
import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.pipeline.settings import InnerProductSettings, NormalizerSettings, Settings

NAN = float("nan")
FITTED = {"intercept": -1.0, "score": 2.5, "margin": 0.0}


@pytest.mark.parametrize(
    ("setting", "value", "expected"),
    [
        ("spans_key", 3, "a key of `doc.spans`, or null"),
        ("labels", "Disease", "a list of texts, or null"),
        ("labels", [1], "a list of texts, or null"),
        ("attribute_prefix", "mesh-", "the beginning of a Python name"),
        ("top_k", "3", "a whole number, at least 1"),
        ("top_k", 2.5, "a whole number, at least 1"),
        ("top_k", 0, "a whole number, at least 1"),
        ("cache_size", True, "a whole number, at least 0"),
        ("cache_size", -1, "a whole number, at least 0"),
        ("nil_threshold", "0.5", "a cosine, from -1 to 1, or null"),
        ("nil_threshold", 5, "a cosine, from -1 to 1, or null"),
        ("nil_threshold", True, "a cosine, from -1 to 1, or null"),
        ("nil_threshold", NAN, "a cosine, from -1 to 1, or null"),
        ("nil_threshold", [0.5], "a cosine, from -1 to 1, or null"),
        *(
            ("calibration", value, "finite numbers named intercept, score, margin, or null")
            for value in (
                {},
                {"intercept": 1.0, "score": 1.0},
                {**FITTED, "slope": 1.0},
                {**FITTED, "margin": "1"},
                {**FITTED, "margin": None},
                {**FITTED, "intercept": True},
                {**FITTED, "intercept": NAN},
                [1.0, 1.0, 1.0],
            )
        ),
        ("split_composites", "no", "true or false"),
        ("expand_abbreviations", 1, "true or false"),
        ("extra_words_weight", 1.1, "a number from 0 to 1"),
        ("rewriting_weight", NAN, "a number from 0 to 1"),
        ("types", 3, "a list of texts"),
        ("branches", [None], "a list of texts"),
        ("code_systems", "OMIM", "a list of texts"),
        ("code_systems", [1], "a list of texts"),
        ("prefixes", {"": "MESH"}, "texts by prefix"),
        ("prefixes", ["A"], "texts by prefix"),
        ("prefixes", {"A": 1}, "texts by prefix"),
        ("kb_url_template", "https://example.org", "a link with {} in the place of the id"),
        ("kb_url_template", "{}{base}", "a link with {} in the place of the id"),
        ("topk", 3, ""),
    ],
)
def test_a_value_that_cannot_be_is_refused_when_it_is_set(setting, value, expected):
    cfg = Settings(NormalizerSettings)
    refused = f"CN006.*`{setting}` must be {expected}" if expected else "CN006.*`settings`.*top_k"
    for set_value in (
        lambda: NormalizerSettings.checked({setting: value}),
        lambda: cfg.__setitem__(setting, value),
        lambda: cfg.__ior__({setting: value}),
        lambda: cfg.update({"top_k": 3, setting: value}),
    ):
        with pytest.raises(ConnormError, match=refused):
            set_value()
    assert cfg == NormalizerSettings.defaults()


@pytest.mark.parametrize(
    ("setting", "value", "kept"),
    [
        ("top_k", np.int64(3), 3),
        ("types", {"Disease"}, ["Disease"]),
        ("branches", iter(["C1"]), ["C1"]),
        ("nil_threshold", np.float32(0.5), 0.5),
        ("nil_threshold", -1, -1.0),
        ("labels", None, None),
        ("calibration", {"intercept": -1, "score": 2.5, "margin": 0}, FITTED),
    ],
)
def test_a_number_or_a_collection_of_another_kind_becomes_json(setting, value, kept):
    cfg = Settings(NormalizerSettings)
    cfg[setting] = value
    assert cfg[setting] == kept
    assert type(cfg[setting]) is type(kept)


def test_inner_products_have_no_limit():
    for wrong in (True, "high", NAN, float("inf")):
        with pytest.raises(ConnormError, match="CN006.*nil_threshold.*a finite number"):
            InnerProductSettings.checked({"nil_threshold": wrong})
    assert InnerProductSettings.checked({"nil_threshold": 12.5})["nil_threshold"] == 12.5


def test_settings_can_be_pickled():
    cfg = Settings(NormalizerSettings, {"top_k": 3})
    copy = pickle.loads(pickle.dumps(cfg))
    assert copy == cfg
    with pytest.raises(ConnormError, match="CN006"):
        copy |= {"top_k": 0}

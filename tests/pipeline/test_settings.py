"""Settings are checked when they are set."""

import pickle

import numpy as np
import pytest

from spacy_connorm.errors import ConnormError
from spacy_connorm.pipeline.settings import (
    AssertionSettings,
    FinderSettings,
    NormalizerSettings,
    ResolverSettings,
    Settings,
)

NAN = float("nan")
FITTED = {"intercept": -1.0, "score": 2.5, "margin": 0.0}


REFUSED = [
    ("spans_key", "a key of `doc.spans`, or null", [3]),
    ("labels", "a list of texts, or null", ["Disease", [1]]),
    ("attribute_prefix", "the beginning of a Python name", ["mesh-"]),
    ("top_k", "a whole number, at least 1", ["3", 2.5, 0]),
    ("cache_size", "a whole number, at least 0", [True, -1]),
    ("nil_threshold", "a number from 0 to 1, or null", ["0.5", 5, -1, True, NAN, [0.5]]),
    (
        "calibration",
        "finite numbers named intercept, score, margin, shared, name, extra, lacking, ceiling, the "
        "last one at most 1, or null",
        [
            {},
            {"intercept": 1.0, "score": 1.0},
            [1.0, 1.0, 1.0],
            *(
                FITTED | calibration
                for calibration in ({"slope": 1.0}, {"margin": "1"}, {"margin": None})
            ),
            *(FITTED | {"intercept": number} for number in (True, NAN)),
            *(FITTED | {"ceiling": number} for number in (0, 1.5)),
        ],
    ),
    ("split_composites", "true or false", ["no"]),
    ("compare_words", "true or false", [1]),
    ("types", "a list of texts", [3]),
    ("branches", "a list of texts", [[None]]),
    ("code_systems", "a list of texts", ["OMIM", [1]]),
    ("prefixes", "texts by prefix", [{"": "MESH"}, ["A"], {"A": 1}]),
    ("kb_url_template", "a link with {} in the place of the id", ["https://a.org", "{}{base}"]),
    ("topk", "", [3]),
]


@pytest.mark.parametrize(
    "settings", [AssertionSettings, FinderSettings, NormalizerSettings, ResolverSettings]
)
def test_every_refusal_tells_what_a_value_must_be(settings):
    for name in settings.model_fields:
        with pytest.raises(ConnormError, match=rf"CN006.*`{name}` must be \w"):
            settings.checked({name: object()})


@pytest.mark.parametrize(
    ("setting", "expected", "value"),
    [(setting, expected, value) for setting, expected, values in REFUSED for value in values],
)
def test_a_value_that_cannot_be_is_refused_when_it_is_set(setting, expected, value):
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
        ("nil_threshold", 1, 1.0),
        ("labels", None, None),
        ("calibration", {"intercept": -1, "score": 2.5, "margin": 0}, FITTED),
    ],
)
def test_a_number_or_a_collection_of_another_kind_becomes_json(setting, value, kept):
    cfg = Settings(NormalizerSettings)
    cfg[setting] = value
    assert cfg[setting] == kept
    assert type(cfg[setting]) is type(kept)


def test_settings_can_be_pickled():
    cfg = Settings(NormalizerSettings, {"top_k": 3})
    copy = pickle.loads(pickle.dumps(cfg))
    assert copy == cfg
    with pytest.raises(ConnormError, match="CN006"):
        copy |= {"top_k": 0}

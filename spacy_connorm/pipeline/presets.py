"""Settings by what a pipeline is for, where they differ from the defaults in `pipeline.settings`.

The factories and `build_index` read the same presets, and docs/settings.md has their table. spaCy
imports this module whenever it creates a pipeline, so it must stay light.
"""

from typing import Any

Block = dict[str, Any]
NORMALIZER = "concept_normalizer"
FINDER = "mention_finder"
# The parts of a normalizer that `add_pipe` makes.
ADD_PIPE: Block = {
    "encoder": {
        "@architectures": "spacy-connorm.TransformerEncoder.v1",
        "name": "sentence-transformers/all-MiniLM-L6-v2",
        "pooling": "mean",
    },
    "index": {"@misc": "spacy-connorm.AnnoyIndex.v1", "dtype": "int8"},
    "sieve": {"@misc": "spacy-connorm.Sieve.v1"},
    "scorer": {"@scorers": "spacy-connorm.concept_scorer.v1"},
}
NGRAMS: Block = {"@architectures": "spacy-connorm.NgramEncoder.v1"}
# The choices of `connorm index --encoder`. The DAN has the input embeddings of MiniLM; n-grams need
# training.
ENCODERS: dict[str, Block] = {
    "fast": {"@architectures": "spacy-connorm.DanEncoder.v1", "buckets": 0, "dtype": "int8"},
    "accurate": {
        "@architectures": "spacy-connorm.TransformerEncoder.v1",
        "mixed_precision": True,
    },
    "ngrams": NGRAMS,
}
# What `connorm index --train` trains, and how: the network as in assets/dan.cfg, the transformer as
# in assets/minilm-cpu.cfg, with the network's batches.
TRAINED_ENCODERS: dict[str, Block] = {
    "fast": {
        "encoder.@architectures": "spacy-connorm.DanEncoder.v1",
        "encoder.buckets": 65536,
        "encoder.dtype": "int8",
        "training.micro_batch_tokens": 10_000_000,
        "training.batcher.size": 2000,
        "training.arguments.num_train_epochs": 8,
        "training.arguments.learning_rate": 3e-3,
        "training.arguments.max_grad_norm": 0.0,
    },
    "accurate": {
        "encoder.@architectures": "spacy-connorm.TransformerEncoder.v1",
        "training.micro_batch_tokens": 1024,
        "training.interpolation": 0.5,
        "training.batcher.size": 512,
        "training.arguments.num_train_epochs": 5,
        "training.arguments.learning_rate": 2e-4,
        "training.arguments.weight_decay": 0.01,
    },
}
# Settings by the factory of their component.
PRESETS: dict[str, dict[str, Block]] = {
    # An ontology without annotated mentions, with an encoder that has learned from none. The weight
    # was chosen on dev data (docs/benchmarks/ontology_alone.md).
    "ontology_alone": {NORMALIZER: {"extra_words_weight": 0.2}},
    # A mention that the finder found in other words is linked by these words.
    "found_mentions": {NORMALIZER: {"rewriting_weight": 1.0}},
    # Notes rarely define short forms.
    "clinical_notes": {FINDER: {"undefined_short_forms": True}},
    # What compares scores with fixed numbers is off, see CN421.
    "inner_products": {
        NORMALIZER: {
            "rewriting_weight": 0,
            "extra_words_weight": 0,
            "same_words_weight": 0,
            "split_composites": False,
            "index": {"@misc": "spacy-connorm.ExactIndex.v1", "metric": "dot"},
            "sieve": {"@misc": "spacy-connorm.Sieve.v1", "searches": ["OD-T"], "thresholds": []},
        }
    },
}


def preset_settings(factory: str, *names: str) -> Block:
    """Combine the settings of presets for one component.

    factory (str): The component's factory.
    names (str): Names of `PRESETS`; a later one wins.
    RETURNS (Dict[str, Any]): For the `config` of `nlp.add_pipe`; empty if they have none for it.
    """
    settings: Block = {}
    for name in names:
        settings |= PRESETS[name].get(factory, {})
    return settings

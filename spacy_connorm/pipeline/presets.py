"""Settings by what a pipeline is for, where they differ from the defaults in `pipeline.settings`.

The factories and `build_index` read the same presets, and docs/settings.md has their table. spaCy
imports this module whenever it creates a pipeline, so it must stay light.
"""

from typing import Any

Block = dict[str, Any]
NORMALIZER = "concept_normalizer"
FINDER = "mention_finder"
NGRAMS: Block = {"@architectures": "spacy-connorm.NgramEncoder.v1"}
# The choices of `connorm index --encoder`. The DAN has the input embeddings of MiniLM; n-grams need
# training.
ENCODERS: dict[str, Block] = {
    "fast": {"@architectures": "spacy-connorm.DanEncoder.v1", "buckets": 0, "dtype": "int8"},
    "accurate": {"@architectures": "spacy-connorm.OnnxEncoder.v1"},
    "ngrams": NGRAMS,
}
# The same with `--gpu-id`.
GPU_ENCODERS: dict[str, Block] = {
    **ENCODERS,
    "accurate": {
        "@architectures": "spacy-connorm.TransformerEncoder.v1",
        "mixed_precision": True,
    },
}
# For texts in another language than the names, beside a multilingual encoder, its `dense`. The
# weight is from docs/languages.md.
BESIDE_NGRAMS: Block = {
    "@architectures": "spacy-connorm.HybridEncoder.v1",
    "lexical_weight": 0.15,
    "lexical": {**NGRAMS, "ngram_range": [3, 3]},
}
# The parts of a normalizer that `add_pipe` makes.
ADD_PIPE: Block = {
    "encoder": ENCODERS["accurate"],
    "index": {"@misc": "spacy-connorm.AutoIndex.v1", "dtype": "int8"},
    "sieve": {"@misc": "spacy-connorm.Sieve.v1"},
    "scorer": {"@scorers": "spacy-connorm.concept_scorer.v1"},
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
    # Notes rarely define short forms.
    "clinical_notes": {FINDER: {"undefined_short_forms": True}},
    # What compares scores with fixed numbers is off, see CN421.
    "inner_products": {
        NORMALIZER: {
            "compare_words": False,
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

"""Settings by what a pipeline is for, where they differ from the defaults in `pipeline.settings`.

They are in `presets.toml`. The factories and `build_index` read the same presets, and
docs/settings.md has their table. spaCy imports this module whenever it creates a pipeline, so it
must stay light.
"""

import tomllib
from typing import Any

from ..files.package_data import read_package_text

Block = dict[str, Any]
NORMALIZER = "concept_normalizer"
FINDER = "mention_finder"
# Not by `read_toml`: in configs, lists are lists.
_TABLES: dict[str, Any] = tomllib.loads(read_package_text(__package__, "presets.toml"))
ENCODERS: dict[str, Block] = _TABLES["encoders"]
GPU_ENCODERS: dict[str, Block] = {**ENCODERS, **_TABLES["gpu_encoders"]}
NGRAMS = ENCODERS["ngrams"]
BESIDE_NGRAMS: Block = _TABLES["beside_ngrams"]
ADD_PIPE: Block = {"encoder": ENCODERS["accurate"], **_TABLES["add_pipe"]}
TRAINED_ENCODERS: dict[str, Block] = _TABLES["trained_encoders"]
# By the factory of their component.
PRESETS: dict[str, dict[str, Block]] = _TABLES["presets"]


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

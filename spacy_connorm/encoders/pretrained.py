"""Pretrained weights: from an installed package, a folder or the Hugging Face hub."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

from ..errors import ConnormError, Errors, refuse
from ..files.folders import read_object
from .model_packages import MINILM, PACKAGES, find_in_packages
from .model_types import ARCHITECTURES
from .remote_code import is_remote_code_allowed, refuse_code_in_config, refuse_code_in_settings

HUB_TIMEOUT = 5.0
# What transformers says of a model that has none.
_NO_SAFETENSORS = re.compile(r"file named \S*safetensors")


# Settings of `from_pretrained` that say where the files are.
_PLACES = ("cache_dir", "force_download", "proxies", "revision", "subfolder", "token")
# Settings with which it reads weights that are not safetensors.
_OTHER_WEIGHTS = ("from_flax", "from_tf", "gguf_file")


class Pretrained(NamedTuple):
    """A pretrained tokenizer and transformer.

    tokenizer (transformers.PreTrainedTokenizerBase): The tokenizer.
    transformer (transformers.PreTrainedModel): The transformer, without a head.
    """

    tokenizer: Any
    transformer: Any


def load_pretrained(
    name: str, *, tokenizer_config: dict[str, Any], transformer_config: dict[str, Any]
) -> Pretrained:
    """Load a tokenizer and a transformer. They are searched in this order: installed packages,
    folders, the cache of the Hugging Face hub, the hub.

    name (str): A name on the hub, or the path of a folder.
    tokenizer_config (Dict[str, Any]): Settings of `AutoTokenizer.from_pretrained`.
    transformer_config (Dict[str, Any]): Settings of `AutoModel.from_pretrained`.
    RETURNS (Pretrained): The two.
    RAISES (ConnormError): CN303 if nothing is found, CN304 if a package is not the published one,
        CN306 if what is found can't be loaded, CN006 for weights in other formats, CN312 if it
        would run code that comes with the model, CN314 if it has no safetensors, CN317 for an
        encoder of another architecture.
    """
    refuse_code_in_settings("tokenizer_config", tokenizer_config)
    refuse_code_in_settings("transformer_config", transformer_config)
    _require_safetensors(transformer_config)
    folder = find_folder(name)
    if folder is not None:
        _require_transformer(folder)
        return _load(str(folder), tokenizer_config, transformer_config, local_files_only=True)
    from huggingface_hub.utils import HFValidationError

    try:
        return _load(name, tokenizer_config, transformer_config, local_files_only=True)
    except ConnormError as error:
        # Only missing files may be on the hub; what was found but is unusable stays so.
        if not isinstance(error.__cause__, (OSError, HFValidationError)):
            raise
    _probe_hub(name)
    return _load(name, tokenizer_config, transformer_config, local_files_only=False)


def find_folder(name: str) -> Path | None:
    """Find a model in the installed packages or as a folder.

    name (str): A name on the hub, or the path of a folder.
    RETURNS (Optional[Path]): The model's folder, if found.
    RAISES (ConnormError): CN304 if a package is not the published one.
    """
    folder = find_in_packages(name)
    if folder is not None:
        return folder
    return Path(name) if Path(name).is_dir() else None


def _require_safetensors(transformer_config: dict[str, Any]) -> None:
    if not transformer_config.get("use_safetensors", True):
        setting = "transformer_config.use_safetensors"
        refuse(setting, False, "true, or left out")
    for name in _OTHER_WEIGHTS:
        if transformer_config.get(name):
            setting = f"transformer_config.{name}"
            expected = "left out: only safetensors are read"
            refuse(setting, transformer_config[name], expected)


def _probe_hub(name: str) -> None:
    # One request with a time limit: without a network, transformers retries every file six times
    # and gives up after 46 seconds.
    from huggingface_hub import HfApi

    try:
        HfApi().model_info(name, timeout=HUB_TIMEOUT)
    except Exception as error:
        raise ConnormError(_not_found(name, error)) from error


def _not_found(name: str, error: Exception) -> str:
    tried = [
        f"the folder '{Path(name).absolute()}' (not there)",
        "the cache of the Hugging Face hub (no safetensors of it)",
        f"the hub ({_hub_reason(error)})",
    ]
    if name in PACKAGES:
        tried.insert(0, f"the package '{PACKAGES[name].distribution}' (not installed)")
    return Errors.CN303.format(name=name, tried=", ".join(tried), minilm=MINILM)


def _hub_reason(error: Exception) -> str:
    from huggingface_hub.utils import (
        HFValidationError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
    )

    reasons: dict[type[Exception], str] = {
        HFValidationError: "not a valid name",
        OfflineModeIsEnabled: "HF_HUB_OFFLINE is set",
        RepositoryNotFoundError: "no such model, or not a public one",
    }
    for kind, reason in reasons.items():
        if isinstance(error, kind):
            return reason
    return f"not reached: {type(error).__name__}"


def _load(
    source: str,
    tokenizer_config: dict[str, Any],
    transformer_config: dict[str, Any],
    *,
    local_files_only: bool,
) -> Pretrained:
    from transformers import AutoModel, AutoTokenizer

    # Without a value for `trust_remote_code`, transformers may ask on the terminal. At its default
    # revision it sends models without safetensors, and the user's token, to be converted.
    common = {"local_files_only": local_files_only, "trust_remote_code": False, "revision": None}
    own: dict[str, Any] = {"output_loading_info": True, "use_safetensors": True}
    if transformer_config.get("revision") == "main":
        own["revision"] = None
    try:
        with _quiet():
            tokenizer = AutoTokenizer.from_pretrained(source, **{**common, **tokenizer_config})
            _refuse_surprises(source, {**common, **transformer_config})
            transformer, report = AutoModel.from_pretrained(
                source, **{**common, **transformer_config, **own}
            )
    except ConnormError:
        raise
    except OSError as error:
        if _NO_SAFETENSORS.search(str(error)):
            raise ConnormError(Errors.CN314.format(source=source)) from error
        raise _unusable(source, str(error)) from error
    except Exception as error:
        raise _unusable(source, str(error) or type(error).__name__) from error
    flaw = _find_flaw(tokenizer, transformer, report["missing_keys"])
    if flaw:
        raise _unusable(source, flaw)
    return Pretrained(tokenizer, transformer)


def _require_transformer(folder: Path) -> None:
    path = folder / "config.json"
    if not path.is_file():
        raise ConnormError(Errors.CN306.format(path=folder, reason="it has no 'config.json'"))
    encoder = ARCHITECTURES.get(str(read_object(path).get("model_type")))
    if encoder is not None:
        raise ConnormError(Errors.CN317.format(source=folder, encoder=encoder))


def _unusable(source: str, reason: str) -> ConnormError:
    return ConnormError(Errors.CN306.format(path=source, reason=shorten(reason, width=200)))


def _refuse_surprises(source: str, settings: dict[str, Any]) -> None:
    """Refuse a configuration that leads to code, or to the weights of another model."""
    from transformers import PretrainedConfig
    from transformers.utils import find_adapter_config_file

    places = {name: settings[name] for name in ("local_files_only", *_PLACES) if name in settings}
    if not is_remote_code_allowed():
        config, _ = PretrainedConfig.get_config_dict(source, **places)
        refuse_code_in_config(config, source=f"{source}/config.json")
    if find_adapter_config_file(source, **places) is not None:
        raise _unusable(source, "it is an adapter: merge it into the transformer it belongs to")


@contextmanager
def _quiet() -> Iterator[None]:
    # Transformers warns about a missing pooler, which is not needed here. Missing weights that are
    # needed are found by `_find_flaw`.
    from transformers.utils import logging

    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)


def is_part_of_transformers(part: Any) -> bool:
    """RETURNS (bool): Whether a tokenizer or a transformer needs no other code than that of the
    library.
    """
    return type(part).__module__.startswith("transformers.")


def _find_flaw(tokenizer: Any, transformer: Any, missing_keys: list[str]) -> str:
    # Transformers initializes missing weights at random and goes on.
    missing = [key for key in missing_keys if not key.startswith("pooler.")]
    if missing:
        return f"it has no weights for {len(missing)} of its tensors, e.g. '{missing[0]}'"
    if transformer.config.is_encoder_decoder or not hasattr(transformer.config, "hidden_size"):
        return f"'{transformer.config.model_type}' is not an encoder of text"
    known = is_part_of_transformers(tokenizer) and is_part_of_transformers(transformer)
    if not known and not is_remote_code_allowed():
        return "its code is not part of transformers, so it can't be saved with the pipeline"
    return ""

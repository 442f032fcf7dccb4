"""Code that comes with a model runs only if the caller allows it in Python."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ..errors import ConnormError, Errors

_allowed: ContextVar[bool] = ContextVar("_allowed", default=False)
# Settings of `from_pretrained` with which it downloads code and runs it.
_RUNS_CODE = ("trust_remote_code", "use_kernels")
# An implementation of attention that has a slash in its name is code on the hub.
_ATTENTION = ("attn_implementation", "_attn_implementation", "_attn_implementation_internal")


@contextmanager
def allow_remote_code() -> Iterator[None]:
    """Let `trust_remote_code` in a config have its effect: transformers may run code that comes
    with a model, as this user, with all that this user may do. Only Python can allow that: no
    config and no saved pipeline can. Such an encoder works in this process only; it can't be saved.

        with allow_remote_code():
            normalizer.initialize(list, ontology=ontology)
    """
    token = _allowed.set(True)
    try:
        yield
    finally:
        _allowed.reset(token)


def is_remote_code_allowed() -> bool:
    """RETURNS (bool): Whether this is inside `allow_remote_code`."""
    return _allowed.get()


def refuse_code_in_settings(block: str, settings: Mapping[str, Any]) -> None:
    """Refuse settings of `from_pretrained` that run code, unless Python allows it.

    block (str): The name of the settings in a config.
    settings (Mapping[str, Any]): The settings.
    RAISES (ConnormError): CN312.
    """
    if is_remote_code_allowed():
        return
    for name in _RUNS_CODE:
        if settings.get(name):
            raise ConnormError(Errors.CN312.format(setting=f"{block}.{name}"))
    refuse_code_in_config(settings, source=block)


def refuse_code_in_config(config: Any, *, source: str) -> None:
    """Refuse a model's configuration that leads to code elsewhere. Transformers would run it even
    without `trust_remote_code`, if the package "kernels" is installed (CVE-2026-4372).

    config (Any): The JSON of a `config.json`, with those of its parts.
    source (str): Where it is from.
    RAISES (ConnormError): CN312.
    """
    if not isinstance(config, Mapping):
        return
    for name, value in config.items():
        if name in _ATTENTION and "/" in str(value):
            raise ConnormError(Errors.CN312.format(setting=f"{source}: {name}"))
        refuse_code_in_config(value, source=source)

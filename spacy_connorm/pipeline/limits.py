"""The settings of a concept normalizer that a single call can override."""

from collections.abc import Iterable
from typing import TypedDict


class Limits(TypedDict, total=False):
    """Settings that can be overridden for one call; None keeps the setting.

    top_k (Optional[int]): The maximum number of candidates.
    types (Optional[Sequence[str]]): Find only concepts of these semantic types.
    branches (Optional[Sequence[str]]): Find only concepts at or below these.
    code_systems (Optional[Sequence[str]]): Add the codes of candidates in these vocabularies.
    split_composites (Optional[bool]): Whether to search for the parts of composite mentions, too.
    """

    top_k: int | None
    types: Iterable[str] | None
    branches: Iterable[str] | None
    code_systems: Iterable[str] | None
    split_composites: bool | None

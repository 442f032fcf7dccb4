"""Search for mentions with a saved pipeline: `connorm search`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from spacy.language import Language

from ..concepts import Candidate
from ..errors import refuse_text
from ..pipeline.concept_normalizer import Limits
from ..pipeline.loading import load_normalizer

if TYPE_CHECKING:
    from ..linker.explanation import Explanation


def search(
    pipeline: str | Path | Language,
    mentions: Sequence[str],
    *,
    search: str | None = None,
    top_k: int | None = None,
    types: Sequence[str] | None = None,
    branches: Sequence[str] | None = None,
    code_systems: Sequence[str] | None = None,
    component: str | None = None,
) -> list[list[Candidate]]:
    """Find the candidates of mentions: `python -m spacy connorm search`.

    pipeline (Union[str, Path, Language]): An installed package, a pipeline's folder, or a pipeline.
    mentions (Sequence[str]): n texts.
    search (Optional[str]): One search instead of the pipeline's sieve, e.g. "O-T".
    top_k (Optional[int]): At most how many candidates each mention gets; the pipeline's setting if
        None, as for the next two.
    types (Optional[Sequence[str]]): Find only concepts of these semantic types.
    branches (Optional[Sequence[str]]): Find only concepts at or below these.
    code_systems (Optional[Sequence[str]]): Tell the codes of candidates in these vocabularies.
    component (Optional[str]): Which concept normalizer, if there are several.
    RETURNS (List[List[Candidate]]): n lists, best first; empty where nothing is found.
    RAISES (ConnormError): CN006 for one mention in no list, CN406, CN407 for an unknown type or
        branch, CN408 for a search that the index was built without, CN413 for
        vocabularies that it lacks, CN118 for an unknown search,
        CN700 to CN704 as `load_normalizer`.
    """
    _require_list(mentions)
    normalizer = load_normalizer(pipeline, component=component)
    limits = Limits(top_k=top_k, types=types, branches=branches)
    return normalizer.candidates(mentions, search=search, code_systems=code_systems, **limits)


def explain(
    pipeline: str | Path | Language,
    mentions: Sequence[str],
    *,
    top_k: int | None = None,
    types: Sequence[str] | None = None,
    branches: Sequence[str] | None = None,
    code_systems: Sequence[str] | None = None,
    component: str | None = None,
) -> "list[Explanation]":
    """Show what each search of the sieve finds for mentions: `python -m spacy connorm search
    --explain`.

    pipeline, mentions, top_k, types, branches, code_systems, component: As for `search`.
    RETURNS (List[Explanation]): One per mention.
    RAISES (ConnormError): As `search`.
    """
    _require_list(mentions)
    normalizer = load_normalizer(pipeline, component=component)
    limits = Limits(top_k=top_k, types=types, branches=branches)
    return [
        normalizer.explain(mention, code_systems=code_systems, **limits) for mention in mentions
    ]


def _require_list(mentions: Sequence[str]) -> None:
    # Each letter of a string would be a mention.
    if isinstance(mentions, str):
        refuse_text("mentions", mentions, "a list of texts")

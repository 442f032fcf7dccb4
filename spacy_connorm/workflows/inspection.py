"""What a saved pipeline finds and why, and whether it is intact: `search` and `check`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Unpack

from spacy.language import Language
from spacy.tokens import Span

from ..concepts import Candidate
from ..documents.abbreviations import long_forms_of
from ..errors import Errors, refuse_text
from ..files.folders import MANIFEST, damaged, read_manifest, read_object, verify
from ..files.progress import BYTES, progress_bar
from ..linker.explanation import Explanation
from ..pipeline.abbreviation_resolver import read_alone
from ..pipeline.concept_normalizer import ConceptNormalizer
from ..pipeline.limits import Limits
from ..pipeline.loading import find_normalizer, find_pipeline_folder, load_pipeline
from ..pipeline.saving import META_FACT, META_FILE, meaning_of


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
    """Find the candidates of mentions: `connorm search`.

    pipeline (Union[str, Path, Language]): An installed package, or a pipeline's folder.
        Or a pipeline.
    mentions (Sequence[str]): n texts.
    search (Optional[str]): A single search to use instead of the pipeline's sieve, e.g. "O-T".
    top_k (Optional[int]): The maximum number of candidates for each mention; the pipeline's setting
        if None, as for the next two.
    types (Optional[Sequence[str]]): Find only concepts of these semantic types.
    branches (Optional[Sequence[str]]): Find only concepts at or below these.
    code_systems (Optional[Sequence[str]]): Add the codes of candidates in these vocabularies.
    component (Optional[str]): The concept normalizer to use, if there are several.
    RETURNS (List[List[Candidate]]): n lists, best first; empty if nothing is found.
    RAISES (ConnormError): CN006 for a mention that is not in a list, CN406 for an unknown
        type or branch, CN408 for a search that the index was built without, CN413 for vocabularies
        that it lacks, CN118 for an unknown search, CN700 to CN704 as for `load_normalizer`.
    """
    limits = Limits(top_k=top_k, types=types, branches=branches, code_systems=code_systems)
    normalizer, spans = _read(pipeline, mentions, component)
    long_forms = long_forms_of(spans)
    return normalizer.candidates(mentions, long_forms=long_forms, search=search, **limits)


def explain(
    pipeline: str | Path | Language,
    mentions: Sequence[str],
    *,
    component: str | None = None,
    **limits: Unpack[Limits],
) -> list[Explanation]:
    """Show what each search of the sieve finds for mentions: `connorm search --explain`.

    pipeline, mentions, component: As for `search`.
    **limits (Limits): `top_k`, `types`, `branches` and `code_systems`, as for `search`.
    RETURNS (List[Explanation]): One per mention.
    RAISES (ConnormError): The errors of `search`.
    """
    normalizer, spans = _read(pipeline, mentions, component)
    return [normalizer.explain(span, **limits) for span in spans]


def _read(
    pipeline: str | Path | Language, mentions: Sequence[str], component: str | None
) -> tuple[ConceptNormalizer, list[Span]]:
    # Each letter of a string would be a mention.
    if isinstance(mentions, str):
        refuse_text("mentions", mentions, "a list of texts")
    nlp = load_pipeline(pipeline)
    return find_normalizer(nlp, component=component), read_alone(nlp, mentions)


# `spacy package` adds them, and they are never loaded.
_DOCUMENTATION = {"README.md", "LICENSE", "LICENSES_SOURCES"}


class CheckReport(NamedTuple):
    """What was checked in a pipeline, and what could not be.

    path (Path): The pipeline's folder.
    folders (List[Path]): The folders in it that have a manifest.
    checked (int): The number of files compared with their checksums.
    unlisted (List[Path]): Files without a checksum, relative to the pipeline's folder: those that
        spaCy wrote without `save_pipeline`, and those that were added later.
    """

    path: Path
    folders: list[Path]
    checked: int
    unlisted: list[Path]


def check(pipeline: str | Path) -> CheckReport:
    """Check a saved pipeline: `connorm check`. Every byte is compared with the
    checksums from when it was saved; the pipeline is loaded; and its encoders must give the texts
    of its indexes the vectors that they have there.

    pipeline (Union[str, Path]): An installed package, or a pipeline's folder.
    RETURNS (CheckReport): What was checked. Nothing in it is damaged.
    RAISES (ConnormError): CN700 if there is no such pipeline, CN436 if no folder has a manifest,
        CN401 for another format version, CN402 for files that are missing, differ or do not fit,
        CN430 for a part from another build, and the errors of `load_pipeline`.
    """
    from ..index.verification import verify_texts

    path = find_pipeline_folder(str(pipeline))
    report = _compare(path)
    nlp = load_pipeline(path)
    for _, pipe in nlp.components:
        if isinstance(pipe, ConceptNormalizer):
            retriever = pipe.lookup.retriever
            with progress_bar(unit="texts", description="Checking") as bar:
                verify_texts(retriever.index, retriever.encoder, report=bar.update)
    return report


def _compare(path: Path) -> CheckReport:
    folders = sorted(manifest.parent for manifest in path.rglob(MANIFEST))
    if not folders:
        raise Errors.CN436(path=path)
    files = {file for file in path.rglob("*") if file.is_file() and file.name != MANIFEST}
    total = sum(file.stat().st_size for file in files)
    listed: set[Path] = set()
    with progress_bar(unit=BYTES, total=total) as bar:
        for folder in folders:
            verify(folder, report=bar.update)
            manifest = read_manifest(folder)
            listed.update(folder / name for name in manifest["files"])
            if isinstance(manifest.get(META_FACT), dict):
                _verify_meta(folder / META_FILE, manifest[META_FACT])
                listed.add(folder / META_FILE)
    others = (file.relative_to(path) for file in files - listed)
    unlisted = sorted(file for file in others if file.as_posix() not in _DOCUMENTATION)
    return CheckReport(path, folders, len(listed), unlisted)


def _verify_meta(path: Path, expected: dict[str, Any]) -> None:
    meaning = meaning_of(read_object(path))
    for field, value in expected.items():
        if meaning.get(field) != value:
            raise damaged(path, f"its `{field}` has changed")

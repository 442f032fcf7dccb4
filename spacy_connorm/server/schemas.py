"""The bodies of requests and responses."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr

from ..concepts import Candidate
from ..documents.mentions import split_ids
from ..errors import ConnormError
from ..files.text import LONE_SURROGATE
from ..linker.explanation import Explanation, Step
from ..workflows.corrected_pipeline import CorrectedPipeline
from ..workflows.corrections import Correction, Undo

Ids = Annotated[list[StrictStr], Field(max_length=100)]
Label = Annotated[StrictStr, Field(max_length=100)]


def _storable(text: str) -> str:
    """Replace lone surrogates, which JSON can contain and spaCy can't store."""
    return LONE_SURROGATE.sub("\ufffd", text)


Text = Annotated[StrictStr, AfterValidator(_storable)]
Author = Annotated[Text, Field(max_length=100), AfterValidator(str.strip)]


class Body(BaseModel):
    """A body that must not have unknown fields."""

    model_config = ConfigDict(extra="forbid")


class MentionBody(Body):
    """A known mention: its start and end (in characters) and its label."""

    start: StrictInt
    end: StrictInt
    label: Label = ""


class TextBody(Body):
    """A text and its known mentions. The pipeline may find more."""

    text: Text
    mentions: list[MentionBody] | None = None


class AnnotateBody(Body):
    """Texts to annotate."""

    texts: list[Text | TextBody]


class SearchBody(Body):
    """Mentions to search for, with the options of `connorm search`: one search instead of the
    sieve, the maximum number of candidates, only these semantic types, only concepts at or below
    these.
    """

    mentions: list[Text]
    search: StrictStr | None = None
    top_k: Annotated[StrictInt, Field(ge=1, le=100)] | None = None
    types: Ids | None = None
    branches: Ids | None = None


class ExplainBody(Body):
    """A mention to explain. If the text around it and its first character there are given, a long
    form defined in the text is used, too.
    """

    mention: Text
    text: Text = ""
    start: StrictInt = 0


class CorrectionBody(Body):
    """The concept that a mention denotes: a concept id, ids joined by "|", or "NIL". `marked` means
    that the pipeline had not found the mention, `replaces` is the mention that it had found
    instead.
    """

    text: Text
    start: StrictInt
    end: StrictInt
    kb_id: Annotated[StrictStr, Field(min_length=1, max_length=1000)]
    label: Label = ""
    marked: StrictBool = False
    replaces: tuple[StrictInt, StrictInt] | None = None
    author: Author = ""


class UndoBody(Body):
    """Who undoes a correction."""

    author: Author = ""


class DecisionBody(Body):
    """The meaning of a term: a concept id, or "NIL", and one of SKOS's predicates. `version` is
    that of the row that the person saw.
    """

    version: Annotated[StrictStr, Field(max_length=100)]
    concept: Annotated[StrictStr, Field(min_length=1, max_length=1000)]
    predicate: Annotated[StrictStr, Field(max_length=100)] = "skos:exactMatch"
    author: Author = ""


class TakeBackBody(UndoBody):
    """Who undoes a decision. `version` is that of the row that the person saw."""

    version: Annotated[StrictStr, Field(max_length=100)]


# The number of characters shown on either side of a corrected mention.
_CONTEXT = 60


def view_candidates(candidates: Sequence[Candidate]) -> list[dict[str, Any]]:
    """Convert candidates to JSON.

    RETURNS (List[Dict[str, Any]]): In the form written by `connorm annotate`.
    """
    return [candidate._asdict() for candidate in candidates]


def view_explanation(explanation: Explanation) -> dict[str, Any]:
    """Convert an explanation to JSON.

    RETURNS (Dict[str, Any]): The interpretations and the searches of an answer.
    """
    return {
        "mention": explanation.mention,
        "interpretations": [
            {**way._asdict(), "score": way.score, "parts": list(map(view_candidates, way.parts))}
            for way in explanation.interpretations
        ],
        "parts": [
            {"searched": part.searched, "steps": list(map(_view_step, part.steps))}
            for part in explanation.parts
        ],
    }


def _view_step(step: Step) -> dict[str, Any]:
    return {**step._asdict(), "candidates": view_candidates(step.candidates)}


def view_concept(pipeline: CorrectedPipeline, concept_id: str) -> dict[str, Any]:
    """Convert a concept to JSON.

    RETURNS (Dict[str, Any]): The concept, its parents with their names, and its link if the
        normalizer has a template.
    RAISES (ConnormError): CN411 for an unknown id.
    """
    concept = pipeline.concept(concept_id)
    template = pipeline.normalizer.cfg["kb_url_template"]
    return {
        "concept_id": concept.concept_id,
        "name": concept.canonical_name,
        "aliases": list(concept.aliases),
        "types": list(concept.types),
        "definition": concept.definition,
        "parents": [
            {"concept_id": parent, "name": pipeline.concept(parent).canonical_name}
            for parent in concept.parents
        ],
        "alt_ids": list(concept.alt_ids),
        "url": template.format(concept.concept_id) if template else None,
    }


def view_corrections(pipeline: CorrectedPipeline, *, limit: int) -> list[dict[str, Any]]:
    """List corrections, the last one first.

    pipeline (CorrectedPipeline): The corrected pipeline.
    limit (int): The maximum number.
    RETURNS (List[Dict[str, Any]]): Each with the mention, the text around it, the names of its
        concepts, author, time, and status: "counts", "undone" or "replaced".
    """
    records = pipeline.records
    undone = {undo.undoes: undo for undo in records if isinstance(undo, Undo)}
    counting = {correction.id for correction in pipeline.effective}
    corrections = [record for record in records if isinstance(record, Correction)]
    views = []
    for correction in corrections[: -limit - 1 : -1]:
        undo = undone.get(correction.id)
        state = "undone" if undo else "counts" if correction.id in counting else "replaced"
        views.append({**_view_correction(pipeline, correction), "state": state})
        if undo:
            views[-1] |= {"undone_by": undo.author, "undone_at": undo.time}
    return views


def _view_correction(pipeline: CorrectedPipeline, correction: Correction) -> dict[str, Any]:
    text, start, end = correction.text, correction.start, correction.end
    stored = ("id", "start", "end", "kb_id", "label", "marked", "author", "time")
    return {
        **{name: getattr(correction, name) for name in stored},
        "mention": correction.mention,
        "before": text[max(start - _CONTEXT, 0) : start],
        "after": text[end : end + _CONTEXT],
        "names": [_name(pipeline, concept_id) for concept_id in split_ids(correction.kb_id)],
    }


def _name(pipeline: CorrectedPipeline, concept_id: str) -> str:
    try:
        return pipeline.concept(concept_id).canonical_name
    except ConnormError:  # its concept is from another release of the ontology
        return concept_id

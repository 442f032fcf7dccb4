"""What the API answers: plain data made from concepts, candidates and corrections."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..concepts import Candidate
from ..documents.mentions import split_ids
from ..errors import ConnormError
from ..workflows.corrected_pipeline import CorrectedPipeline
from ..workflows.corrections import Correction, Undo

if TYPE_CHECKING:
    from ..linker.linking import Explanation, Step

# Characters on either side of a corrected mention.
_CONTEXT = 60


def view_candidates(candidates: Sequence[Candidate]) -> list[dict[str, Any]]:
    """Show candidates.

    RETURNS (List[Dict[str, Any]]): Candidates as `connorm annotate` writes them.
    """
    return [each._asdict() for each in candidates]


def view_explanation(explanation: "Explanation") -> dict[str, Any]:
    """Show how a mention was read.

    RETURNS (Dict[str, Any]): The interpretations and the searches behind an answer.
    """
    return {
        "mention": explanation.mention,
        "interpretations": [
            {
                "kind": each.kind,
                "texts": list(each.texts),
                "score": each.score,
                "parts": [view_candidates(part) for part in each.parts],
            }
            for each in explanation.interpretations
        ],
        "parts": [
            {"searched": each.searched, "steps": list(map(_view_step, each.steps))}
            for each in explanation.parts
        ],
    }


def _view_step(step: "Step") -> dict[str, Any]:
    return {
        "search": str(step.search),
        "threshold": step.threshold,
        "answers": step.answers,
        "candidates": view_candidates(step.candidates),
    }


def view_concept(pipeline: CorrectedPipeline, concept_id: str) -> dict[str, Any]:
    """Show a concept.

    RETURNS (Dict[str, Any]): A concept, its parents with their names, and its link if the
    normalizer has a template for one.
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
            {"concept_id": each, "name": pipeline.concept(each).canonical_name}
            for each in concept.parents
        ],
        "alt_ids": list(concept.alt_ids),
        "url": template.format(concept.concept_id) if template else None,
    }


def view_corrections(pipeline: CorrectedPipeline, *, limit: int) -> list[dict[str, Any]]:
    """List corrections, the last one first.

    pipeline (CorrectedPipeline): Has them.
    limit (int): At most how many.
    RETURNS (List[Dict[str, Any]]): Each with the mention, the text around it, the names of its
        concepts, author, time, and what became of it: "counts", "undone" or "replaced".
    """
    records = pipeline.records
    undone = {each.undoes: each for each in records if isinstance(each, Undo)}
    counting = {each.id for each in pipeline.effective}
    corrections = [each for each in records if isinstance(each, Correction)]
    views = []
    for each in corrections[: -limit - 1 : -1]:
        undo = undone.get(each.id)
        state = "undone" if undo else "counts" if each.id in counting else "replaced"
        views.append({**_view_correction(pipeline, each), "state": state})
        if undo:
            views[-1] |= {"undone_by": undo.author, "undone_at": undo.time}
    return views


def _view_correction(pipeline: CorrectedPipeline, correction: Correction) -> dict[str, Any]:
    text, start, end = correction.text, correction.start, correction.end
    return {
        "id": correction.id,
        "mention": correction.mention,
        "before": text[max(start - _CONTEXT, 0) : start],
        "after": text[end : end + _CONTEXT],
        "start": start,
        "end": end,
        "kb_id": correction.kb_id,
        "names": [_name(pipeline, each) for each in split_ids(correction.kb_id)],
        "label": correction.label,
        "marked": correction.marked,
        "author": correction.author,
        "time": correction.time,
    }


def _name(pipeline: CorrectedPipeline, concept_id: str) -> str:
    try:
        return pipeline.concept(concept_id).canonical_name
    except ConnormError:  # of another release of the ontology
        return concept_id

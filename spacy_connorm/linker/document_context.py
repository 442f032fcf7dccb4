"""What a document's certain links say about its uncertain mentions."""

from collections.abc import Iterable, Mapping, Sequence

from ..concepts import Candidate
from .explanation import Interpretation

# What makes a link certain: its score, and how far it is ahead of the next candidate. Chosen on
# the dev parts of NCBI and BC5CDR (0.7, 0.8, 0.9; 0.02, 0.05, 0.1).
_CERTAIN_SCORE = 0.8
_CERTAIN_MARGIN = 0.05


def raise_certain(answers: Sequence[Interpretation], bonus: float) -> list[Interpretation]:
    """Raise the concepts that a document's certain mentions link to, for its other mentions. A
    mention with more words than any that certainly links to a concept is more specific: it stays.

    answers (Sequence[Interpretation]): How the mentions of one document are read.
    bonus (float): What is added to scores. They stay at most 1.
    RETURNS (List[Interpretation]): The same, the candidates of uncertain mentions ranked again.
        Composites that were split stay.
    """
    known = _certain_concepts(answers)
    return [_raise(answer, known, bonus) for answer in answers]


def _certain_concepts(answers: Iterable[Interpretation]) -> dict[str, int]:
    """RETURNS (Dict[str, int]): The most words of a text that certainly links to each concept."""
    known: dict[str, int] = {}
    for answer in answers:
        for text, candidates in zip(answer.texts, answer.parts, strict=True):
            if is_certain(candidates):
                concept = candidates[0].concept_id
                known[concept] = max(known.get(concept, 0), _size(text))
    return known


def is_certain(candidates: Sequence[Candidate]) -> bool:
    """RETURNS (bool): Whether a mention certainly links to its first candidate.

    candidates (Sequence[Candidate]): Those of the mention, best first.
    """
    if not candidates or candidates[0].score < _CERTAIN_SCORE:
        return False
    return len(candidates) == 1 or candidates[0].score - candidates[1].score >= _CERTAIN_MARGIN


def _raise(answer: Interpretation, known: Mapping[str, int], bonus: float) -> Interpretation:
    if answer.kind == "parts" or is_certain(answer.parts[0]):
        return answer
    words = _size(answer.texts[0])

    def raised(candidate: Candidate) -> float:
        return candidate.score + bonus * (known.get(candidate.concept_id, 0) >= words)

    ranked = sorted(answer.parts[0], key=raised, reverse=True)
    candidates = [each._replace(score=min(raised(each), 1.0)) for each in ranked]
    return answer._replace(parts=(candidates,))


def _size(text: str) -> int:
    return len(text.split())

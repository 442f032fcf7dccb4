"""Asking several pipelines about a corpus and about mentions, one after the other."""

import gc
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..errors import ConnormError, Errors
from ..pipeline.loading import find_normalizer, load_pipeline
from .drawing import Drawing
from .scoring import Request, Scored, require_same_mentions, score

if TYPE_CHECKING:
    from .neighbours import Neighbour


class Survey(NamedTuple):
    """The answers of several pipelines.

    scored (Dict[str, Scored]): By pipeline; empty without a corpus.
    near (Dict[str, Dict[str, List[Neighbour]]]): By mention and pipeline.
    """

    scored: dict[str, Scored]
    near: dict[str, dict[str, list["Neighbour"]]]


def name_pipelines(sources: Sequence[str | Path], labels: Sequence[str]) -> dict[str, str]:
    """Label pipelines: with the labels given, in order, then with the names of their folders.

    sources (Sequence[Union[str, Path]]): Installed packages and folders.
    labels (Sequence[str]): At most as many.
    RETURNS (Dict[str, str]): The sources by label.
    RAISES (ConnormError): CN730 for too many labels, CN731 for one that occurs twice.
    """
    if len(labels) > len(sources):
        raise ConnormError(Errors.CN730.format(labels=len(labels), pipelines=len(sources)))
    own_names = [Path(source).resolve().name for source in sources[len(labels) :]]
    named: dict[str, str] = {}
    for label, source in zip([*labels, *own_names], sources, strict=True):
        if label in named:
            raise ConnormError(Errors.CN731.format(label=label))
        named[label] = str(source)
    return named


def ask_pipelines(
    pipelines: Mapping[str, str],
    *,
    component: str | None = None,
    request: Request | None = None,
    neighbours: Sequence[str] = (),
    drawing: Drawing | None = None,
) -> Survey:
    """Load the pipelines one after the other, so that only one is in memory, and ask each of them.

    pipelines (Mapping[str, str]): Packages and folders by label, at least one.
    component (Optional[str]): Which concept normalizer, if there are several.
    request (Optional[Request]): What to score.
    neighbours (Sequence[str]): Mentions whose nearest texts to find.
    drawing (Optional[Drawing]): Gets a panel of each.
    RETURNS (Survey): The answers.
    RAISES (ConnormError): CN601 if the pipelines read different mentions, and the errors of
        `score`.
    """
    survey = Survey({}, {mention: {} for mention in neighbours})
    for label, source in pipelines.items():
        nlp = load_pipeline(source)
        normalizer = find_normalizer(nlp, component=component)
        if request is not None:
            survey.scored[label] = score(nlp, normalizer, request)
            require_same_mentions(survey.scored, request.corpus_path)
        if neighbours:
            from .neighbours import nearest_texts

            for mention, found in survey.near.items():
                found[label] = nearest_texts(normalizer.lookup, mention)
        if drawing is not None:
            drawing.add(normalizer, label)
        # Free what it mapped and loaded before the next one.
        del nlp, normalizer
        gc.collect()
    return survey

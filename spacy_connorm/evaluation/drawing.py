"""A picture of the same concept texts as several encoders place them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..files.atomic import atomic_file
from ..pipeline.concept_normalizer import ConceptNormalizer

if TYPE_CHECKING:
    from .projection import ConceptTexts, Panel


class Drawing:
    """Panels that are added one pipeline at a time.

    concepts (List[ConceptTexts]): What all panels show.
    panels (List[Panel]): The points of each pipeline.
    """

    def __init__(self, concept_ids: Sequence[str] = ()) -> None:
        """Start without panels.

        concept_ids (Sequence[str]): What to draw; chosen by `projection.choose_concepts` if empty.
        RAISES (ConnormError): CN604 if matplotlib is not installed.
        """
        from .figures import require_matplotlib

        require_matplotlib()
        self._concept_ids = list(concept_ids)
        self.concepts: list[ConceptTexts] = []
        self.panels: list[Panel] = []

    def add(self, normalizer: ConceptNormalizer, label: str) -> None:
        """Add a panel. The first pipeline's index chooses the concepts and texts of all panels.

        normalizer (ConceptNormalizer): Its encoder places the texts.
        label (str): The panel's title.
        RAISES (ConnormError): CN411 for a concept that the first index lacks, CN603 if there is too
            little to draw.
        """
        from .projection import choose_concepts, project, read_texts

        index = normalizer.lookup.index
        if not self.concepts:
            self.concepts = read_texts(index, self._concept_ids or choose_concepts(index))
        self.panels.append(
            project(normalizer.lookup.normalized_encoder, self.concepts, label=label)
        )

    def write(self, path: str | Path) -> None:
        """Draw the panels side by side.

        path (Union[str, Path]): A `.svg` or `.png` file.
        RAISES (ConnormError): CN105 or CN108 if it cannot be written.
        """
        from .projection_picture import draw_projections

        with atomic_file(path) as aside:
            draw_projections(self.panels, self.concepts, aside)

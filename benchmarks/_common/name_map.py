"""The names of some concepts as points in the plane (Liu et al. 2021, Figure 1)."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from spacy_connorm.concepts import Ontology

CONCEPTS, NAMES = 20, 10
SEED = 0


def choose_names(ontology: Ontology) -> tuple[list[str], list[str]]:
    """Draw concepts, those with the most names first, and some names of each.

    ontology (Ontology): The concepts; from `NAMES` names on, more do not count.
    RETURNS (Tuple[List[str], List[str]]): Names, and the concept that each belongs to.
    """
    rng = np.random.default_rng(SEED)
    names = {concept.concept_id: sorted(set(concept.names)) for concept in ontology}
    order = rng.permutation(sorted(names)).tolist()
    # Sorting keeps the drawn order of concepts with enough names.
    chosen = sorted(order, key=lambda concept: -min(len(names[concept]), NAMES))[:CONCEPTS]
    pairs = [(each, own) for own in chosen for each in rng.permutation(names[own])[:NAMES].tolist()]
    drawn, owners = zip(*pairs, strict=True)
    return list(drawn), list(owners)


def separation(vectors: np.ndarray, concepts: Sequence[str]) -> float:
    """RETURNS (float): The mean silhouette of names by cosine distance, from -1 to 1: how much
    nearer a name is to those of its concept than to those of the nearest other.
    """
    from sklearn.metrics import silhouette_score

    return round(float(silhouette_score(vectors, concepts, metric="cosine")), 3)


def draw_names(sides: Mapping[str, np.ndarray], concepts: Sequence[str], path: Path) -> None:
    """Draw names by t-SNE over cosine distances, one colour a concept.

    sides (Mapping[str, Floats2d]): The vectors of the names, by title.
    concepts (Sequence[str]): The concept of each name.
    path (Path): The file to write, .svg or .png.
    """
    from matplotlib import colormaps
    from matplotlib.figure import Figure
    from sklearn.manifold import TSNE

    numbers = np.unique(concepts, return_inverse=True)[1]
    colours = colormaps["tab20"](numbers)
    figure = Figure(figsize=(10, 5), facecolor="white", layout="constrained")
    for axis, (title, vectors) in zip(figure.subplots(1, len(sides)), sides.items(), strict=True):
        project = TSNE(metric="cosine", perplexity=min(NAMES, len(vectors) - 1), random_state=SEED)
        axis.scatter(*project.fit_transform(vectors).T, c=colours, s=14)
        axis.set_title(title)
        axis.set_xticks([])
        axis.set_yticks([])
    figure.savefig(path, dpi=150)

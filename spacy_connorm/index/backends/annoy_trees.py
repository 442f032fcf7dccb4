"""The trees in a file of Annoy, read without its library.

A file is an array of nodes. The first ones are the items; each tree ends with its root, and all
roots stand once more at the end. A node has the number of items below it, two children or, if so
many items fit, the items themselves, and a vector.
"""

from pathlib import Path

import numpy as np

# Integers before the vector: the number of items below, and two children.
_HEAD = 3


def trees_hold_each_item_once(path: Path, *, items: int, width: int) -> bool:
    """Walk all trees.

    path (Path): The file.
    items (int): How many items there are.
    width (int): The number of components of their vectors.
    RETURNS (bool): Whether every tree holds every item exactly once. False as well if the file does
        not consist of nodes.
    """
    size, length = _HEAD + width, path.stat().st_size
    if not length or length % (4 * size):
        return False
    nodes = np.memmap(path, dtype="<i4", mode="r").reshape(-1, size)
    roots = _roots(nodes, items)
    return bool(roots) and all(_holds_each_once(nodes, root, items) for root in roots)


def _roots(nodes: np.ndarray, items: int) -> list[int]:
    """RETURNS (List[int]): The roots at the end of the file; only they are above all items."""
    place = len(nodes)
    while place > items and nodes[place - 1, 0] == items:
        place -= 1
    return list(range(place, len(nodes)))


def _holds_each_once(nodes: np.ndarray, root: int, items: int) -> bool:
    found, seen = np.zeros(items, dtype="bool"), 0
    level = np.asarray([root])
    while len(level):
        sizes = nodes[level, 0]
        is_bucket = sizes <= nodes.shape[1] - 1
        if not (sizes > 0).all():
            return False
        below = [nodes[level[~is_bucket], 1:_HEAD].ravel()]
        below += [
            nodes[node, 1 : 1 + size]
            for node, size in zip(level[is_bucket], sizes[is_bucket], strict=True)
        ]
        children = np.concatenate(below)
        if len(children) and not (children.min() >= 0 and children.max() < len(nodes)):
            return False
        own = children[children < items]
        if len(np.unique(own)) != len(own) or found[own].any():
            return False
        found[own] = True
        level = children[children >= items]
        seen += len(level)
        if seen > len(nodes):
            return False
    return bool(found.all())

"""The file of an Annoy forest, as its C++ code reads it: without any check.

A file is an array of nodes of (3 + width) four-byte words: the number of items below the node, two
words for its children, and a vector. The first nodes are the items, and the last ones the roots. A
node with at most width + 2 items below it is a leaf: their numbers start in its second word and
take the place of the vector. Any other node has two children.
"""

from pathlib import Path

import numpy as np

from ...errors import ConnormError, Errors

# How many nodes are checked at once.
_BLOCK = 2048


def require_sound_forest(path: Path, *, items: int, width: int) -> None:
    """Check that a search through a forest stays inside its file and comes to an end: children are
    nodes, leaves hold items, and every node has as many items as its children together. So a child
    has fewer items than its parent, and each tree is walked in bounded time.

    path (Path): The file.
    items (int): The number of vectors it was built from.
    width (int): Their width.
    RAISES (ConnormError): CN403 if it is no such forest.
    """
    words = width + 3
    size = path.stat().st_size
    if size == 0 or size % (4 * words):
        _refuse(path, f"{size} bytes are not whole nodes")
    nodes = np.asarray(np.memmap(path, dtype="<i4", mode="r", shape=(size // (4 * words), words)))
    below = np.array(nodes[:, 0])
    if below[-1] != items or len(nodes) <= items:
        _refuse(path, f"it is not a forest of {items} items")
    if (below[:items] != 1).any() or below.min() < 1:
        _refuse(path, "the number of items of a node is wrong")
    is_leaf = below <= width + 2
    is_leaf[:items] = False
    leaves = np.flatnonzero(is_leaf)
    inner = np.flatnonzero(below > width + 2)
    _check_leaves(path, nodes, leaves, items)
    children = nodes[inner, 1:3]
    if children.size and not (children.min() >= 0 and children.max() < len(nodes)):
        _refuse(path, "a child is no node")
    if (below[children].sum(axis=1, dtype="int64") != below[inner]).any():
        _refuse(path, "a node has not the items of its children")


def has_each_item_in_each_tree(path: Path, *, items: int, width: int) -> bool:
    """Walk all trees.

    path (Path): The file, which `require_sound_forest` has accepted.
    items (int): The number of vectors it was built from.
    width (int): Their width.
    RETURNS (bool): Whether every tree holds every item exactly once.
    """
    nodes = np.asarray(np.memmap(path, dtype="<i4", mode="r")).reshape(-1, width + 3)
    # The roots stand at the end: only they have all items below.
    others = np.flatnonzero(nodes[:, 0] != items)
    first = max(items, int(others[-1]) + 1 if len(others) else 0)
    everything = np.arange(items)
    return all(
        np.array_equal(np.sort(_items_below(nodes, root, items)), everything)
        for root in range(first, len(nodes))
    )


def stored_vectors(path: Path, *, items: int, width: int) -> np.ndarray:
    """RETURNS (Floats2d): float32 (items, width): the vectors in a sound forest, memory-mapped."""
    nodes = np.asarray(np.memmap(path, dtype="<f4", mode="r")).reshape(-1, width + 3)
    return nodes[:items, 3:]


def _items_below(nodes: np.ndarray, root: int, items: int) -> np.ndarray:
    found, level = [], np.asarray([root])
    while len(level):
        is_leaf = nodes[level, 0] < nodes.shape[1]
        found += [nodes[leaf, 1 : 1 + nodes[leaf, 0]] for leaf in level[is_leaf]]
        children = nodes[level[~is_leaf], 1:3].ravel()
        found.append(children[children < items])
        level = children[children >= items]
    return np.concatenate(found)


def _check_leaves(path: Path, nodes: np.ndarray, leaves: np.ndarray, items: int) -> None:
    for start in range(0, len(leaves), _BLOCK):
        block = leaves[start : start + _BLOCK]
        held = nodes[block, 1 : 1 + nodes[block, 0].max()]
        # What follows the items of a leaf was never written.
        is_held = np.arange(held.shape[1]) < nodes[block, :1]
        found = held[is_held].view("uint32")
        if len(found) and found.max() >= items:
            _refuse(path, "a leaf holds what is no item")


def _refuse(path: Path, reason: str) -> None:
    raise ConnormError(Errors.CN403.format(path=path, reason=reason))

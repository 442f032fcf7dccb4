"""An embedding layer that shows where a text has names: matches of `mention_finder` as features of
tokens. A pipeline with this layer is loaded only where this file was imported, so it becomes a
package with the file:

    python -m spacy train assets/ner-tok2vec.cfg --code assets/name_embed.py --output training/ner
    python assets/name_embed.py training/ner/model-best training/ner/pipeline
    python -m spacy package training/ner/pipeline packages --code assets/name_embed.py --build wheel

The second line is `connorm save` for such a pipeline. Once the wheel is installed, every command
takes the pipeline by the name of its package.
"""

import sys
from collections.abc import Callable

from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import Maxout, Model, chain, concatenate, list2ragged, ragged2list, with_array
from thinc.types import Floats2d

# The columns: the token begins, continues or ends a name, is a name by itself, or is in none.
_BEGIN, _IN, _LAST, _UNIT, _OUT = range(5)
_COLUMNS = 5
Embedder = Model[list[Doc], list[Floats2d]]


@registry.architectures("assets.NameEmbed.v1")
def NameEmbed(
    embed: Embedder, spans_key: str, width: int | None = None, scale: float = 1.0
) -> Embedder:
    """Add to the vector of each token its position in the spans of a group, such as the names
    written by `mention_finder`. To train on them, the finder must be one of the
    `annotating_components` of the training config.

    embed (Model[List[Doc], List[Floats2d]]): Computes the vectors: an embedding layer, or a
        listener.
    spans_key (str): The group, `doc.spans[spans_key]`. A document without it has no names. If spans
        overlap, the later ones count. Empty spans are ignored.
    width (Optional[int]): Mix vectors and features into vectors of this width, as required by an
        encoder after an embedding layer; None: append the features to the vectors.
    scale (float): The value of a feature that is true. Larger values are learned faster.
    RETURNS (Model[List[Doc], List[Floats2d]]): One row per token.
    """
    joined: Embedder = concatenate(embed, _name_features(spans_key, scale))
    if width is None:
        return joined
    mixer: Model = Maxout(nO=width, nP=3, normalize=True)
    return chain(joined, list2ragged(), with_array(mixer), ragged2list())


def _name_features(spans_key: str, scale: float) -> Embedder:
    return Model(
        "name_features",
        _forward,
        dims={"nO": _COLUMNS},
        attrs={"spans_key": spans_key, "scale": scale},
    )


def _forward(
    model: Embedder, docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Doc]]]:
    features = [_read(model, doc) for doc in docs]
    return features, lambda gradients: []


def _read(model: Embedder, doc: Doc) -> Floats2d:
    rows = model.ops.alloc2f(len(doc), _COLUMNS)
    scale = model.attrs["scale"]
    rows[:, _OUT] = scale
    key = model.attrs["spans_key"]
    for span in filter(len, doc.spans.get(key, ())):
        rows[span.start : span.end] = 0
        if len(span) == 1:
            rows[span.start, _UNIT] = scale
        else:
            rows[span.start, _BEGIN] = scale
            rows[span.start + 1 : span.end - 1, _IN] = scale
            rows[span.end - 1, _LAST] = scale
    return rows


if __name__ == "__main__":
    from spacy_connorm import save_pipeline

    save_pipeline(*sys.argv[1:])

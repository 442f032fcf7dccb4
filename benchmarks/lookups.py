"""The encoders and indexes that the benchmarks compare."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from catalog import Data
from memo import keep, remember
from options import fail
from spacy import registry

from spacy_connorm.encoders import is_sparse
from spacy_connorm.errors import ConnormError
from spacy_connorm.index.concept_index import Backend
from spacy_connorm.index.exact import ExactIndex
from spacy_connorm.lookup import ConceptLookup
from spacy_connorm.sieve import Sieve

# What a search of the sieve but the last must reach to answer (the paper's and the default).
THRESHOLD = 0.95


def make_sieve(name: str) -> Sieve:
    """RETURNS (Sieve): A sieve by name, e.g. "OD-T" or "D-T+OD-T"."""
    searches = name.split("+")
    return Sieve(searches, [THRESHOLD] * (len(searches) - 1))


def encoder_config(name: str) -> dict[str, Any]:
    """Look an encoder up.

    name (str): "ngram", "minilm" or the folder of a Transformers model.
    RETURNS (Dict[str, Any]): Its block of a pipeline's config.
    """
    if name == "ngram":
        return {"@architectures": "spacy-connorm.NgramEncoder.v1"}
    if name == "dan":
        fail("The DAN encoder comes with training, which this version does not have yet.")
    if name != "minilm" and not Path(name).is_dir():
        fail(f"'{name}' is no encoder: give exact, ngram, minilm or the folder of a model.")
    model = {} if name == "minilm" else {"name": name}
    return {"@architectures": "spacy-connorm.TransformerEncoder.v1", **model}


def build_lookup(
    encoder_name: str,
    data: Data,
    *,
    searches: Iterable[str],
    work: Path,
    backend: Backend | None = None,
) -> ConceptLookup:
    """Index a data set's ontology and D; texts that an earlier run encoded are not encoded again.

    encoder_name (str): As in `encoder_config`.
    data (Data): The data set.
    searches (Iterable[str]): Searches and sieves to serve.
    work (Path): Keeps vectors of texts.
    backend (Optional[Backend]): How vectors are searched; exactly if not given.
    RETURNS (ConceptLookup): The lookup.
    """
    parts = list(dict.fromkeys(part for name in searches for part in name.split("+")))
    encoder = registry.resolve({"encoder": encoder_config(encoder_name)})["encoder"]
    if not is_sparse(encoder):
        encoder = remember(encoder, work)
    lookup = ConceptLookup(encoder, Sieve(parts[:1], []), backend or ExactIndex())
    ontology = data.ontology
    try:
        lookup.build(ontology, data.synonyms, source=ontology.source, searches=parts)
        lookup.encoder.predict(sorted({mention.text for mention in data.mentions}))
    except ConnormError as error:
        fail(str(error))
    keep(lookup.encoder)
    return lookup

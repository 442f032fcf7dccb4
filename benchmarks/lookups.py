"""The encoders and indexes that the benchmarks compare."""

from collections.abc import Iterable
from pathlib import Path

from catalog import Data
from memo import keep, remember
from options import fail
from thinc.api import Model

from spacy_connorm.encoders import is_sparse
from spacy_connorm.encoders.ngram import NgramEncoder
from spacy_connorm.encoders.transformer import TransformerEncoder
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


def make_encoder(name: str) -> Model:
    """Build an encoder; nothing is loaded.

    name (str): "ngram", "minilm" or the folder of a Transformers model.
    RETURNS (Model[List[str], Floats2d]): The encoder.
    """
    if name == "ngram":
        return NgramEncoder()
    if name == "minilm":
        return TransformerEncoder()
    if name == "dan":
        fail("The DAN encoder comes with training, which this version does not have yet.")
    if not Path(name).is_dir():
        fail(f"'{name}' is no encoder: give exact, ngram, minilm or the folder of a model.")
    return TransformerEncoder(name=name)


def build_lookup(
    encoder_name: str,
    data: Data,
    *,
    searches: Iterable[str],
    work: Path,
    backend: Backend | None = None,
) -> ConceptLookup:
    """Index a data set's ontology and D; texts that an earlier run encoded are not encoded again.

    encoder_name (str): As in `make_encoder`.
    data (Data): The data set.
    searches (Iterable[str]): Searches and sieves to serve.
    work (Path): Keeps vectors of texts.
    backend (Optional[Backend]): How vectors are searched; exactly if not given.
    RETURNS (ConceptLookup): The lookup.
    """
    parts = list(dict.fromkeys(part for name in searches for part in name.split("+")))
    encoder = make_encoder(encoder_name)
    if not is_sparse(encoder):
        encoder = remember(encoder, work)
    lookup = ConceptLookup(encoder, Sieve(parts[:1], []), backend or ExactIndex())
    ontology = data.ontology()
    try:
        lookup.build(ontology, data.synonyms(), source=ontology.source, searches=parts)
        lookup.encoder.predict(sorted({mention.text for mention in data.mentions()}))
    except ConnormError as error:
        fail(str(error))
    keep(lookup.encoder)
    return lookup

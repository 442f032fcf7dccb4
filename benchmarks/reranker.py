"""What a reranker gains over the sieve: by what D and the document say of each candidate, and by
the sentence, which an untrained MiniLM reads.

It is trained on the documents of D, each of which is left out of D while its mentions are searched.
The encoder must not have learned from them: `--train` is O.

Example: python benchmarks/reranker.py --dataset ncbi --encoder minilm --part dev \\
    --data ../shared/data
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from random import shuffle
from statistics import median
from typing import Any

import spacy
from _common.builders import encoder_config
from _common.cli import begin, clear_errors, finish, make_parser
from _common.datasets import Data
from _common.options import add_datasets, add_encoder, add_part, at_least
from _common.pipelines import add_normalizer
from _common.scoring import read_standard
from _common.seeds import by_seed, mean_columns
from _measure.stopwatch import time_call
from spacy import registry
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import fix_random_seed, minibatch
from thinc.api import Config

from spacy_connorm.documents.mentions import MENTIONS_KEY
from spacy_connorm.documents.spans import get_candidates
from spacy_connorm.encoders.pretrained import find_folder
from spacy_connorm.evaluation import Prediction, score_predictions
from spacy_connorm.evaluation.report import Row, score_row
from spacy_connorm.pipeline.marked_corpus import mark_mentions

ASSETS = Path(__file__).parents[1] / "assets"
CONFIGS = {
    "sieve": None,
    "reranker": ASSETS / "reranker.cfg",
    "with the sentence": ASSETS / "reranker-transformer.cfg",
}
MINILM = "sentence-transformers/all-MiniLM-L6-v2"
# A reranker does not change scores, and lenient scores depend on these alone.
SCORES = ("strict@1", "unseen_strict@1", "strict@5")
RERANKER = "candidate_reranker"


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    with clear_errors():
        rows = [row for dataset in arguments.dataset for row in measure(dataset, arguments)]
    finish(rows, arguments.json)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    add_datasets(parser)
    add_encoder(parser, trains=())
    add_part(parser)
    parser.add_argument("--rerankers", choices=CONFIGS, nargs="+", default=list(CONFIGS))
    parser.add_argument("--seeds", type=at_least(1), default=3, help="trainings [%(default)s]")
    parser.add_argument(
        "--epochs", type=at_least(1), help="another number than the configs' `max_epochs`"
    )
    return parser


def measure(dataset: str, arguments: Namespace) -> Iterator[Row]:
    """YIELDS (Dict[str, Any]): A row for the sieve and for each reranker: means over seeds."""
    data = Data(dataset, arguments.data, part=arguments.part)
    nlp = make_pipeline(data, arguments)
    # Read once: nothing before the reranker learns.
    read = partial(read_documents, nlp)
    learned, scored = read(data.docs), read(data.scored_docs)
    run = partial(train_and_score, nlp, learned, scored, data, epochs=arguments.epochs)
    for name, rows in by_seed(arguments.rerankers, arguments.seeds, run).items():
        yield {
            "dataset": dataset,
            "part": arguments.part,
            "encoder": arguments.encoder,
            "reranker": name,
            "mentions": rows[0]["mentions"],
            "seeds": len(rows),
            **mean_columns(rows, SCORES),
            "ms_per_document": round(median(row["ms_per_document"] for row in rows), 1),
        }


def make_pipeline(data: Data, arguments: Namespace) -> Language:
    """RETURNS (Language): A normalizer, and a transformer if a reranker reads its vectors."""
    nlp = spacy.blank("en", vocab=data.scored_docs[0].vocab)
    nlp.add_pipe("abbreviation_resolver")
    config = {
        "encoder": encoder_config(arguments.encoder, data, work=arguments.work),
        "spans_key": MENTIONS_KEY,
    }
    options: dict[str, Any] = {"synonyms": data.expanded_synonyms, "work": arguments.work}
    add_normalizer(nlp, config, data, **options)
    if "with the sentence" in arguments.rerankers:
        block = Config().from_disk(ASSETS / "ner-transformer.cfg")["components"]["transformer"]
        block["model"]["name"] = str(find_folder(MINILM))
        nlp.add_pipe(block.pop("factory"), config=block).initialize(lambda: [], nlp=nlp)
    return nlp


def read_documents(nlp: Language, docs: Sequence[Doc]) -> list[Example]:
    """RETURNS (List[Example]): Documents that the pipeline has read, their mentions being known."""
    examples = [Example(nlp.make_doc(doc.text), doc) for doc in docs]
    for example in examples:
        mark_mentions(example)
    for _ in nlp.pipe([each.predicted for each in examples]):
        pass
    return examples


def train_and_score(
    nlp: Language,
    learned: Sequence[Example],
    scored: Sequence[Example],
    data: Data,
    name: str,
    seed: int,
    *,
    epochs: int | None,
) -> Row:
    """RETURNS (Dict[str, Any]): The scores of one training; those of the sieve if there is none."""
    docs = [each.predicted.copy() for each in scored]
    path = CONFIGS[name]
    seconds = 0.0
    if path is not None:
        rank = train(nlp, learned, Config().from_disk(path), seed=seed, epochs=epochs)
        seconds = time_call(lambda: rank(docs)).clock
    predictions = [
        Prediction(get_candidates(span) or [], span._.kb_id)
        for doc in docs
        for span in doc.spans[MENTIONS_KEY]
    ]
    row = score_row(score_predictions(read_standard(data), predictions))
    scores = {name: row[name] for name in ("mentions", *SCORES)}
    return {**scores, "ms_per_document": 1000 * seconds / len(docs)}


def train(
    nlp: Language, examples: Sequence[Example], config: Config, *, seed: int, epochs: int | None
) -> Callable[[Sequence[Doc]], Any]:
    """Train a reranker as `spacy train` does, on documents that the others have read already.

    nlp (Language): The pipeline.
    examples (Sequence[Example]): The documents.
    config (Config): The training config.
    seed (int): Of the weights and of the order of documents.
    epochs (Optional[int]): Another number than the config's.
    RETURNS (Callable[[Sequence[Doc]], Any]): Ranks the candidates of documents.
    """
    fix_random_seed(seed)
    if RERANKER in nlp.pipe_names:
        nlp.remove_pipe(RERANKER)
    block = config["components"][RERANKER]
    reranker = nlp.add_pipe(block.pop("factory"), config=block)
    reranker.initialize(lambda: examples, nlp=nlp)
    training = config["training"]
    optimizer = registry.resolve({"optimizer": training["optimizer"]})["optimizer"]
    order = list(examples)
    for _ in range(epochs or training["max_epochs"]):
        shuffle(order)
        for batch in minibatch(order, training["batcher"]["size"]):
            reranker.update(batch, sgd=optimizer, drop=training["dropout"])
    return lambda docs: list(reranker.pipe(docs))


if __name__ == "__main__":
    main()

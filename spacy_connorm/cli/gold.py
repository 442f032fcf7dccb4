"""The gold standard of a corpus, as the index of a pipeline sees it."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..component import ConceptNormalizer
from ..encoders import encoder_inputs
from ..errors import ConnormError, Errors, Warnings, warn
from ..evaluation import Known
from ..mentions import Mention, annotated_mentions, annotated_synonyms
from ..text.cleaning import clean
from .files import read_docs


def read_mentions(path: Path, normalizer: ConceptNormalizer) -> list[Mention]:
    """Read the annotated mentions that a concept normalizer would be asked for.

    path (Path): A `.spacy` file.
    normalizer (ConceptNormalizer): Its setting `labels` chooses among them.
    RETURNS (List[Mention]): Those without gold ids included.
    RAISES (ConnormError): CN600 if no mention has a gold id, and what `read_docs` raises.
    """
    labels = normalizer.cfg["labels"]
    mentions = [
        mention
        for doc in read_docs(path, normalizer.vocab)
        for mention in annotated_mentions(doc, spans_key=normalizer.cfg["spans_key"])
        if labels is None or mention.label in labels
    ]
    if not any(mention.concept_ids for mention in mentions):
        chosen = f" with the labels {', '.join(labels)}" if labels else ""
        raise ConnormError(Errors.CN600.format(count=len(mentions), path=path, chosen=chosen))
    return mentions


def find_seen(
    normalizer: ConceptNormalizer, mentions: Sequence[Mention], *, train_path: Path | None = None
) -> list[bool]:
    """Tell mentions whose text is in D from the others. Texts that the encoder cannot tell apart
    are the same.

    normalizer (ConceptNormalizer): Has the encoder.
    mentions (Sequence[Mention]): The mentions.
    train_path (Optional[Path]): A `.spacy` file with D; that of the index if None.
    RETURNS (List[bool]): One a mention.
    RAISES (ConnormError): What `read_docs` raises.
    """
    encoder, layer = normalizer.lookup.encoder, normalizer.lookup.layer
    keys = encoder_inputs(encoder, [clean(mention.text) for mention in mentions])
    if train_path is None:
        return [layer.in_data(key) for key in keys]
    docs = read_docs(train_path, normalizer.vocab)
    synonyms = annotated_synonyms(
        docs, normalizer.cfg["labels"], spans_key=normalizer.cfg["spans_key"]
    )
    seen = set(encoder_inputs(encoder, [clean(text) for text, _ in synonyms]))
    return [key in seen for key in keys]


def find_known(
    normalizer: ConceptNormalizer, mentions: Iterable[Mention], path: Path
) -> dict[str, Known]:
    """Look the gold ids of mentions up in the index, as ids or as alternate ids.

    normalizer (ConceptNormalizer): Has the index.
    mentions (Iterable[Mention]): The mentions.
    path (Path): Where they come from, for the warning.
    RETURNS (Dict[str, Known]): The concepts by gold id; without those that the index lacks.
    WARNS (ConnormWarning): CNW600 if the index has none of them.
    """
    store = normalizer.lookup.index.store
    gold_ids = dict.fromkeys(each for mention in mentions for each in mention.concept_ids)
    numbers = {gold_id: store.number(gold_id) for gold_id in gold_ids}
    found = {gold_id: number for gold_id, number in numbers.items() if number is not None}
    if not found:
        ((example, _),) = store.labels([0]).values()
        first = next(iter(gold_ids))
        message = Warnings.CNW600.format(
            count=len(gold_ids), path=path, first=first, example=example
        )
        warn(message)
    labels = store.labels(found.values())
    return {
        gold_id: Known(*labels[number], in_ontology=store.in_ontology(number))
        for gold_id, number in found.items()
    }

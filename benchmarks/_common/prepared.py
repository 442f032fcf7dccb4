"""BioSyn's preprocessing of a data set, for comparison with its numbers only: it looks at gold."""

from dataclasses import replace
from functools import cached_property

from spacy.tokens import Doc, Span

from _common.datasets import Data, blank_english, read_long_forms
from _common.scoring import DEPTH, read_standard
from spacy_connorm.annotations.mentions import Mention, annotated_mentions
from spacy_connorm.annotations.spans import written_id
from spacy_connorm.concepts import Concept, Ontology
from spacy_connorm.evaluation import Gold, Prediction
from spacy_connorm.evaluation.biosyn import biosyn_ids, biosyn_texts
from spacy_connorm.evaluation.pipelines.queries import join_parts
from spacy_connorm.linker.lookup import ConceptLookup


class PreparedData(Data):
    """A data set whose names are lower-cased, without punctuation, and whose D is made of the texts
    that `biosyn_texts` makes of its mentions, each as a document of its own.
    """

    def digest(self, *, with_data: bool) -> str:
        return f"biosyn{super().digest(with_data=with_data)}"

    @cached_property
    def ontology(self) -> Ontology:
        """RETURNS (Ontology): O."""
        read = super().ontology
        return Ontology(map(_prepared, read), source=read.source)

    @cached_property
    def docs(self) -> list[Doc]:
        """RETURNS (List[Doc]): The texts of D that have concepts."""
        docs = super().docs
        mentions = [mention for doc in docs for mention in annotated_mentions(doc)]
        return [
            _as_document(text, mention)
            for mention, long_form in zip(mentions, read_long_forms(docs), strict=True)
            for text in prepared_texts(mention, long_form)
            if mention.concept_ids
        ]


def prepared_texts(mention: Mention, long_form: str) -> tuple[str, ...]:
    """RETURNS (Tuple[str, ...]): The texts to search for a mention, or to learn.

    mention (Mention): The mention.
    long_form (str): What it stands for in its document; may be empty.
    """
    long_forms = {mention.text: long_form} if long_form else {}
    return biosyn_texts(mention.text, biosyn_ids(mention.concept_ids), long_forms)


def answer_prepared(data: Data, lookup: ConceptLookup) -> tuple[list[Gold], list[Prediction]]:
    """Score mentions with the papers' preprocessing. That of names is the index's.

    data (Data): The data set.
    lookup (ConceptLookup): Answers.
    RETURNS (Tuple[List[Gold], List[Prediction]]): Gold ids and predictions.
    """
    texts = [
        prepared_texts(mention, long_form)
        for mention, long_form in zip(data.mentions, data.long_forms, strict=True)
    ]
    found = lookup.candidates([text for parts in texts for text in parts], top_k=DEPTH)
    answers = join_parts(found, map(len, texts))
    gold = [
        each._replace(concept_ids=_primary(mention, data.ontology))
        for each, mention in zip(read_standard(data), data.mentions, strict=True)
    ]
    return gold, [Prediction(each, written_id(each, None)) for each in answers]


def _primary(mention: Mention, ontology: Ontology) -> frozenset[str]:
    return frozenset(map(ontology.primary_id, biosyn_ids(mention.concept_ids)))


def _prepared(concept: Concept) -> Concept:
    name, *aliases = (biosyn_texts(each, (), {})[0] for each in concept.names)
    others = tuple(dict.fromkeys(each for each in aliases if each != name))
    return replace(concept, canonical_name=name, aliases=others)


def _as_document(text: str, mention: Mention) -> Doc:
    doc = blank_english().make_doc(text)
    doc.ents = [
        Span(doc, 0, len(doc), mention.label, kb_id="|".join(biosyn_ids(mention.concept_ids)))
    ]
    return doc

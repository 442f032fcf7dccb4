"""Mentions and answers to them, written short."""

from spacy_connorm.concepts import NIL, Candidate
from spacy_connorm.evaluation import Gold, Prediction


def candidate(concept_id, score, part=0):
    """A candidate that is as likely as its score is high."""
    return Candidate(concept_id, "", score, "", "O-T", part=part, probability=score)


def predict(*answers):
    found = [candidate(*answer) for answer in answers]
    return Prediction(found, found[0].concept_id if found else NIL)


def gold(*concept_ids):
    return Gold("mention", frozenset(concept_ids), in_ontology=True)

"""The baseline: a mention equals a text of a concept, lower-cased and without punctuation."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from spacy_connorm.concepts import Candidate, Ontology

EXACT_SEARCHES = ("O-T", "D-T", "OD-T")
_PUNCTUATION = re.compile(r"[\W_]+")
# How often D gives a text this concept, and whether the text is its preferred name.
_Claim = tuple[int, bool]


class ExactMatcher:
    """Finds texts in O, D or both."""

    def __init__(self, ontology: Ontology, synonyms: Iterable[tuple[str, str]]) -> None:
        """Collect the texts.

        ontology (Ontology): O.
        synonyms (Iterable[Tuple[str, str]]): D: texts and concept ids.
        """
        self._names = {concept.concept_id: concept.canonical_name for concept in ontology}
        self._by_target: dict[str, dict[str, dict[str, _Claim]]] = {
            target: defaultdict(dict) for target in ("O", "D", "OD")
        }
        for concept in ontology:
            for name in reversed(concept.names):
                claim = (0, name == concept.canonical_name)
                self._claim(("O", "OD"), name, concept.concept_id, claim)
        for (key, concept_id), count in Counter(
            (_key(text), ontology.primary_id(concept_id)) for text, concept_id in synonyms
        ).items():
            preferred = self._by_target["O"].get(key, {}).get(concept_id, (0, False))[1]
            self._claim(("D", "OD"), key, concept_id, (count, preferred))

    def _claim(self, targets: Sequence[str], text: str, concept_id: str, claim: _Claim) -> None:
        for target in targets:
            self._by_target[target][_key(text)][concept_id] = claim

    def search(self, search: str, mentions: Sequence[str]) -> list[list[Candidate]]:
        """Search mentions.

        search (str): One of `EXACT_SEARCHES`.
        mentions (Sequence[str]): b texts.
        RETURNS (List[List[Candidate]]): b lists, empty where no text matches.
        """
        texts = self._by_target[search.removesuffix("-T")]
        return [
            [
                Candidate(concept_id, self._names.get(concept_id, mention), 1.0, mention, search)
                for concept_id, (count, preferred) in sorted(
                    texts.get(_key(mention), {}).items(),
                    key=lambda item: (-item[1][0], not item[1][1], item[0]),
                )
            ]
            for mention in mentions
        ]


def _key(text: str) -> str:
    return _PUNCTUATION.sub(" ", text.lower()).strip()

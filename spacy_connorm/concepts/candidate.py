"""What a search finds for a mention."""

from typing import NamedTuple

NIL = "NIL"


class Candidate(NamedTuple):
    """A candidate concept for a mention.

    concept_id (str): The id of the concept.
    name (str): Its preferred name.
    score (float): The cosine, or the inner product if the index has `metric = "dot"`; raised or
        lowered as the settings say.
    text (str): The concept text that matched; for searches over concepts (-C), the preferred name.
    search (str): The search of the sieve that found it, e.g. "D-T".
    searched (str): The text that was searched: the mention, its long form, or a part of either.
    part (int): The number of the mention's part, from 1; 0 if the whole mention was searched.
    dense (Optional[float]): The dense cosine in the score of a hybrid encoder.
    lexical (Optional[float]): The lexical (n-gram) cosine in it.
    probability (Optional[float]): The probability that it is correct, 0 to 1, if calibrated.
    codes (Optional[Dict[str, List[str]]]): Its ids in other vocabularies, by prefix; an empty list
        where it has none. None if no `code_systems` are asked for.
    """

    concept_id: str
    name: str
    score: float
    text: str
    search: str
    searched: str = ""
    part: int = 0
    dense: float | None = None
    lexical: float | None = None
    probability: float | None = None
    codes: dict[str, list[str]] | None = None

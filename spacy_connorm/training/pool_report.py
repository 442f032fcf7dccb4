"""Counts of what a pool holds and what was left out."""

from dataclasses import dataclass


@dataclass(slots=True)
class PoolReport:
    """Counts, filled while a pool is built.

    concepts (int): Concepts with a text to train on.
    single_text_concepts (int): Concepts with just one text, which has no positive.
    texts (int): Texts that the encoder can tell apart.
    ambiguous_texts (int): Texts of several concepts.
    from_ontology (int): |O|: pairs of text and concept of the ontology; an epoch draws each once.
    data_texts (int): Distinct pairs of text and concept in D.
    from_data (int): |D|: pairs of D that an epoch draws, repetitions included.
    mentions (int): Annotated mentions read.
    nil_mentions (int): Mentions left out: no gold id.
    composite_mentions (int): Mentions left out: several concepts, or a part without an id.
    empty_texts (int): Names and mentions left out: empty to the encoder.
    unknown_ids (int): Concepts of D that the ontology lacks.
    unknown_mentions (int): Mentions of these concepts, which are kept.
    """

    concepts: int = 0
    single_text_concepts: int = 0
    texts: int = 0
    ambiguous_texts: int = 0
    from_ontology: int = 0
    data_texts: int = 0
    from_data: int = 0
    mentions: int = 0
    nil_mentions: int = 0
    composite_mentions: int = 0
    empty_texts: int = 0
    unknown_ids: int = 0
    unknown_mentions: int = 0

    @property
    def repeats(self) -> float:
        """RETURNS (float): How often an epoch draws a text of D on average; 0 without D."""
        return self.from_data / self.data_texts if self.data_texts else 0.0

    def lines(self) -> list[tuple[str, int | float]]:
        """RETURNS (List[Tuple[str, Union[int, float]]]): Labels and counts, to print."""
        counts: list[tuple[str, int | float]] = [
            ("Concepts", self.concepts),
            ("Concepts with one text only", self.single_text_concepts),
            ("Texts", self.texts),
            ("Texts of several concepts", self.ambiguous_texts),
            ("Drawn from the ontology in an epoch", self.from_ontology),
        ]
        if self.mentions:
            counts += [
                ("Drawn from the annotated mentions in an epoch", self.from_data),
                ("Different annotated texts", self.data_texts),
                ("Times each of them is drawn", round(self.repeats, 2)),
                ("Annotated mentions", self.mentions),
                ("Mentions left out: no concept", self.nil_mentions),
                ("Mentions left out: several concepts", self.composite_mentions),
                ("Mentions of concepts not in the ontology", self.unknown_mentions),
                ("Concepts not in the ontology", self.unknown_ids),
            ]
        counts.append(("Names and mentions left out: empty", self.empty_texts))
        return counts

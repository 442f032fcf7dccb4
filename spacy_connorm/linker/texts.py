"""The texts of a mention, and how they are interpreted: as the name that a finder matched, as the
long form that the document defines, as written, or as the mentions that the text coordinates.
"""

from collections.abc import Collection, Sequence
from operator import attrgetter
from typing import Literal, NamedTuple, TypeAlias

from ..concepts import Candidate
from ..errors import refuse_text
from ..text.cleaning import clean
from ..text.composites import PART_SEPARATOR, composite_splitter
from .calibration import SAME_TEXT
from .retriever import Retriever

Kind: TypeAlias = Literal[
    "found name", "reworded name", "long form", "initials", "as written", "parts"
]
# The words of names, where a slash or "and" is a part of the name.
_NAMES = frozenset(["found name", "reworded name", "initials"])
# Below every cosine.
_NOTHING_FOUND = -1.0


class MentionTexts(NamedTuple):
    """What is known of a mention.

    mention (str): As written.
    long_form (str): The long form that its document defines; empty if it defines none.
    matched_name (str): The name that a finder matched; empty if none did.
    """

    mention: str
    long_form: str
    matched_name: str


class Way(NamedTuple):
    """A way to interpret a mention.

    kind (str): "found name", "reworded name", "long form", "initials", "as written" or "parts".
    texts (Tuple[str, ...]): The texts to search: one, or one for each part.
    certainty (float): How probable it is that the mention says this, see `Initials`; 1 for other
        kinds.
    """

    kind: Kind
    texts: tuple[str, ...]
    certainty: float = 1.0


class Interpretation(NamedTuple):
    """One way to read a mention, and what was found for it.

    kind (str): As in `Way`, like the texts and the certainty.
    texts (Tuple[str, ...]): The texts searched.
    parts (Tuple[List[Candidate], ...]): The candidates of each text, best first.
    certainty (float): What scores and probabilities were multiplied by.
    """

    kind: Kind
    texts: tuple[str, ...]
    parts: tuple[list[Candidate], ...]
    certainty: float = 1.0

    @property
    def score(self) -> float:
        """The score of this interpretation.

        RETURNS (float): The best score; for several parts, that of the worst part.
        """
        return min(part[0].score if part else _NOTHING_FOUND for part in self.parts)

    @property
    def concepts(self) -> set[str]:
        """The concepts of this interpretation.

        RETURNS (Set[str]): The first concept of each part.
        """
        return {part[0].concept_id for part in self.parts if part}

    @property
    def leading(self) -> set[str]:
        """The concepts with the best score for a whole mention.

        RETURNS (Set[str]): Their ids: several if one text denotes them all.
        """
        (candidates,) = self.parts
        return {
            candidate.concept_id
            for candidate in candidates
            if candidate.score == candidates[0].score
        }

    @property
    def is_settled(self) -> bool:
        """Whether a mention is the name of a single concept, so that its parts cannot link better.

        RETURNS (bool): True if it is.
        """
        return self.score >= SAME_TEXT and len(self.leading) == 1

    @property
    def candidates(self) -> list[Candidate]:
        """All candidates, with the number of their part.

        RETURNS (List[Candidate]): Part by part, best first.
        """
        if self.kind != "parts":
            return list(self.parts[0])
        return [
            candidate._replace(part=number)
            for number, part in enumerate(self.parts, start=1)
            for candidate in part
        ]


def clean_mentions(
    mentions: Sequence[str], long_forms: Sequence[str] | None, matched_names: Sequence[str] | None
) -> list[MentionTexts]:
    """Clean the texts of mentions.

    mentions (Sequence[str]): b mentions, as written.
    long_forms (Optional[Sequence[str]]): b long forms, or None.
    matched_names (Optional[Sequence[str]]): b names, or None.
    RETURNS (List[MentionTexts]): b cleaned texts.
    RAISES (ConnormError): CN006 for anything but lists of texts of the same length.
    """
    columns = []
    for name, given in (
        ("mentions", mentions),
        ("long_forms", long_forms),
        ("matched_names", matched_names),
    ):
        texts = [""] * len(mentions) if given is None else given
        if isinstance(texts, str):
            refuse_text(name, texts, "a list of texts")
        for place, text in enumerate(texts):
            if not isinstance(text, str):
                refuse_text(f"{name}[{place}]", text, "a text")
        if len(texts) != len(mentions):
            refuse_text(name, texts, f"one for each of {len(mentions)} mentions")
        columns.append(map(clean, texts))
    return list(map(MentionTexts, *columns))


def interpret(
    mentions: Collection[MentionTexts], retriever: Retriever
) -> dict[MentionTexts, list[Way]]:
    """List the ways to interpret whole mentions: as the name that the finder matched, unless D has
    the mention, or the name is only in another index; if there is none, or it has other words, as
    the long form that the document defines; and as written if it defines none, or if the written
    form is reliable.

    mentions (Collection[MentionTexts]): The mentions, each once.
    retriever (Retriever): Knows the texts of the index.
    RETURNS (Dict[MentionTexts, List[Way]]): The ways of each.
    """
    # Empty for most mentions, which then take no time here.
    named, matched, defined = set[str](), set[str](), set[str]()
    for mention, long_form, name in mentions:
        if name:
            named.add(mention)
            matched.add(name)
        if long_form:
            defined.add(mention)
    in_data = named and retriever.find_known_texts(named, "D")
    names = matched and retriever.find_known_texts(matched, "OD")
    # Inner products of two texts can't be compared.
    reliable = _find_reliable(defined, retriever) if defined and retriever.has_cosines else set()
    bag = retriever.index.words.known_bag
    ways: dict[MentionTexts, list[Way]] = {}
    for texts in mentions:
        mention, long_form, name = texts
        ways[texts] = []
        if name in names and mention not in in_data:
            is_reworded = retriever.has_cosines and bag(name) != bag(long_form or mention)
            ways[texts].append(Way("reworded name" if is_reworded else "found name", (name,)))
            if not is_reworded:
                continue
        if long_form:
            ways[texts].append(Way("long form", (long_form,)))
        if not long_form or mention in reliable:
            ways[texts].append(Way("as written", (mention,)))
    return ways


def read_initials(texts: MentionTexts, retriever: Retriever) -> list[Way]:
    """List the ways to interpret a mention with a short form of which nothing is known.

    texts (MentionTexts): The mention.
    retriever (Retriever): Knows the initials of the names of the index.
    RETURNS (List[Way]): The ways, only those that are names if any are; none if the document
        defines a long form, a finder matched a name, or the mention is in the index.
    """
    if texts.long_form or texts.matched_name:
        return []
    expansions = retriever.initials.expand(texts.mention)
    if not expansions or retriever.find_known_texts([texts.mention], "OD"):
        return []
    names = retriever.find_known_texts([expansion.text for expansion in expansions], "OD")
    kept = [expansion for expansion in expansions if expansion.text in names] or expansions
    share = len(expansions) / len(kept)
    return [Way("initials", (text,), certainty * share) for text, certainty in kept]


def _find_reliable(mentions: set[str], retriever: Retriever) -> set[str]:
    """Find the mentions that are searched as written although their document defines a long form. A
    definition can be wrong ("AAPC" does not stand for all of the text before its bracket), so
    annotated data and users count too, and so does the ontology if the mention is more than a short
    form ("MS/MS", "CA-125"), since a short form may stand for anything there.
    """
    in_data = retriever.find_known_texts(mentions, "D")
    longer = {mention for mention in mentions if not mention.isalnum()}
    return in_data | retriever.find_known_texts(longer - in_data, "OD")


def split(texts: MentionTexts, wholes: Sequence[Interpretation], language: str) -> list[Way]:
    """List the ways to split a mention into parts: as the names that the finder matched, or else by
    its words; none if it is a name.

    texts (MentionTexts): The mention.
    wholes (Sequence[Interpretation]): Its interpretations as a whole.
    language (str): The code of its language.
    RETURNS (List[Way]): The ways.
    """
    ways: list[Way] = []
    if PART_SEPARATOR in texts.matched_name:
        ways.append(Way("parts", tuple(texts.matched_name.split(PART_SEPARATOR))))
    else:
        splitter = composite_splitter(language)
        for whole in wholes:
            if whole.kind not in _NAMES and splitter.signs.search(whole.texts[0]):
                ways += [Way("parts", parts) for parts in splitter.split(whole.texts[0])]
    return [] if ways and any(map(attrgetter("is_settled"), wholes)) else ways

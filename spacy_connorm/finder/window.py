"""A window of a text that has the words of a name, as the rules see it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from spacy.tokens import Doc

from ..documents.token_texts import DocumentTokens
from ..documents.written_ids import ids_beside
from ..lang import FinderClasses
from ..text.bag_hashes import hash_bag
from ..text.cleaning import are_opposite, has_sign
from ..text.words import Words
from .known_names import KnownName, KnownNames, closest_name
from .long_forms import LongForms
from .name_edges import stands_alone
from .phrases import DASH

_COLON = ":"
_HYPHENS_TO_SPACES = str.maketrans("-\u2010\u2011", "   ")


@dataclass(frozen=True, eq=False)
class RuleContext:
    """What rules know besides a window: the language of the index, and the finder's settings.

    names (KnownNames): The names to find.
    long_forms (LongForms): The long forms of the index's short forms.
    settings (Mapping[str, Any]): See `FinderSettings`.
    """

    names: KnownNames
    long_forms: LongForms
    settings: Mapping[str, Any]

    @cached_property
    def words(self) -> Words:
        """What reads the words of the language.

        RETURNS (Words): That of the index.
        """
        return self.names.index.words

    @cached_property
    def classes(self) -> FinderClasses:
        """The classes of words around and in mentions.

        RETURNS (FinderClasses): The language's.
        """
        return self.words.language.finder

    @cached_property
    def showing(self) -> frozenset[str]:
        """What stands between a part and the finding that it shows.

        RETURNS (FrozenSet[str]): Verbs in lower case, and the colon of a field.
        """
        return self.classes.showing_verbs | {_COLON}

    @cached_property
    def stating(self) -> frozenset[str]:
        """What may follow the subject of a statement.

        RETURNS (FrozenSet[str]): These, all copulas and their auxiliaries.
        """
        return self.words.classes.copulas | self.classes.statement_verbs | self.showing

    @cached_property
    def other_meanings(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """The words that give others another meaning.

        RETURNS (Dict[Tuple[str, str], Tuple[str, ...]]): By the other word and their side of it.
        """
        rows = self.words.language.other_meanings
        return {(row.word, row.side): row.others for row in rows}

    @cached_property
    def stopped(self) -> frozenset[int]:
        """The stop texts.

        RETURNS (FrozenSet[int]): The hashes of their bags of words.
        """
        own = self.settings["stop_texts"]
        texts = self.classes.generic_names if own is None else own
        return frozenset(map(hash_bag, map(self.words.bag, texts)))


@dataclass(eq=False)
class Window:
    """A window of a document.

    place (DocumentWindows): The document and its other windows.
    start (int): Its first token.
    end (int): The token after it.
    text (str): Its text; hyphens at the end of a line join the lines.
    value (int): The hash of the words of the names that it may stand for.
    letters (int): The number of letters and digits in its words.
    score (float): 1.0 if it has these words itself, less if some of its words are replaced.
    has_pause (bool): Whether there is punctuation between its words.
    known (Sequence[KnownName]): The names with these words.
    context (RuleContext): What rules know besides.
    rule (str): The name of the rule by which it is not a mention; empty if it is one.
    """

    place: "DocumentWindows"
    start: int
    end: int
    text: str
    value: int
    letters: int
    score: float
    has_pause: bool
    known: Sequence[KnownName]
    context: RuleContext
    rule: str = ""

    def refuse(self, rule: str) -> None:
        """Decide that it is not a mention, unless the id of its concept is beside it.

        rule (str): The name of the rule.
        """
        if not self.has_own_id:
            self.rule = rule

    @property
    def name(self) -> str:
        """The name that it is, as written in the index.

        RETURNS (str): Empty if it is refused, or can only be rewritten as a name.
        """
        return self.closest_name if self.is_name else ""

    @cached_property
    def closest_name(self) -> str:
        """The name that is closest to its text.

        RETURNS (str): As written in the index.
        """
        return closest_name(self.text, self.known, self.context.words)

    @property
    def tokens(self) -> list[str]:
        """The texts of the document's tokens.

        RETURNS (List[str]): Those of the place.
        """
        return self.place.tokens.texts

    @property
    def lowered(self) -> list[str]:
        """The same in lower case.

        RETURNS (List[str]): Those of the place.
        """
        return self.place.tokens.lowered

    @property
    def is_whole(self) -> bool:
        """Whether it is its whole document.

        RETURNS (bool): True if it is.
        """
        return self.end - self.start == len(self.tokens)

    @property
    def is_name(self) -> bool:
        """Whether it is a mention with the words of a name itself.

        RETURNS (bool): False if some of its words are replaced, or a rule refused it.
        """
        return not self.rule and self.score == 1

    @cached_property
    def is_alone(self) -> bool:
        """Whether it has its lines, or its sentence, to itself.

        RETURNS (bool): True for all without punctuation or a dash, for which it makes no
            difference.
        """
        if not self.has_pause and not DASH.search(self.text):
            return True
        # With the id of something else beside it, it may be a list.
        has_id = bool(ids_beside(self.tokens, self.start, self.end))
        return not has_id and stands_alone(self.tokens, self.start, self.end)

    @cached_property
    def names(self) -> list[KnownName]:
        """The names, without those that have a minus where it has a plus, or the reverse.

        RETURNS (List[KnownName]): These names.
        """
        if not has_sign(self.text):
            return list(self.known)
        return [name for name in self.known if not are_opposite(self.text, name.text)]

    @cached_property
    def written(self) -> list[str]:
        """The texts of the names.

        RETURNS (List[str]): As written in the index.
        """
        return [name.text for name in self.names]

    @cached_property
    def is_written(self) -> bool:
        """Whether a name is written in the same way, but for case, hyphens and spelling.

        RETURNS (bool): True if one is.
        """
        spell = self.context.words.orthography.unify_spelling
        text, *names = (
            spell(form.lower().replace("-", " ")) for form in (self.text, *self.written)
        )
        return text in names

    @cached_property
    def is_in_order(self) -> bool:
        """Whether a name has its words in the same order.

        RETURNS (bool): False if some of its words are replaced.
        """
        return any(self.context.words.content(name) == self.content for name in self.written)

    @cached_property
    def is_annotated(self) -> bool:
        """Whether D has its text in exactly this form.

        RETURNS (bool): True if it has.
        """
        return any(name.times and name.text == self.text for name in self.names)

    @cached_property
    def has_own_id(self) -> bool:
        """Whether the id of one of its concepts stands beside it, which is evidence against all
        rules: "HP:0000033 (Ambiguous genitalia, male)".

        RETURNS (bool): True if one does.
        """
        ids = ids_beside(self.tokens, self.start, self.end).values()
        beside = [*map(self.context.names.index.store.number, ids)]
        return any(name.concept in beside for name in self.names) if beside else False

    @cached_property
    def own_value(self) -> int:
        """The hash of its own bag of words.

        RETURNS (int): The same as `value`, unless some of its words are replaced.
        """
        return hash_bag(self.context.words.bag(self.text))

    @property
    def is_derived(self) -> bool:
        """Whether the words of the names are other words than its own.

        RETURNS (bool): True if some of its words are replaced.
        """
        return self.own_value != self.value

    @cached_property
    def parts(self) -> list[str]:
        """Its words as written, also those that a hyphen joins.

        RETURNS (List[str]): In order.
        """
        return self.text.translate(_HYPHENS_TO_SPACES).split()

    @cached_property
    def content(self) -> list[str]:
        """Its normalized words without function words.

        RETURNS (List[str]): In order.
        """
        return self.context.words.content(self.text)

    @property
    def before(self) -> str:
        """The token before it.

        RETURNS (str): Empty at the beginning of the document.
        """
        return self.tokens[self.start - 1] if self.start else ""

    @property
    def after(self) -> str:
        """The token after it.

        RETURNS (str): Empty at the end of the document.
        """
        return self.tokens[self.end] if self.end < len(self.tokens) else ""

    @cached_property
    def is_compared(self) -> bool:
        """Whether it is compared with something else: "larger than before".

        RETURNS (bool): True if the word after it says so.
        """
        return self.after.lower() in self.context.classes.comparisons


@dataclass(eq=False)
class DocumentWindows:
    """A document and its windows.

    doc (Doc): The document.
    tokens (DocumentTokens): Its tokens.
    hashes (np.ndarray): uint64 (t,): the hashes of its tokens, see `TokenArrays`.
    others (Sequence[Tuple[int, int]]): The names of other things in it, from a background
        vocabulary: the first token of each, and the token after it.
    windows (List[Window]): The windows.
    """

    doc: Doc
    tokens: DocumentTokens
    hashes: np.ndarray
    others: Sequence[tuple[int, int]] = ()
    windows: list[Window] = field(default_factory=list)

    @cached_property
    def words(self) -> frozenset[int]:
        """The hashes of its tokens.

        RETURNS (FrozenSet[int]): Each once.
        """
        return frozenset(self.hashes.tolist())

    @cached_property
    def is_tagged(self) -> bool:
        """Whether a component has set parts of speech.

        RETURNS (bool): True if one has.
        """
        return self.doc.has_annotation("POS")

    @cached_property
    def counts(self) -> Counter[str]:
        """How often the document has each token.

        RETURNS (Counter[str]): By the token's text.
        """
        return Counter(self.tokens.texts)

"""The component that finds mentions in plain text: names of the concept normalizer's own index."""

import copyreg
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..documents.mentions import ALL_MENTIONS_KEY
from ..errors import Errors, Warnings, refuse, refuse_text
from ..finder.coordinations import coordination_joiner
from ..finder.found_mentions import (
    FoundMention,
    FoundWindows,
    MentionExplanation,
    choose_mentions,
    set_found_mentions,
    with_nested,
)
from ..finder.name_finder import NameFinder
from ..finder.unmarked_texts import read_stop_list, require_docs, unmarked_texts
from ..text.words import words_of
from .batched_pipe import BatchedPipe
from .concept_normalizer import ConceptNormalizer
from .mention_sources import record_finder, record_retriever
from .serialization import SavedComponent
from .settings import FinderSettings, Settings


def _builds(normalizers: Iterable[ConceptNormalizer]) -> set[int]:
    """Identify the builds of indexes."""
    return {
        normalizer.lookup.index.checksum for normalizer in normalizers if normalizer.lookup.is_ready
    }


class MentionFinder(SavedComponent, BatchedPipe):
    """Finds the names in the normalizer's index, and the synonyms added to it since, in any
    spelling, inflection and word order.
    """

    def __init__(self, nlp: Language, name: str = "mention_finder", **settings: Any) -> None:
        """Store the settings. The normalizer is looked up when it is needed, since it may be added
        later.

        nlp (Language): A pipeline that has, or will have, a concept normalizer.
        name (str): The component's name.
        **settings: What `to_disk` saves; see `FinderSettings`.
        RAISES (ConnormError): CN006 for an invalid setting.
        """
        self.vocab = nlp.vocab
        self.name = name
        self.cfg = Settings(FinderSettings, settings)
        # A strong reference: a component copied to another pipeline (`source`) outlives its own. A
        # worker gets the pipeline, too: spaCy pickles it with its components.
        self._nlp = nlp
        self._has_warned = False
        self._was_loaded = False
        self._finder: NameFinder | None = None

    def __reduce__(self) -> tuple:
        # In place of Cython's own method. The name is a C field, which `vars` does not contain.
        state = {**vars(self), "name": self.name, "_finder": None}
        return copyreg.__newobj__, (type(self),), state  # type: ignore[attr-defined]

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)

    @property
    def normalizer(self) -> ConceptNormalizer:
        """The concept normalizer whose names are found.

        RETURNS (ConceptNormalizer): The component.
        RAISES (ConnormError): CN010 if the pipeline has none.
        """
        normalizers, wanted = self._normalizers(), self.cfg["normalizer"]
        name = next(iter(normalizers), None) if wanted is None else wanted
        if name not in normalizers:
            named = "concept normalizer" if wanted is None else f"concept normalizer '{wanted}'"
            raise Errors.CN010(component=named, known=", ".join(normalizers) or "none")
        return normalizers[name]

    def predict(self, docs: Sequence[Doc]) -> list[list[FoundMention]]:
        """Find the mentions of documents, without writing them.

        docs (Sequence[Doc]): The documents.
        RETURNS (List[List[FoundMention]]): The mentions of each, in order.
        RAISES (ConnormError): CN010 without a normalizer, CN001 before it is initialized.
        WARNS (ConnormWarning): CNW003, once, if it runs after all concept normalizers.
        """
        # While the pipeline is loaded, an `entity_ruler` runs the components before it on its
        # patterns.
        if self._was_loaded and not self.normalizer.lookup.is_ready:
            return [[] for _ in docs]
        finder = self.name_finder()
        record_retriever(docs, finder.retriever)
        found = finder.find(docs)
        chosen = [choose_mentions(windows.mentions) for windows in found]
        if self.cfg["coordinations"]:
            joiner = coordination_joiner(finder.retriever.index.words)
            chosen = joiner.join(docs, chosen, self.names_among, self.cfg["label"])
        if self.cfg["min_paraphrase"] < 1 and self.cfg["target"] == "OD":
            # What says the same as a name in other words, beside these mentions.
            beside = [
                FoundWindows(own, windows.refused)
                for own, windows in zip(chosen, found, strict=True)
            ]
            added = finder.find_paraphrases(docs, beside, self.normalizer.query())
            chosen = [sorted([*own, *more]) for own, more in zip(chosen, added, strict=True)]
        if not self.cfg["nested_mentions"]:
            return chosen
        return [
            with_nested(own, windows.mentions) for own, windows in zip(chosen, found, strict=True)
        ]

    def set_annotations(
        self, docs: Sequence[Doc], predictions: Sequence[Sequence[FoundMention]]
    ) -> None:
        """Write mentions to documents; see `set_found_mentions`.

        docs (Sequence[Doc]): The documents.
        predictions (Sequence[Sequence[FoundMention]]): What `predict` returned for them.
        """
        record_finder(docs, self)
        for doc, mentions in zip(docs, predictions, strict=True):
            set_found_mentions(
                doc, mentions, spans_key=self.cfg["spans_key"], nested=self.cfg["nested_mentions"]
            )

    def explain(self, span: Span) -> MentionExplanation:
        """Explain why a span is a mention or not.

        span (Span): Any span of a document.
        RETURNS (MentionExplanation): The reason, the names that have its words, and the rule.
        """
        explained = self.name_finder().explain(span)
        mentions = self.predict([span.doc])[0]
        places = [(mention.start, mention.end) for mention in mentions if not mention.is_nested]
        if (span.start, span.end) in places:
            return MentionExplanation(True, "", explained.names)
        reason = explained.reason or "a longer mention overlaps it"
        return explained._replace(is_mention=False, reason=reason)

    def names_among(self, texts: Iterable[str]) -> dict[str, str]:
        """Find the texts that would be mentions on their own.

        texts (Iterable[str]): Any texts.
        RETURNS (Dict[str, str]): Those with the words of a name, and this name, as written in the
            index; and those with synonyms of these words, with an empty one.
        RAISES (ConnormError): CN010 without a normalizer, CN001 before it is initialized.
        """
        return self.name_finder().names_among(texts, self.vocab)

    def add_stop_texts(self, texts: Iterable[str]) -> None:
        """Stop finding some texts, in any spelling.

        texts (Iterable[str]): The texts.
        RAISES (ConnormError): CN006 for anything but texts. Nothing is added then.
        """
        added = texts if isinstance(texts, str) else list(texts)
        if isinstance(added, str) or not all(isinstance(text, str) for text in added):
            refuse_text("texts", added, "a list of texts")
        stop_texts = self.cfg["stop_texts"]
        if stop_texts is None:
            stop_texts = sorted(words_of(self.vocab.lang).language.finder.generic_names)
        self.cfg["stop_texts"] = dict.fromkeys([*stop_texts, *added])

    def learn_stop_texts(
        self, docs: Iterable[Doc], *, min_times: int = 3, max_share: float = 0.1
    ) -> list[str]:
        """Stop finding texts that annotators do not mark.

        docs (Iterable[Doc]): Documents whose mentions are all annotated, e.g. those of D.
        min_times (int): Only texts that were found at least this often.
        max_share (float): Only texts that are marked at most this often, as a share from 0 to 1.
        RETURNS (List[str]): The texts that were added to `stop_texts`.
        RAISES (ConnormError): CN006 for anything but documents, and for invalid numbers.
        """
        read, spans_key = require_docs(docs), self.normalizer.cfg["spans_key"]
        mentions = [
            [mention for mention in own if not mention.is_nested] for own in self.predict(read)
        ]
        words = self.normalizer.lookup.index.words
        learned = unmarked_texts(
            read, mentions, words, spans_key, min_times=min_times, max_share=max_share
        )
        self.add_stop_texts(learned)
        return learned

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]] | None = None,
        *,
        nlp: Language | None = None,
        stop_list: str | Path | None = None,
    ) -> None:
        """Read texts that are never mentions from a file.

        get_examples (Optional[Callable[[], Iterable[Example]]]): Not used.
        nlp (Optional[Language]): The pipeline, whose normalizer is used from now on.
        stop_list (Optional[Union[str, Path]]): A file with one text per line, e.g. from `connorm
            corrections`. The texts are added to the setting `stop_texts`.
        RAISES (ConnormError): CN100, CN105, CN106 and CN107 for a file that can't be read.
        """
        if nlp is not None:
            self._nlp, self._has_warned = nlp, False
        if stop_list is not None:
            self.add_stop_texts(read_stop_list(stop_list))

    def accept(self, cfg: Settings) -> None:
        """Use settings that were read from disk. The normalizer may be loaded after them.

        cfg (Settings): All settings, checked.
        """
        super().accept(cfg)
        self._was_loaded = True

    def name_finder(self) -> NameFinder:
        """What finds the names of the normalizer's current index.

        RETURNS (NameFinder): The same object until the index, its synonyms or a setting changes.
        RAISES (ConnormError): CN010 without a normalizer, CN001 before it is initialized.
        """
        normalizer = self.normalizer
        retriever = normalizer.lookup.retriever
        limits = normalizer.filter()
        finder = self._finder
        if finder is None:
            self._warn_if_too_late()
        if finder is None or not finder.is_current(retriever, self.cfg, limits):
            # A copy: lists may be changed in place.
            settings = self.cfg.changed({})
            finder = NameFinder(retriever, settings, limits)
            self._finder = finder
        return finder

    def _warn_if_too_late(self) -> None:
        found = [
            (name, pipe)
            for name, pipe in self._nlp.pipeline
            if pipe is self or isinstance(pipe, ConceptNormalizer)
        ]
        if len(found) > 1 and found[-1][1] is self:
            Warnings.CNW003.warn(name=self.name, component=found[-2][0])

    def warn_of_others(self, normalizers: Sequence[ConceptNormalizer]) -> None:
        """Warn, once, if a document was read only by concept normalizers of another pipeline.
        Copies of a normalizer count as the same.

        normalizers (Sequence[ConceptNormalizer]): The normalizers that have read it.
        WARNS (ConnormWarning): CNW004.
        """
        if self._has_warned or not normalizers:
            return
        own = list(self._normalizers().values())
        is_own = any(normalizer in own for normalizer in normalizers)
        if not is_own and _builds(own).isdisjoint(_builds(normalizers)):
            self._has_warned = True
            Warnings.CNW004.warn(name=self.name, component=normalizers[0].name)

    def _normalizers(self) -> dict[str, ConceptNormalizer]:
        components = self._nlp.components
        return {name: pipe for name, pipe in components if isinstance(pipe, ConceptNormalizer)}


def find_nested_mentions(nlp: Language, normalizer: ConceptNormalizer) -> str:
    """Make the mention finders of a pipeline find all mentions, including those inside longer ones.

    nlp (Language): The pipeline.
    normalizer (ConceptNormalizer): The normalizer whose names they find.
    RETURNS (str): The key in `doc.spans` of the mentions.
    RAISES (ConnormError): CN006 if there is no mention finder.
    """
    finders = [
        pipe
        for _, pipe in nlp.pipeline
        if isinstance(pipe, MentionFinder) and pipe.normalizer is normalizer
    ]
    if not finders:
        refuse("nested_mentions", True, "left out for a pipeline without `mention_finder`")
    for finder in finders:
        finder.cfg["nested_mentions"] = True
    return ALL_MENTIONS_KEY

"""The component that finds the abbreviations that a document defines. spaCy imports this module
whenever it creates a pipeline, so it must stay light.
"""

from spacy.language import Language
from spacy.tokens import Doc

from ..documents.abbreviations import register_abbreviation_attributes, set_abbreviations
from ..text.abbreviations import find_abbreviations


@Language.factory("abbreviation_resolver", assigns=["doc._.abbreviations", "span._.long_form"])
def make_abbreviation_resolver(nlp: Language, name: str) -> "AbbreviationResolver":
    return AbbreviationResolver(name)


class AbbreviationResolver:
    """Stores the abbreviations of documents, for concept normalizers and for
    `doc._.abbreviations` and `span._.long_form`. It has no settings and nothing to train.
    """

    def __init__(self, name: str = "abbreviation_resolver") -> None:
        """Register the attributes.

        name (str): The component's name.
        """
        self.name = name
        register_abbreviation_attributes()

    def __call__(self, doc: Doc) -> Doc:
        """Find the abbreviations of a document.

        doc (Doc): The document.
        RETURNS (Doc): The same document.
        """
        set_abbreviations(doc, find_abbreviations(doc.text))
        return doc

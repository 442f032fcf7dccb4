"""The component that finds where a document defines its short forms. spaCy imports this module
whenever a pipeline is made, so it must stay light.
"""

from spacy.language import Language
from spacy.tokens import Doc

from ..annotations.abbreviations import register_abbreviation_attributes, set_definitions
from ..text.abbreviations import find_definitions


@Language.factory("abbreviation_resolver", assigns=["doc._.abbreviations", "span._.long_form"])
def make_abbreviation_resolver(nlp: Language, name: str) -> "AbbreviationResolver":
    return AbbreviationResolver(name)


class AbbreviationResolver:
    """Marks the definitions of short forms on documents, for concept normalizers and for readers of
    `doc._.abbreviations` and `span._.long_form`. It has nothing to keep or to learn.
    """

    def __init__(self, name: str = "abbreviation_resolver") -> None:
        """Register the attributes.

        name (str): The component's name.
        """
        self.name = name
        register_abbreviation_attributes()

    def __call__(self, doc: Doc) -> Doc:
        """Find the definitions of a document.

        doc (Doc): The document.
        RETURNS (Doc): The same.
        """
        set_definitions(doc, find_definitions(doc.text))
        return doc

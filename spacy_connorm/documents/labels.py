"""The labels of annotated mentions."""

from spacy.tokens import Doc, Span


def set_label(doc: Doc, label: str) -> Doc:
    """Give all mentions of a document one label, so that an NER learns them as one kind.

    doc (Doc): Annotated; changed.
    label (str): The label of its entities and of the spans of its groups.
    RETURNS (Doc): The same document.
    """
    doc.set_ents([_labelled(span, label) for span in doc.ents])
    for key in doc.spans:
        doc.spans[key] = [_labelled(span, label) for span in doc.spans[key]]
    return doc


def _labelled(span: Span, label: str) -> Span:
    return Span(span.doc, span.start, span.end, label=label, kb_id=span.kb_id)

"""Texts in which brackets are around what a pipeline is to find."""


def marked(nlp, text, read=lambda doc: doc.ents):
    """RETURNS (str): The text, without its brackets, with brackets around what is found."""
    doc = nlp(text.replace("[", "").replace("]", ""))
    found, start = "", 0
    for span in read(doc):
        found += f"{doc.text[start : span.start_char]}[{span.text}]"
        start = span.end_char
    return found + doc.text[start:]

"""CRAFT's articles, as the data folder has them: JSON lines, made from its stand-off XML."""

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from spacy_connorm.documents import CorpusReport, Document
from spacy_connorm.documents.document import Place, make_doc, make_mention
from spacy_connorm.documents.mentions import Mention


def read_craft(path: Path, *, nlp: Language, types: Sequence[str]) -> Iterator[Doc]:
    """YIELDS (Doc): The articles, annotated as `read_corpus` does it.

    path (Path): The file.
    nlp (Language): Its tokenizer is used.
    types (Sequence[str]): The ontologies whose mentions are read; all if empty.
    """
    report = CorpusReport()
    with gzip.open(path, "rt", encoding="utf8") as lines:
        for number, line in enumerate(lines, start=1):
            article = json.loads(line)
            mentions = tuple(
                _mention(row, article["text"], Place(path, number), report)
                for row in article["mentions"]
                if not types or row["ontology"] in types
            )
            doc_id = article.get("pmcid") or article.get("pmid")
            document = Document(str(doc_id), article["text"], mentions)
            yield make_doc(document, nlp=nlp, report=report)


def _mention(annotation: dict[str, Any], text: str, place: Place, report: CorpusReport) -> Mention:
    return make_mention(
        text,
        [(start, end) for start, end in annotation["spans"]],
        label=annotation["ontology"],
        ids=annotation["id"],
        place=place,
        report=report,
        annotated=annotation["text"].replace(" ... ", " "),
    )

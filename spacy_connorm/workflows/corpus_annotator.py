"""Annotate batches of texts of which some may fail."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from spacy.tokens import Doc

from ..documents.mentions import split_ids
from ..documents.records import ParquetExporter, row_schema
from ..errors import ConnormError, describe_error
from ..files.json_items import json_line
from ..files.tables import require_distinct_columns
from .annotation import AnnotationCounts, Annotator
from .fragments import InputFragment, read_text_batches, require_column, texts_of_rows
from .memory_zones import MemoryZones
from .texts import TEXT_FIELD, InputText

if TYPE_CHECKING:
    from pandas import DataFrame

ERROR = "error"


Row = dict[str, Any]


@dataclass(kw_only=True)
class CorpusAnnotator(Annotator):
    """Annotates batches of texts, even if some of them fail. Called with a pandas DataFrame, it
    returns another, as required by Spark's `mapInPandas` and Ray's `map_batches`.

    text_field (str): The column with the text.
    """

    text_field: str = TEXT_FIELD
    _zones: MemoryZones = field(init=False, repr=False, default_factory=MemoryZones)

    def __call__(self, table: "DataFrame") -> "DataFrame":
        """Annotate the rows of a table.

        table (DataFrame): A table with a column for the text and, optionally, one for its id.
        RETURNS (DataFrame): A row for each text, in order, with the columns of `corpus_schema`.
        RAISES (ConnormError): CN114 if the column with the text is missing, CN125 for columns of
            the same name, and the errors of `annotate`.
        """
        import pandas
        import pyarrow

        columns = list(map(str, table.columns))
        require_column("table", self.text_field, columns)
        require_distinct_columns("table", columns)
        rows = pyarrow.Table.from_pandas(table, preserve_index=False).to_pylist()
        texts = list(texts_of_rows(rows, self.text_field, self.id_field, name="table"))
        return pandas.DataFrame(self.annotate(texts), columns=corpus_schema().names)

    def annotate(self, texts: Sequence[InputText]) -> list[Row]:
        """Annotate texts. If one of them fails, they are annotated one by one, and only the failing
        text gets no mentions.

        texts (Sequence[InputText]): The texts.
        RETURNS (List[Dict[str, Any]]): A row for each, in order; see `corpus_schema`.
        RAISES (ConnormError): The errors of `load`, and those of components, which concern the
            pipeline, not a text. An OSError or a MemoryError does not concern a text either.
        """
        nlp, _ = self.load()
        # Otherwise, the vocabulary would keep every word of the corpus.
        with self._zones.open(nlp):
            return self._annotate(texts)

    def annotate_batch(self, texts: Sequence[InputText]) -> "AnnotatedBatch":
        """Annotate texts of one fragment; see `annotate`.

        RETURNS (AnnotatedBatch): Their table and counts.
        """
        import pyarrow

        rows = self.annotate(texts)
        mentions = [mention for row in rows for mention in row["mentions"] or ()]
        linked = sum(bool(split_ids(mention["kb_id"])) for mention in mentions)
        counts = AnnotationCounts(len(rows), len(mentions), linked)
        failed = [row for row in rows if row[ERROR]]
        if failed:
            counts.failed = len(failed)
            counts.first_failed, counts.first_error = failed[0]["doc_id"], failed[0][ERROR]
        return AnnotatedBatch(pyarrow.Table.from_pylist(rows, schema=corpus_schema()), counts)

    def text_batches(self, fragment: InputFragment) -> Iterator[list[InputText]]:
        """Read the texts of a fragment; see `read_text_batches`."""
        return read_text_batches(fragment, self.text_field, self.id_field)

    def _annotate(self, texts: Sequence[InputText]) -> list[Row]:
        rows = dict[int, Row]()
        docs = dict[int, Doc]()
        for number, text in enumerate(texts):
            try:
                if text.error:
                    raise ConnormError(text.error)
                docs[number] = self.make_doc(text)
            except (OSError, MemoryError):
                raise
            except Exception as error:
                rows[number] = _failed(text, describe_error(error))
        try:
            rows |= self._rows(docs)
        except (ConnormError, OSError, MemoryError):
            raise
        except Exception as error:
            for number in docs:
                if len(docs) == 1:
                    rows[number] = _failed(texts[number], describe_error(error))
                else:
                    (rows[number],) = self._annotate([texts[number]])
        missing = "the pipeline did not return a document"
        return [rows.get(number) or _failed(text, missing) for number, text in enumerate(texts)]

    def _rows(self, docs: dict[int, Doc]) -> dict[int, Row]:
        exporter = ParquetExporter()
        numbered = ((doc, number) for number, doc in docs.items())
        return {
            document.number: {**exporter.render(document, Counter()), ERROR: None}
            for document in self.read(numbered)
        }


def corpus_schema() -> Any:
    """Get the columns of an annotated corpus: those of the format `parquet`, and `error`, the
    reason why a text has no mentions, null for all others.

    RETURNS (pyarrow.Schema): The columns.
    """
    import pyarrow

    return row_schema().append(pyarrow.field(ERROR, pyarrow.string()))


def _failed(text: InputText, error: str) -> Row:
    return {
        "doc_id": text.doc_id,
        "text": text.text,
        "fields": json_line(text.fields),
        "mentions": None,
        ERROR: error,
    }


class AnnotatedBatch(NamedTuple):
    """Annotated texts of one fragment, in the form exchanged between processes.

    table (pyarrow.Table): A row for each text.
    counts (AnnotationCounts): The counts of these texts.
    """

    table: Any
    counts: AnnotationCounts

"""Annotating batches of texts, in whatever process."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy.language import Language
from spacy.tokens import Doc

from ..documents.records import ParquetExporter, row_schema
from ..errors import ConnormError, Errors, describe_error
from ..files.tables import require_distinct_columns
from .annotation import Annotator
from .texts import CorpusFields, InputText, read_row

if TYPE_CHECKING:
    from pandas import DataFrame

ERROR = "error"
Row = dict[str, Any]


class CorpusAnnotator(Annotator):
    """Annotates batches of texts, whatever is wrong with some of them. Called with a table of
    pandas it returns one, as Spark's `mapInPandas` and Ray's `map_batches` need.
    """

    def __init__(
        self,
        pipeline: str | Path | Language,
        *,
        fields: CorpusFields = CorpusFields(),
        batch_size: int = 128,
        gpu_id: int = -1,
        component: str | None = None,
    ) -> None:
        """Store the settings. Nothing is loaded yet.

        pipeline (Union[str, Path, Language]): An installed package, a pipeline's folder, or a
            pipeline.
        fields (CorpusFields): The columns with the text and its id.
        batch_size (int): Texts that the pipeline reads together.
        gpu_id (int): The GPU for the pipeline; -1 for the CPU.
        component (Optional[str]): Which concept normalizer's answers to take, if there are several.
        """
        super().__init__(
            pipeline,
            id_field=fields.id,
            batch_size=batch_size,
            gpu_id=gpu_id,
            component=component,
        )
        self.fields = fields

    def __call__(self, table: "DataFrame") -> "DataFrame":
        """Annotate the rows of a table.

        table (DataFrame): Has a column with the text and, if wanted, one with its id.
        RETURNS (DataFrame): A row for each, in order, with the columns of `corpus_schema`.
        RAISES (ConnormError): CN114 if the column with the text is missing, CN125 for columns of
            the same name, and the errors of `annotate`.
        """
        import pandas
        import pyarrow

        columns = list(map(str, table.columns))
        if self.fields.text not in columns:
            known = ", ".join(columns)
            what = f"column {self.fields.text!r}"
            raise ConnormError(Errors.CN114.format(path="table", what=what, known=known))
        require_distinct_columns("table", columns)
        rows = pyarrow.Table.from_pandas(table, preserve_index=False).to_pylist()
        texts = [
            read_row(row, self.fields, name="table", number=number)
            for number, row in enumerate(rows, start=1)
        ]
        return pandas.DataFrame(self.annotate(texts), columns=corpus_schema().names)

    def annotate(self, texts: Sequence[InputText]) -> list[Row]:
        """Annotate texts. If one of them fails, they are annotated one by one, and only that one
        gets no mentions.

        texts (Sequence[InputText]): The texts.
        RETURNS (List[Dict[str, Any]]): A row for each, in order, see `corpus_schema`.
        RAISES (ConnormError): The errors of `load`, and those of components, which are about the
            pipeline, not about a text. An OSError or a MemoryError is not about a text either.
        """
        nlp, _ = self.load()
        # Without it, the vocabulary would keep every word of the corpus.
        with nlp.memory_zone():
            return self._annotate(texts)

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
        except Exception:
            for number in docs:
                rows[number] = self._annotate_alone(number, texts[number])
        missing = "the pipeline gave no document back"
        return [rows.get(number) or _failed(text, missing) for number, text in enumerate(texts)]

    def _annotate_alone(self, number: int, text: InputText) -> Row:
        try:
            return self._rows({number: self.make_doc(text)})[number]
        except (ConnormError, OSError, MemoryError):
            raise
        except Exception as error:
            return _failed(text, describe_error(error))

    def _rows(self, docs: dict[int, Doc]) -> dict[int, Row]:
        exporter = ParquetExporter()
        numbered = ((doc, number) for number, doc in docs.items())
        return {
            document.number: {**exporter.render(document, Counter()), ERROR: None}
            for document in self.read(numbered)
        }


def corpus_schema() -> Any:
    """Describe the columns of an annotated corpus.

    RETURNS (pyarrow.Schema): The columns of an annotated corpus: those of the format `parquet`,
    and `error`, which says why a text has no mentions and is null for all others.
    """
    import pyarrow

    return row_schema().append(pyarrow.field(ERROR, pyarrow.string()))


def _failed(text: InputText, error: str) -> Row:
    fields = json.dumps(text.fields, ensure_ascii=False)
    nothing = {"mentions": None, ERROR: error}
    return {"doc_id": text.doc_id, "text": text.text, "fields": fields, **nothing}

"""The corpus formats. The format `x` is read by `read_x_corpus` in the module `x`."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from ...errors import ConnormError, Errors
from .documents import Document


@dataclass(frozen=True, slots=True)
class CorpusFormat:
    """A corpus format.

    name (str): The format's name.
    suffixes (Tuple[str, ...]): What the names of its files end in, before `.gz` and lower-cased.
    options (Tuple[str, ...]): Settings of its reader.
    unlinked (Tuple[str, ...]): Mention types that are kept only on request.
    folder_of (str): The suffix of the files that a folder in this format has; empty for files.
    """

    name: str
    suffixes: tuple[str, ...]
    options: tuple[str, ...] = ()
    unlinked: tuple[str, ...] = ()
    folder_of: str = ""

    @property
    def reader(self) -> Callable[..., Iterator[Document]]:
        """RETURNS (Callable[..., Iterator[Document]]): The reader, imported on demand."""
        module = import_module(f".{self.name}", __package__)
        return getattr(module, f"read_{self.name}_corpus")


FORMATS = {
    form.name: form
    for form in (
        # Before `pubtator`: its files are called `.pipe.txt`.
        CorpusFormat(
            name="shareclef",
            suffixes=(".pipe", ".pipe.txt"),
            options=("texts",),
            folder_of=".pipe.txt",
        ),
        CorpusFormat(
            name="pubtator",
            suffixes=(".pubtator", ".txt"),
            unlinked=("OTHER", "NonStandardRef"),  # of NLM-Chem
        ),
        CorpusFormat(name="bioc", suffixes=(".xml", ".json", ".bioc")),
        CorpusFormat(name="brat", suffixes=(".ann",), folder_of=".ann"),
        CorpusFormat(name="mcn", suffixes=(".norm",), options=("texts",), folder_of=".norm"),
        CorpusFormat(name="craft", suffixes=(".jsonl",)),
        CorpusFormat(name="tsv", suffixes=(".tsv",), options=("columns", "header")),
    )
}


def find_corpus_format(path: Path, name: str | None = None) -> CorpusFormat:
    """Find the format of a corpus by its name, or by the end of the file's name.

    path (Path): The file, or the folder.
    name (Optional[str]): One of `FORMATS`.
    RETURNS (CorpusFormat): The format.
    RAISES (ConnormError): CN200 if the file's name tells none, CN201 if the name is unknown, CN105
        for a folder of other files.
    """
    known = ", ".join(FORMATS)
    if name is not None:
        if name not in FORMATS:
            raise ConnormError(Errors.CN201.format(format=name, known=known))
        return FORMATS[name]
    if path.is_dir():
        for form in FORMATS.values():
            if form.folder_of and next(path.rglob(f"*{form.folder_of}"), None):
                return form
        raise ConnormError(Errors.CN105.format(path=path))
    file_name = path.name.lower().removesuffix(".gz")
    for form in FORMATS.values():
        if file_name.endswith(form.suffixes):
            return form
    raise ConnormError(Errors.CN200.format(path=path, known=known))

"""Save a pipeline completely or not at all, without the words of the documents it has read."""

import filecmp
from pathlib import Path
from typing import Any

import srsly
from spacy.language import Language

from ..files.folders import files_in, read_object, replaced, seal
from .loading import load_pipeline
from .model_card import CARD_FILE, META_FILE, write_card
from .serialization import require_extras

META_FACT = "meta"
# `spacy package` rewrites meta.json with another name and description, but keeps these fields.
_MEANING = ("lang", "pipeline", "components", "disabled", "labels")
_STRINGS = Path("vocab", "strings.json")
# The strings that a lexeme refers to.
_FORMS = ("orth_", "lower_", "norm_", "shape_", "prefix_", "suffix_")


def save_pipeline(pipeline: str | Path | Language, output_path: str | Path) -> Path:
    """Save a pipeline, as `nlp.to_disk` does, but completely or not at all: if the call fails or is
    killed, the previous folder is still there, and a process that loads the pipeline meanwhile
    finds the old or the new one. All files are listed in a manifest, which `connorm check` reads.
    Any spaCy pipeline can be saved: `connorm save`.

    spaCy's vocabulary keeps every word of every document that a pipeline has read, and
    `nlp.to_disk` writes them to `vocab/strings.json`. They are left out here, unless components
    that were trained in this process may need them.

    pipeline (Union[str, Path, Language]): The pipeline, or an installed package or a folder.
    output_path (Union[str, Path]): The folder to create, or a pipeline's folder to replace.
    RETURNS (Path): The folder.
    RAISES (ConnormError): The errors of `load_pipeline`, CN001 before `initialize`, CN109 if
        another process is writing the folder, CN108 if it can't be written, CN705 if the folder
        holds something else.
    """
    nlp = load_pipeline(pipeline)
    path = Path(output_path)
    with replaced(path, is_ours=is_pipeline) as folder:
        write_pipeline(nlp, folder)
    return path


def write_pipeline(nlp: Language, folder: Path) -> None:
    """Write the files of `save_pipeline` to an empty folder that is moved into place later.

    nlp (Language): The pipeline.
    folder (Path): An empty folder.
    RAISES (ConnormError): CN001 before `initialize`.
    """
    require_extras(nlp)
    nlp.to_disk(folder)
    if (folder / _STRINGS).exists() and not _was_trained_here(nlp, folder):
        srsly.write_json(folder / _STRINGS, sorted(_strings_to_keep(nlp)))
    meta = read_object(folder / META_FILE)
    write_card(folder, meta)
    seal(folder, {META_FACT: meaning_of(meta)}, leave_out=[META_FILE, CARD_FILE])


def meaning_of(meta: dict[str, Any]) -> dict[str, Any]:
    """Select the fields of a pipeline's meta.json that define what the pipeline does.

    RETURNS (Dict[str, Any]): The fields with their values.
    """
    return {field: meta.get(field) for field in _MEANING}


def is_pipeline(path: Path) -> bool:
    """Check whether a folder holds a spaCy pipeline.

    RETURNS (bool): True if it does.
    """
    return (path / "config.cfg").is_file() and (path / META_FILE).is_file()


def _was_trained_here(nlp: Language, folder: Path) -> bool:
    """Check whether components were trained in this process. Trained components, such as the
    lemmatizer, may refer to words by their hashes. Those that have not changed since loading need
    no words except those saved with them.
    """
    learn = [name for name, pipe in nlp.components if getattr(pipe, "is_trainable", False)]
    if nlp.path is None:
        return bool(learn)
    return not all(_hold_the_same(folder / name, nlp.path / name) for name in learn)


def _hold_the_same(folder: Path, other: Path) -> bool:
    files, others = (files_in(side).keys() for side in (folder, other))
    return files == others and all(
        filecmp.cmp(folder / file, other / file, shallow=False) for file in files
    )


def _strings_to_keep(nlp: Language) -> set[str]:
    vocab = nlp.vocab
    words = {getattr(lexeme, form) for lexeme in vocab for form in _FORMS}
    known = set(type(nlp)().vocab.strings)
    known.update(label for labels in nlp.pipe_labels.values() for label in labels)
    known.update(vocab.strings[key] for key in vocab.vectors if key in vocab.strings)
    if nlp.path is not None and (nlp.path / _STRINGS).exists():
        known.update(srsly.read_json(nlp.path / _STRINGS))
    return {text for text in vocab.strings if text not in words or text in known}

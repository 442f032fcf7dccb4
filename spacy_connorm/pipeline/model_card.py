"""What a pipeline says of itself: the fields of its meta.json, and the model card, README.md."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import srsly
from spacy.language import Language

from ..about import __version__
from ..encoders.protocol import loaded_shim
from ..files.folders import read_object
from ..linker.retriever import LEFT_OUT
from .loading import component_name, find_normalizer
from .serialization import SavedComponent

META_FILE = "meta.json"
CARD_FILE = "README.md"
# A longer list or table is counted, not shown.
_LONGEST = 60


def describe_pipeline(nlp: Language) -> dict[str, Any]:
    """Fill the fields of meta.json from the index: spaCy and the index of packages show them.

    nlp (Language): A pipeline with one concept normalizer.
    RETURNS (Dict[str, Any]): "name", that of the ontology's file; "version", that of this package;
        "description", "license", "sources" and "notes", which is Markdown.
    """
    manifest = find_normalizer(nlp).lookup.index.manifest
    ontology, counts = manifest["ontology"], manifest["counts"]
    name, licence = Path(ontology["path"]).name, ontology["licence"]
    of = f" of {name}" if name else ""
    release = f" ({ontology['release']})" if ontology["release"] else ""
    concepts, names = f"{counts['concepts']:,} concepts", f"{counts['ontology_members']:,} names"
    facts = "\n".join(f"| {fact} | {_cell(value)} |" for fact, value in _facts(nlp))
    called = re.sub(r"[^A-Za-z0-9]+", "_", name.partition(".")[0]).strip("_").lower()
    return {
        "name": called or nlp.meta["name"],
        "version": __version__,
        "description": f"Links mentions to {concepts}{of}{release}, by {names}.",
        "license": licence,
        "sources": [{"name": f"{name}{release}", "license": licence}] if name else [],
        "notes": f"| | |\n|---|---|\n{facts}",
    }


def write_card(folder: Path, meta: Mapping[str, Any]) -> None:
    """Write the model card of a pipeline: the description and the notes in its meta.json.

    folder (Path): The pipeline's folder.
    meta (Mapping[str, Any]): Its meta.json. Without notes, nothing is written.
    """
    if notes := meta.get("notes"):
        text = f"# Model card\n\n{meta.get('description', '')}\n\n{notes}\n"
        (folder / CARD_FILE).write_text(text, encoding="utf8")


def complete_card(folder: Path, **fields: Any) -> None:
    """Change fields of a saved pipeline's meta.json that do not change what it does, and write its
    model card again.

    folder (Path): The pipeline's folder.
    **fields (Any): The fields.
    """
    meta = {**read_object(folder / META_FILE), **fields}
    srsly.write_json(folder / META_FILE, meta)
    write_card(folder, meta)


def _facts(nlp: Language) -> Iterator[tuple[str, str]]:
    """YIELDS (Tuple[str, str]): What the index and the settings say."""
    normalizer = find_normalizer(nlp)
    manifest = normalizer.lookup.index.manifest
    ontology, counts = manifest["ontology"], manifest["counts"]
    yield "Ontology", ontology["path"] or "made in memory"
    yield "Release", ontology["release"] or "not stated in the file"
    yield "Its licence", ontology["licence"] or "not stated in the file"
    yield "Concepts", f"{counts['concepts']:,}"
    yield "Names", f"{counts['ontology_members']:,}"
    if counts["data_members"]:
        yield "Annotated names", f"{counts['data_members']:,}"
    yield "Language", manifest["language"]
    block = nlp.config["components"][component_name(nlp, normalizer)]["encoder"]
    kind = block["@architectures"].removeprefix("spacy-connorm.")
    name = loaded_shim(normalizer.lookup.encoder).name
    # The folder of a trained encoder, or a name on the hub.
    shown = Path(name).name if Path(name).is_absolute() else name
    yield "Encoder", ", ".join(filter(None, (f"`{kind}`", shown)))
    for search, what in manifest["searched"].items():
        yield f"Index of {search}", what
    yield "Components", ", ".join(f"`{name}`" for name in nlp.pipe_names)
    for name, pipe in nlp.components:
        if isinstance(pipe, SavedComponent):
            for setting, value in pipe.cfg.chosen().items():
                yield f"`{name}.{setting}`", _shown(value)
    if left_out := manifest.get(LEFT_OUT):
        share = f"{100 * left_out['right'] / left_out['names']:.0f} %"
        meaning = "names that were taken out of the index find their concept by its other names"
        yield "Names left out", f"{share} of {left_out['names']} {meaning}"
    yield "Made with", f"spacy-connorm {__version__}, {manifest['built_at'][:10]}"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "&#124;").split())


def _shown(value: Any) -> str:
    text = srsly.json_dumps(value)
    return f"`{text}`" if len(text) <= _LONGEST else f"{len(value):,} entries"

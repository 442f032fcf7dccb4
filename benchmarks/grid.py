"""The six searches and eight sieves of Xu and Bethard (2021, Table 4), with encoders trained on O
and on O and D, on one or more corpora, with average ranks. A training config stands for two
encoders: one trained on O, one on O and the corpus's D; the paper's own is `assets/triplet.cfg`.
Each text is encoded once. The last table tells what each encoder was trained with. With `--tune`
each encoder's search is chosen on dev, with train as D, and scored on test (Table 5, "tuned").
With `--start` that encoder's own rows, untrained, stand last; with `--seeds` all are means. Under
the paper's protocol its numbers stand beside, those of Table 5 with p (one-sample bootstrap).

The first encoder's searches are compared with its default sieve, D-T+OD-T (paired bootstrap); the
other encoders' searches with those of the first encoder.

Example: python benchmarks/grid.py --dataset ncbi bc5cdr-d --encoders dan --data ../shared/data
"""

from argparse import Namespace
from collections.abc import Callable, Sequence
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _common.builders import (
    SIEVE,
    ask_lookup,
    build_lookup,
    cached_encoder,
    encoder_config,
    is_trained_here,
    make_sieve,
)
from _common.cli import begin, clear_errors, fail, make_parser
from _common.concept_means import means_row
from _common.config_variants import add_seeds, add_variants, start_block, vary
from _common.datasets import Data
from _common.options import add_datasets, add_part
from _common.prepared import (
    PreparedData,
    SearchedMentions,
    SplitData,
    expected_accuracy,
    read_as_written,
    read_prepared,
    read_split,
)
from _common.scoring import DEPTH, compare_with_published
from _common.seeds import mean_rows
from _common.trained_encoders import TRAINS, training_facts

from spacy_connorm.concepts import Candidate
from spacy_connorm.evaluation import score_predictions
from spacy_connorm.evaluation.evaluation_run import Run, to_rows
from spacy_connorm.evaluation.report import BIOSYN, Row, Section, sections_to_markdown, to_json
from spacy_connorm.index.search import SEARCHES
from spacy_connorm.linker.lookup import ConceptLookup

# The six searches, then the eight sieves, in the order of the paper's table.
SIEVES = {
    name: make_sieve(name)
    for name in (
        *SEARCHES,
        *(f"{first}+{last}" for first in ("D-T", "D-C") for last in ("O-T", "O-C")),
        *(f"{first}+{last}" for first in ("D-T", "D-C") for last in ("OD-T", "OD-C")),
    )
}
# How many concepts are shown for a phrase.
NEAREST = 5
AS_WRITTEN, XU_BETHARD = "as written", "xu-bethard"
LENIENT, EXPECTED, STRICT = "lenient@1", "expected@1", "strict@1"
SHOWN = (
    "corpus",
    "pipeline",
    "search",
    "mentions",
    LENIENT,
    EXPECTED,
    STRICT,
    "unseen_lenient@1",
    "dev_lenient@1",
    "dev_expected@1",
    "in_ontology_mentions",
    f"{LENIENT}_rank",
    f"{LENIENT}_average_rank",
    f"{EXPECTED}_average_rank",
    "against",
    "lenient@1_difference",
    "lenient@1_p",
)
BEST = (
    "corpus",
    "pipeline",
    "chosen",
    "dev_lenient@1",
    "dev_expected@1",
    LENIENT,
    EXPECTED,
    STRICT,
    "against",
    "difference",
    "p",
)
# Xu and Bethard (2021), Table 5, with PubMedBERT: what it is trained on, the search, and the
# accuracy on test.
NOTHING, TUNED = "nothing", "chosen on dev"
PUBLISHED = {
    "ncbi": (76.56, 82.19, 82.60, 89.48, 88.96, 91.15),
    "bc5cdr-d": (76.60, 90.53, 84.44, 92.30, 92.92, 92.92),
    "bc5cdr-c": (91.78, 94.24, 95.79, 96.67, 96.81, 96.91),
}
PUBLISHED_ROWS = (
    (NOTHING, "O-T"),
    (NOTHING, SIEVE),
    ("O", "O-T"),
    ("O", SIEVE),
    ("OD", SIEVE),
    ("OD", TUNED),
)


class Protocol(NamedTuple):
    """How mentions are searched.

    data (Type[Data]): Reads a data set: what is indexed and trained on.
    read (Callable): Gives the mentions of a data set.
    score (str): Chooses among searches: BioSyn counts equal scores as right, Xu and Bethard draw
        one.
    """

    data: type[Data]
    read: Callable[[Data], SearchedMentions]
    score: str = LENIENT


PROTOCOLS = {
    AS_WRITTEN: Protocol(Data, read_as_written),
    BIOSYN: Protocol(PreparedData, read_prepared),
    XU_BETHARD: Protocol(SplitData, read_split, EXPECTED),
}


class Contender(NamedTuple):
    """An encoder of the table.

    label (str): In the table.
    encoder (str): As `encoder_config` takes it.
    train (str): What it is trained on; "nothing" if it is not trained here.
    """

    label: str
    encoder: str
    train: str


def main() -> None:
    parser = make_parser(__doc__ or "")
    add = parser.add_argument
    add_datasets(parser)
    add(
        "--encoders",
        nargs="+",
        required=True,
        metavar="NAME",
        help="ngram, minilm, minilm-int8, dan, paths of training configs (.cfg) or FOLDERs",
    )
    add(
        "--train",
        nargs="+",
        choices=TRAINS,
        default=TRAINS,
        help="what dan and configs train on [O and OD]",
    )
    add_variants(parser)
    add_seeds(parser)
    add("--markdown", type=Path, metavar="FILE", help="write the tables to a file, too")
    add_part(parser)
    add(
        "--protocol",
        choices=PROTOCOLS,
        default=AS_WRITTEN,
        help="biosyn: BioSyn's, with long forms and composites split by gold; xu-bethard: without "
        "long forms, and of equal scores one is drawn (expected@1) [%(default)s]",
    )
    add("--tune", action="store_true", help="choose each encoder's search on dev, score it on test")
    add(
        "--phrase",
        nargs="+",
        default=(),
        help="show what each encoder finds for these, by OD-T (Table 6)",
    )
    add(
        "--means",
        action="store_true",
        help="show what -C searches depend on: means made and compared in several ways",
    )
    arguments = begin(parser)
    if arguments.tune and arguments.part == "dev":
        fail("--tune scores on test what is best on dev: leave out --part dev.")
    if arguments.means and "ngram" in arguments.encoders:
        fail("--means compares dense vectors, and ngram's are sparse: leave it out of --encoders.")
    with clear_errors():
        rows = add_ranks(over_seeds(arguments))
        means = means_rows(arguments) if arguments.means else []
        more = nearest_sections(arguments)
    chosen = choose_searches(rows)
    if arguments.protocol == XU_BETHARD and arguments.part == "test":
        compare_with_paper([*rows, *chosen])
    title = "The search that is best on dev, scored on test"
    best = [Section(title, [{key: row.get(key) for key in BEST} for row in chosen])]
    for row in (*rows, *chosen):
        row.pop("chances")
    shown = [{key: row.get(key) for key in SHOWN} for row in rows]
    title = f"Searches and sieves, percent (protocol: {arguments.protocol})"
    tables = [Section(title, shown), *best * bool(chosen)]
    tables += [Section("Means of concepts in O, lenient@1", means)] * bool(means)
    tables += [*more, training_section(rows)]
    text = sections_to_markdown(tables)
    print(text)
    if arguments.json is not None:
        arguments.json.write_text(to_json([*rows, *chosen, *means]), encoding="utf8")
    if arguments.markdown is not None:
        arguments.markdown.write_text(text, encoding="utf8")


def over_seeds(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): The rows of `measure`, or with `--seeds` their means."""
    if arguments.seeds is None:
        return measure(arguments, None)
    runs = [measure(arguments, seed) for seed in range(arguments.seeds)]
    rows = mean_rows(runs, (LENIENT, EXPECTED, STRICT))
    for place, row in enumerate(rows):
        row["chances"] = np.mean([own[place]["chances"] for own in runs], axis=0)
    return rows


def measure(arguments: Namespace, seed: int | None) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row a corpus, encoder and search."""
    contenders = find_contenders(arguments, seed)
    rows = []
    for name in dict.fromkeys(arguments.dataset):
        data = read_data(name, arguments, arguments.part)
        trained = {
            contender.label: {
                "train": contender.train,
                **training_facts(block_of(contender, data, arguments)),
            }
            for contender in contenders
        }
        corpus_rows = rows_of(data, contenders, arguments)
        if arguments.tune:
            add_dev_scores(corpus_rows, contenders, arguments)
        rows += [{**row, **trained[row["pipeline"]]} for row in corpus_rows]
    return rows


def read_data(name: str, arguments: Namespace, part: str) -> Data:
    """RETURNS (Data): A data set as the protocol reads it."""
    return PROTOCOLS[arguments.protocol].data(name, arguments.data, part=part)


def rows_of(data: Data, contenders: Sequence[Contender], arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): One row an encoder and search, in the paper's order."""
    runs, chances = list[Run](), {}
    for contender in contenders:
        scored, chances[contender.label] = score(contender, data, arguments)
        runs += scored
    rows = to_rows(runs, data.name, protocol=arguments.protocol)
    places = {key: place for place, key in enumerate((a, b) for a in chances for b in chances[a])}
    rows.sort(key=lambda row: places[row["pipeline"], row["search"]])
    for row in rows:
        row["chances"] = chances[row["pipeline"]][row["search"]]
        row[EXPECTED] = round(100 * float(row["chances"].mean()), 2)
    return rows


def add_dev_scores(
    rows: Sequence[Row], contenders: Sequence[Contender], arguments: Namespace
) -> None:
    """Add the scores of dev, with `dev_` before, to the rows of a corpus. Encoders are trained
    again without dev, and D is train.

    rows (Sequence[Dict[str, Any]]): One an encoder and search.
    contenders (Sequence[Contender]): The encoders.
    arguments (Namespace): The options.
    """
    data = read_data(rows[0]["corpus"], arguments, "dev")
    found = rows_of(data, contenders, arguments)
    dev = {(row["pipeline"], row["search"]): row for row in found}
    for row in rows:
        own = dev[row["pipeline"], row["search"]]
        row |= {f"dev_{key}": own[key] for key in (LENIENT, EXPECTED, STRICT)}


def add_ranks(rows: Sequence[Row]) -> list[Row]:
    """Rank the searches of each pipeline by Acc@1 in each corpus, and average the ranks over the
    corpora (section 5 of the paper). Equal scores share the best rank, as in "1, 1, 3". From the
    paper's accuracies this gives 21 of its 28 average ranks; no other way to rank equal scores
    gives more than 9.

    rows (Sequence[Dict[str, Any]]): One per "corpus", "pipeline" and "search".
    RETURNS (List[Dict[str, Any]]): Copies with `lenient@1_rank`, from 1, and
        `lenient@1_average_rank`, and likewise for `strict@1`. The rank is None without a score, the
        average if the search lacks a score in one of the corpora. Likewise for `expected@1` and
        dev, where they were measured.
    """
    ranked = [dict(row) for row in rows]
    corpora = {row["corpus"] for row in ranked}
    scores = (LENIENT, EXPECTED, STRICT)
    for key in (each for each in (*scores, *(f"dev_{key}" for key in scores)) if each in rows[0]):
        for row in ranked:
            rivals = [each[key] for each in ranked if _alike(row, each, "corpus", "pipeline")]
            row[f"{key}_rank"] = _rank(row[key], rivals)
        for row in ranked:
            same = [each for each in ranked if _alike(row, each, "pipeline", "search")]
            ranks = [row[f"{key}_rank"] for row in same if row[f"{key}_rank"] is not None]
            whole = len(ranks) == len(corpora)
            row[f"{key}_average_rank"] = round(sum(ranks) / len(ranks), 2) if whole else None
    return ranked


def _alike(one: Row, other: Row, *keys: str) -> bool:
    return all(one[key] == other[key] for key in keys)


def _rank(score: float | None, rivals: Sequence[float | None]) -> int | None:
    return (
        score if score is None else 1 + sum(rival is not None and rival > score for rival in rivals)
    )


def choose_searches(rows: Sequence[Row]) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): With `--tune`, for each encoder and corpus, a copy of the row
    of the search that is best on dev by the protocol's score, the first of equals: "chosen" names
    it, and "search" is that of the paper's Table 5.
    """
    best: dict[tuple[str, str], Row] = {}
    key = f"dev_{PROTOCOLS[rows[0]['protocol']].score}"
    for row in rows:
        chosen = best.setdefault((row["corpus"], row["pipeline"]), row)
        if row.get(key, 0) > chosen.get(key, 0):
            best[row["corpus"], row["pipeline"]] = row
    return [
        {**row, "search": TUNED, "chosen": row["search"]} for row in best.values() if key in row
    ]


def compare_with_paper(rows: Sequence[Row]) -> None:
    """Add the numbers of the paper's Table 5 to the rows that have them, with the difference and p.

    rows (Sequence[Dict[str, Any]]): Of test, with the chances of mentions.
    """
    for row in rows:
        key = (row["train"], row["search"])
        if row["corpus"] in PUBLISHED and key in PUBLISHED_ROWS:
            published = PUBLISHED[row["corpus"]][PUBLISHED_ROWS.index(key)]
            row |= compare_with_published(row["chances"], EXPECTED, published)


def means_rows(arguments: Namespace) -> list[Row]:
    """RETURNS (List[Dict[str, Any]]): What each encoder, of the first seed, finds in O by means of
    concepts, by corpus; "search" is "O".
    """
    rows = []
    for name in dict.fromkeys(arguments.dataset):
        data = read_data(name, arguments, arguments.part)
        mentions = PROTOCOLS[arguments.protocol].read(data)
        for contender in find_contenders(arguments, arguments.seeds and 0):
            encoder = cached_encoder(block_of(contender, data, arguments), arguments.work)
            encoder.initialize()
            head = {
                "corpus": name,
                "pipeline": contender.label,
                "search": "O",
                "train": contender.train,
            }
            rows.append({**head, **means_row(encoder, data, mentions)})
    return rows


def nearest_sections(arguments: Namespace) -> list[Section]:
    """RETURNS (List[Section]): With `--phrase`, the first concepts that each encoder finds for each
    phrase in O and D of the first corpus, their nearest texts and their scores.
    """
    if not arguments.phrase:
        return []
    data = read_data(arguments.dataset[0], arguments, arguments.part)
    found = {}
    for contender in find_contenders(arguments, arguments.seeds and 0):
        lookup = build(data, block_of(contender, data, arguments), arguments)
        found[contender.label] = ask_lookup(lookup, arguments.phrase, top_k=NEAREST, search="OD-T")
    return [
        Section(
            f"What is found for '{phrase}' by OD-T",
            [
                {"rank": rank + 1}
                | {label: _told(own[place], rank) for label, own in found.items()}
                for rank in range(NEAREST)
            ],
        )
        for place, phrase in enumerate(arguments.phrase)
    ]


def _told(candidates: Sequence[Candidate], rank: int) -> str:
    if rank >= len(candidates):
        return ""
    candidate = candidates[rank]
    return f"{candidate.text}, {candidate.concept_id}, {candidate.score:.3f}"


def training_section(rows: Sequence[Row]) -> Section:
    """RETURNS (Section): What each encoder was trained with."""
    keys = ("pipeline", "objective", "data_share", "interpolation")
    table = {row["pipeline"]: {key: row[key] for key in keys} for row in rows}
    return Section("What the encoders were trained with", list(table.values()))


def find_contenders(arguments: Namespace, seed: int | None) -> list[Contender]:
    """RETURNS (List[Contender]): The encoders that are asked for. A training config stands for one
    encoder for each of `--train`, trained with a seed; what `--start` names comes last.
    """
    data = read_data(arguments.dataset[0], arguments, arguments.part)
    pairs = []
    for encoder in arguments.encoders:
        if not is_trained_here(encoder):
            pairs.append((encoder, NOTHING))
            continue
        for train in arguments.train:
            pairs.append((vary(encoder, train, data, arguments, seed=seed), train))
    if arguments.start:
        pairs.append((arguments.start, NOTHING))
    return name_contenders(pairs)


def name_contenders(pairs: Sequence[tuple[str, str]]) -> list[Contender]:
    """Name the encoders of the table.

    pairs (Sequence[Tuple[str, str]]): Encoders as `encoder_config` takes them, and what each is
        trained on; "nothing" if it is not trained here.
    RETURNS (List[Contender]): The encoders.
    """
    names = [
        f"{Path(encoder).stem}{f' Train:{train}' * (train in TRAINS)}" for encoder, train in pairs
    ]
    if len(set(names)) < len(names):
        fail(f"{len(pairs)} encoders need as many different names: they are {', '.join(names)}.")
    return [Contender(name, *pair) for name, pair in zip(names, pairs, strict=True)]


def block_of(contender: Contender, data: Data, arguments: Namespace) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): The encoder's block of a pipeline's config."""
    if contender.train not in TRAINS:
        return start_block(contender.encoder, data, arguments.work)
    return encoder_config(contender.encoder, data, train=contender.train, work=arguments.work)


def score(
    contender: Contender, data: Data, arguments: Namespace
) -> tuple[list[Run], dict[str, np.ndarray]]:
    """RETURNS (Tuple[List[Run], Dict[str, Floats1d]]): The scores of an encoder by fourteen
    searches, the default sieve first; and by search, in the paper's order, the chance of each
    mention that has gold ids to be right if one of equal scores is drawn.
    """
    mentions = PROTOCOLS[arguments.protocol].read(data)
    lookup = build(data, block_of(contender, data, arguments), arguments)
    found = {
        search: ask_lookup(lookup, mentions.texts, top_k=DEPTH, search=search)
        for search in SEARCHES
    }
    runs, chances = [], {}
    for name, sieve in SIEVES.items():
        predictions = mentions.predict(sieve.choose(found, best_cosine))
        threshold = next(iter(sieve.thresholds), None)
        evaluation = score_predictions(mentions.gold, predictions)
        runs.append(Run(contender.label, name, threshold, evaluation, []))
        pairs = zip(mentions.gold, predictions, strict=True)
        chances[name] = np.array(
            [expected_accuracy(*pair) for pair in pairs if pair[0].concept_ids]
        )
    runs.sort(key=lambda run: run.name != SIEVE)
    return runs, chances


def best_cosine(found: Sequence[Candidate]) -> float:
    """RETURNS (float): The cosine of the first candidate; -inf if there is none."""
    return found[0].score if found else -inf


def build(data: Data, block: dict[str, Any], arguments: Namespace) -> ConceptLookup:
    """RETURNS (ConceptLookup): The index of an encoder."""
    return build_lookup(block, data, searches=SEARCHES, work=arguments.work)


if __name__ == "__main__":
    main()

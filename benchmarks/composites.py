"""How often the parts of a composite answer, and how often that is right. Mentions of a corpus are
searched in O and in O and D. `--names` searches the ontology's own names that coordinate something
and are left out of it: each is one concept, so whenever its parts answer, they are wrong.

Example: python benchmarks/composites.py --dataset ncbi --encoder minilm --part dev
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from _common.builders import build_lookup, encoder_config, make_sieve
from _common.cli import begin, clear_errors, finish, make_parser
from _common.datasets import Data
from _common.options import add_datasets, add_encoder, add_ontology, add_part
from _common.scoring import DEPTH, read_standard

from spacy_connorm.concepts import Concept, Ontology
from spacy_connorm.documents.spans import written_id
from spacy_connorm.evaluation import Gold, Prediction
from spacy_connorm.evaluation.protocol import strict_rank
from spacy_connorm.evaluation.report import Row
from spacy_connorm.linker.explanation import Interpretation
from spacy_connorm.linker.interpretations import MentionInterpreter
from spacy_connorm.linker.lookup import ConceptLookup
from spacy_connorm.text.cleaning import clean
from spacy_connorm.text.composites import split_composite


def main() -> None:
    arguments = begin(add_options(make_parser(__doc__ or "")))
    with clear_errors():
        rows = [row for dataset in arguments.dataset for row in measure(arguments, dataset)]
    finish(rows, arguments.json)


def add_options(parser: ArgumentParser) -> ArgumentParser:
    """RETURNS (ArgumentParser): The same, with the benchmark's options."""
    add_datasets(parser)
    add_encoder(parser)
    add_part(parser)
    add_ontology(parser)
    parser.add_argument("--names", action="store_true", help="score names left out, not mentions")
    return parser


def measure(arguments: Namespace, dataset: str) -> Iterator[Row]:
    """YIELDS (Dict[str, Any]): One row per search."""
    row = {"dataset": dataset, "encoder": arguments.encoder}
    data = Data(dataset, arguments.data, ontology=arguments.ontology, part=arguments.part)
    block = encoder_config(arguments.encoder, data, train=arguments.train, work=arguments.work)

    def build(data: Data, search: str, synonyms: Sequence[tuple[str, str]]) -> ConceptLookup:
        work = arguments.work
        lookup = build_lookup(block, data, searches=[search], work=work, synonyms=synonyms)
        lookup.sieve = make_sieve(search)
        return lookup

    if arguments.names:
        rest, gold = leave_out(data, arguments.work)
        counts = count(build(rest, "O-T", ()), gold, [""] * len(gold))
        yield {**row, "texts": "names left out", "search": "O-T", **counts}
        return
    gold = read_standard(data)
    for search, synonyms in (("O-T", ()), ("OD-T", data.expanded_synonyms)):
        counts = count(build(data, search, synonyms), gold, data.long_forms)
        yield {**row, "texts": f"mentions of {arguments.part}", "search": search, **counts}


def leave_out(data: Data, work: Path) -> tuple[Data, list[Gold]]:
    """RETURNS (Tuple[Data, List[Gold]]): The data set with an ontology without the names that
    coordinate something, of concepts that have other names; and these names with their concepts.
    """
    kept: list[Concept] = []
    gold: list[Gold] = []
    for concept in data.ontology:
        out = list(filter(is_coordination, concept.names))
        if not out or len(out) == len(concept.names):
            kept.append(concept)
            continue
        name, *aliases = (each for each in concept.names if each not in out)
        kept.append(replace(concept, canonical_name=name, aliases=tuple(aliases)))
        gold += [Gold(each, frozenset([concept.concept_id]), in_ontology=True) for each in out]
    path = work / f"{data.name}-without-coordinations.jsonl"
    Ontology(kept).to_disk(path)
    return Data(data.name, data.folder, ontology=path, part=data.part), gold


def is_coordination(name: str) -> bool:
    """RETURNS (bool): Whether a name would be split, other than at commas, which invert names."""
    return "," not in name and bool(split_composite(clean(name)))


def count(lookup: ConceptLookup, gold: Sequence[Gold], long_forms: Sequence[str]) -> Row:
    """RETURNS (Dict[str, Any]): How many texts can be split, how many are answered by their parts,
    and how many of these are right, strictly, only so or only as a whole.
    """
    read = MentionInterpreter(lookup, top_k=DEPTH).read([each.text for each in gold], long_forms)
    names = ("splittable", "parts answer", "only parts right", "only whole right")
    counts = dict.fromkeys(names, 0)
    for each, interpretations in zip(gold, read, strict=True):
        whole = [way for way in interpretations if way.kind != "parts"]
        if not each.concept_ids or len(whole) == len(interpretations):
            continue
        counts["splittable"] += 1
        if interpretations[0].kind == "parts":
            parts = is_right(interpretations[0], each)
            one = is_right(max(whole, key=lambda way: way.score), each)
            counts["parts answer"] += 1
            counts["only parts right"] += parts and not one
            counts["only whole right"] += one and not parts
    return {"mentions": len(gold), **counts}


def is_right(way: Interpretation, gold: Gold) -> bool:
    """RETURNS (bool): Whether an interpretation is right, strictly."""
    prediction = Prediction(way.candidates, written_id(way.candidates, None))
    return strict_rank(prediction, gold) == 1


if __name__ == "__main__":
    main()

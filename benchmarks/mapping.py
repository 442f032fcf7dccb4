"""How often `connorm map` finds the concept of a term, and how many of the mappings that it accepts
are right: names of one ontology mapped to another, scored by the cross-references of the first.

Example: python benchmarks/mapping.py --set do-ctd --encoder minilm --data ../shared/data
"""

import csv
import tempfile
from argparse import Namespace
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import spacy
from _common.builders import encoder_config, is_trained_here
from _common.cli import begin, clear_errors, fail, finish, make_parser, require_files
from spacy.language import Language

from spacy_connorm import Ontology, map_terms
from spacy_connorm.concepts import Concept
from spacy_connorm.concepts.curies import split_curie
from spacy_connorm.documents import TermMapping, read_sssom
from spacy_connorm.documents.sssom import ACCEPTED
from spacy_connorm.evaluation.report import Row
from spacy_connorm.ontology import read_ontology
from spacy_connorm.workflows.mapping_ids import concept_ids_of
from spacy_connorm.workflows.mapping_rows import EXACT

DO = "disease_ontology/doid_2016-09-01.obo.gz"
CTD = "ctd_diseases_2017/CTD_diseases.tsv.gz"
ICD = "icd10cm_2021/icd10cm-order-Jan-2021.txt.gz"
ICD_LIST = "icd10cm_2021/icd10cm_tabular_2021.xml.gz"
# The files of each set, beside the Disease Ontology.
SETS = {
    "do-ctd": (CTD,),
    "icd10-do": (ICD,),
    "do-icd10": (ICD, ICD_LIST),
    "do-icd10-listed": (ICD, ICD_LIST),
}
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
_TOP_K = 5


class Task(NamedTuple):
    """Terms to map, and what they should be mapped to.

    ontology (Ontology): Their target.
    terms (Dict[str, str]): Names by id.
    gold (Dict[str, Set[str]]): The right concepts by id: any of them counts.
    """

    ontology: Ontology
    terms: dict[str, str]
    gold: dict[str, set[str]]


def main() -> None:
    parser = make_parser(__doc__ or "")
    parser.add_argument("--set", required=True, choices=SETS, nargs="+")
    parser.add_argument("--encoder", required=True, help="ngram, minilm or a FOLDER")
    arguments = begin(parser)
    with clear_errors():
        rows = [row for name in arguments.set for row in measure(arguments, name)]
    finish(rows, arguments.json)


def measure(arguments: Namespace, name: str) -> Iterator[Row]:
    """YIELDS (Dict[str, Any]): One row a rule of acceptance."""
    task = _read_task(name, arguments.data)
    mappings = _map(task, _make_pipeline(arguments, task.ontology))
    ranks = [_rank(mapping, task) for mapping in mappings]
    ids = {concept.concept_id for concept in task.ontology}
    known = [not ids.isdisjoint(task.gold[_code(mapping)]) for mapping in mappings]
    first = [rank == 0 for rank in ranks]
    head = {
        "set": name,
        "encoder": arguments.encoder,
        "terms": len(mappings),
        "accuracy@1": _percent(first),
        "accuracy@5": _percent(rank is not None for rank in ranks),
        "in_ontology": sum(known),
        "in_ontology_accuracy@1": _percent(
            right for right, is_known in zip(first, known, strict=True) if is_known
        ),
    }
    for rule, accepted in _rules(mappings):
        chosen = [right for right, is_chosen in zip(first, accepted, strict=True) if is_chosen]
        yield {
            **head,
            "accepted": rule,
            "coverage": _percent(accepted),
            "precision": _percent(chosen),
        }


def _read_task(name: str, folder: Path) -> Task:
    require_files(folder / path for path in (DO, *SETS[name]))
    diseases = read_ontology(folder / DO)
    if name == "do-ctd":
        ontology = read_ontology(folder / CTD)
        gold = {
            disease.concept_id: {_concept_of(x, ontology) for x in found}
            for disease in diseases
            if (found := [x for x in disease.xrefs if x.startswith(("MESH:", "OMIM:"))])
        }
        return Task(ontology, _names(diseases, gold), gold)
    gold = {disease.concept_id: found for disease in diseases if (found := _icd_codes(disease))}
    if name == "icd10-do":
        by_code = defaultdict(set)
        for concept_id, found in gold.items():
            for code in found:
                by_code[code].add(concept_id)
        return Task(diseases, _names(read_ontology(folder / ICD), by_code), dict(by_code))
    ontology = read_ontology(
        folder / ICD, tabular=folder / ICD_LIST, implied_names=name == "do-icd10"
    )
    return Task(ontology, _names(diseases, gold), gold)


def _icd_codes(concept: Concept) -> set[str]:
    found = map(split_curie, concept.xrefs)
    return {code for prefix, code in found if prefix == "ICD10CM"}


def _names(ontology: Ontology, wanted: Iterable[str]) -> dict[str, str]:
    wanted = set(wanted)
    return {
        concept.concept_id: concept.canonical_name
        for concept in ontology
        if concept.concept_id in wanted
    }


def _make_pipeline(arguments: Namespace, ontology: Ontology) -> Language:
    if is_trained_here(arguments.encoder):
        fail(f"'{arguments.encoder}' is not trained yet: give ngram, minilm or the folder of one.")
    encoder = encoder_config(arguments.encoder, None, work=arguments.work)  # type: ignore[arg-type]
    nlp = spacy.blank("en")
    index = {"@misc": "spacy-connorm.ExactIndex.v1"}
    settings = {"encoder": encoder, "index": index}
    normalizer = nlp.add_pipe("concept_normalizer", config=settings)
    normalizer.initialize(ontology=ontology)  # type: ignore[attr-defined]
    return nlp


def _map(task: Task, nlp: Language) -> list[TermMapping]:
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder, "terms.csv"), Path(folder, "out.sssom.tsv")
        with table.open("w", encoding="utf8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(("code", "term"))
            rows.writerows(task.terms.items())
        map_terms(nlp, table, out, accept=0.0, review=0.0, top_k=_TOP_K)
        return read_sssom(out).mappings


def _code(mapping: TermMapping) -> str:
    return mapping.subject_id.removeprefix("local:")


def _rank(mapping: TermMapping, task: Task) -> int | None:
    gold = task.gold[_code(mapping)]
    found = [_concept_of(candidate.object_id, task.ontology) for candidate in mapping.candidates]
    return next((place for place, each in enumerate(found) if each in gold), None)


def _concept_of(curie: str, ontology: Ontology) -> str:
    known = (concept_id for concept_id in concept_ids_of(curie) if concept_id in ontology)
    return ontology.primary_id(next(known, curie))


def _rules(mappings: list[TermMapping]) -> Iterator[tuple[str, list[bool]]]:
    yield "all", [True] * len(mappings)
    for least in THRESHOLDS:
        yield (
            f"from {least}",
            [
                mapping.status == ACCEPTED and (mapping.confidence or 0) >= least
                for mapping in mappings
            ],
        )
    exact = [mapping.status == ACCEPTED and mapping.predicate_id == EXACT for mapping in mappings]
    yield "skos:exactMatch", exact


def _percent(rights: Iterable[bool]) -> float:
    rights = list(rights)
    return round(100 * sum(rights) / max(len(rights), 1), 1)


if __name__ == "__main__":
    main()

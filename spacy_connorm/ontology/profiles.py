"""Profiles of known ontologies: the part that names mentions. Ontologies also contain qualifiers:
HPO has "severe" and "autosomal dominant", SO has "single" and "predicted".
"""

import re
from collections.abc import Collection, Sequence
from itertools import chain
from typing import Any, NamedTuple, Protocol

from ..errors import require_choice

AUTO = "auto"
NONE = "none"
# The minimum share of all concepts at or below the roots of a profile, or with ids of its form.
_MOST = 0.9
# Of joined ontologies, at or below the roots of all their profiles: a small one without a profile
# beside them must not be left out.
_MOST_JOINED = 0.97
# The number of ids to check.
_SOME = 1000

# SNOMED CT's semantic tags for what describes other concepts, people, places and its own model.
_SNOMED_TAGS = (
    *("administration method", "administrative concept", "attribute", r".*\bdose form"),
    *("environment.*", "ethnic group", "geographic location", "intended site", "life style"),
    *("link assertion", "linkage concept", r"(.*\b)?metadata( concept)?", "namespace concept"),
    *("disposition", "number", "occupation", "person", "physical force", "product name"),
    *("qualifier value", "racial group", "record artifact", "release characteristic", "role"),
    *("religion/philosophy", "social concept", "special concept", "state of matter", "supplier"),
    *("transformation", "unit of presentation"),
)


# UMLS's semantic types of concepts, ideas, texts and places.
_UMLS_TYPES = {
    "T077": "Conceptual Entity",
    "T078": "Idea or Concept",
    "T079": "Temporal Concept",
    "T080": "Qualitative Concept",
    "T081": "Quantitative Concept",
    "T082": "Spatial Concept",
    "T083": "Geographic Area",
    "T089": "Regulation or Law",
    "T102": "Group Attribute",
    "T169": "Functional Concept",
    "T170": "Intellectual Product",
    "T171": "Language",
    "T185": "Classification",
}
_UMLS_REASON = (
    "concepts of quality, quantity, time, function, ideas, texts and places are not mentions"
)

# What a profile sets of the finder.
_FINDER_SETTINGS = (
    *("inexact_names", "derivations", "match_capitals", "undefined_short_forms", "min_certainty"),
)


class Profile(NamedTuple):
    """The concepts of an ontology that texts mention.

    name (str): Its name in settings.
    reason (str): What is left out, and why.
    roots (Tuple[str, ...]): Concepts at or above most others, which identify the ontology.
    branches (Tuple[str, ...]): Mentions name only concepts at or below these, as far as a part of
        the ontology has them.
    excluded (Tuple[str, ...]): Neither these concepts nor those that are only below them.
    inexact_names (bool): Whether narrow, broad and related synonyms are mentions.
    derivations (bool): Whether adjectives are mentions of what they derive from.
    match_capitals, undefined_short_forms (bool): The settings of the finder.
    min_certainty (Optional[float]): The setting of the finder; None to leave it as it is.
    ids (str): The form of its ids, a regular expression, which identifies an ontology without
        roots, and a table without a hierarchy.
    other_types (str): Semantic types whose concepts are never mentions, a regular expression.
    """

    name: str
    reason: str
    roots: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    inexact_names: bool = False
    derivations: bool = True
    match_capitals: bool = False
    undefined_short_forms: bool = False
    min_certainty: float | None = None
    ids: str = ""
    other_types: str = ""

    def kept_types(self, types: Collection[str]) -> list[str]:
        """List the semantic types whose concepts are mentions.

        RETURNS (List[str]): These types; empty for all.
        """
        kept = [each for each in types if not re.fullmatch(self.other_types, each)]
        return kept if len(kept) < len(types) else []

    def without_branches(self) -> "Profile":
        """Adapt the profile to an ontology without a hierarchy, where a branch is a single concept.

        RETURNS (Profile): The same settings, without branches.
        """
        if not (self.branches or self.excluded):
            return self
        reason = (
            "only its other settings, since no concept has a parent: nothing is left out by its "
            "place. The ontology's own file (OBO, OWL) has parents"
        )
        return self._replace(branches=(), excluded=(), reason=reason)


class Described(Protocol):
    """What identifies an ontology."""

    def has_hierarchy(self) -> bool:
        """Check whether any concept has a parent among the others.

        RETURNS (bool): Whether one has.
        """

    def share_below(self, roots: Sequence[str]) -> float:
        """Compute the share of its concepts at or below some of them, of those that have a place
        in its hierarchy.

        RETURNS (float): 0 to 1.
        """

    def some_ids(self, most: int) -> Sequence[str]:
        """Get a sample of its ids.

        RETURNS (Sequence[str]): At most this many ids, from all of it.
        """

    def types(self) -> Collection[str]:
        """List its semantic types.

        RETURNS (Collection[str]): The types; empty if some concept has none.
        """


# Ids of documents, F1, ontology alone with n-grams, dev parts (docs/benchmarks): HPO abstracts 60.4
# -> 70.5 and notes 64.0 -> 71.5, CRAFT SO 44.7 -> 49.4. MONDO has the same structure; what its
# release of May 2026 finds was read by eye, without gold. Other ontologies need no profile, or none
# was measured: in DO and MEDIC, all concepts except the root are diseases; the roots of CL and GO
# are left out like those of any ontology, see `workflows.indexing`.
PROFILES = {
    each.name: each
    for each in (
        Profile(
            name="hpo",
            roots=("HP:0000001",),
            ids=r"HP:\d+",
            # Pre-eclampsia and the like are of a pregnancy.
            branches=("HP:0000118", "HP:0002686"),
            inexact_names=True,
            reason="only phenotypic abnormalities are mentions; modifiers, frequencies and modes "
            "of inheritance are not",
        ),
        Profile(
            name="mondo",
            roots=("MONDO:0000001",),
            ids=r"MONDO:\d+",
            branches=("MONDO:0000001",),
            # Of other animals: "mucopolysaccharidosis I, dog" is also "MPS I".
            excluded=("MONDO:0005583",),
            reason="only diseases are mentions; their characteristics are not, nor are diseases of "
            "other animals",
        ),
        # Diseases and genes. We have no release to measure it.
        Profile(
            name="ordo",
            roots=("Orphanet:C001", "Orphanet:C010"),
            ids=r"(Orphanet|ORPHA):C?\d+",
            branches=("Orphanet:C001",),
            reason="only diseases are mentions; genes, ages of onset and modes of inheritance are "
            "not",
        ),
        Profile(
            name="so",
            roots=("SO:0000110", "SO:0000400", "SO:0001060", "SO:0001260"),
            ids=r"SO:\d+",
            branches=("SO:0000110", "SO:0001060", "SO:0001260"),
            undefined_short_forms=True,
            reason="only sequences, their collections and variants are mentions; attributes are "
            "not",
        ),
        # Thirty articles of CRAFT's train part: 72.9 -> 73.4.
        Profile(
            name="uberon",
            roots=("UBERON:0001062",),
            ids=r"UBERON:\d+",
            branches=("UBERON:0001062",),
            reason="anatomical structures are found only in their own words; other words for "
            "places, such as lateral and outer, name other structures",
            min_certainty=1.0,
        ),
        # BC5CDR's chemicals, train and dev: 60.0 and 61.6 -> 75.3 and 76.7. Annotators of chemicals
        # leave these out: they name what a chemical does or how it is given, and genes' products.
        Profile(
            name="mesh-chemicals",
            roots=(
                *("D000602", "D001685", "D001697", "D002241", "D004364", "D006571", "D006730"),
                *("D007287", "D008055", "D009706", "D009930", "D011083", "D020164", "D045424"),
                *("D045762", "D046911"),
            ),
            # Actions and uses, preparations, both sexes; enzymes, nucleic acids, proteins, and
            # proteins that are also peptides, lipids, carbohydrates or biological factors.
            excluded=(
                *("D020164", "D004364", "D005260", "D008297", "D045762", "D009696", "D011506"),
                *("D006023", "D008074", "D036341", "D047908", "D046912", "D000954", "D015415"),
            ),
            derivations=False,
            undefined_short_forms=True,
            reason="chemicals are mentions; their uses (analgesic), preparations (placebo), "
            "enzymes, proteins and nucleic acids are not, nor are adjectives (acidic)",
        ),
        # It calls only names exact that IUPAC, WHO or a brand coined: "aspirin" is a related
        # synonym. No release was measured.
        Profile(
            name="chebi",
            roots=("CHEBI:24431", "CHEBI:36342", "CHEBI:50906"),
            ids=r"CHEBI:\d+",
            excluded=("CHEBI:36342", "CHEBI:50906"),
            derivations=False,
            inexact_names=True,
            undefined_short_forms=True,
            reason="chemical entities are mentions; their roles (analgesic) and subatomic "
            "particles are not, nor are adjectives (acidic)",
        ),
        # Genera are called Cancer, Lens, Iris and Data. What the animals of May 2026 alone, without
        # the root, find in CRAFT was read by eye: there is no gold.
        Profile(
            name="ncbitaxon",
            ids=r"NCBITaxon:\d+",
            branches=("NCBITaxon:1",),
            match_capitals=True,
            reason="organisms are mentions; ranks (family) are not, nor are scientific names in "
            "lower case (cancer)",
        ),
        # Of the 173,000 names of 2024, 965 have six capital letters or more: BRIGHT, IMPACT.
        Profile(
            name="hgnc",
            ids=r"HGNC:\d+",
            match_capitals=True,
            reason="symbols of genes are mentions only in capitals: IMPACT, not impact",
        ),
        # Of 11,000 names that NCBI's, BC5CDR's and the notes' dev texts have, 180 are of these
        # types: "review", "case report".
        Profile(
            name="mesh",
            ids=r"[CD]\d{6,9}",
            other_types=r"[VZ]\d*",
            reason="the kind and origin of an article are not mentions: publication "
            "characteristics and places are left out",
        ),
        Profile(
            name="icd10cm",
            ids=r"[A-Z]\d\w(\.\w{1,4})?",
            other_types=r"External causes of morbidity.*",
            reason="diseases, injuries and findings are mentions; external causes are not, since "
            "they are everyday words (storm, tractor)",
        ),
        # We have no release to measure it.
        Profile(
            name="snomed",
            ids=r"\d{6,18}",
            other_types="|".join(_SNOMED_TAGS),
            reason="what describes other concepts (severe, left), people and places are not "
            "mentions",
        ),
        # MedMentions ST21pv also leaves out all but one of these types. We have no release to
        # measure it.
        Profile(
            name="umls",
            ids=r"C\d{7}",
            other_types="|".join(_UMLS_TYPES),
            reason=_UMLS_REASON,
        ),
        # It has the names of UMLS's types.
        Profile(
            name="ncit",
            ids=r"(NCIT:)?C\d{2,6}",
            other_types="|".join(_UMLS_TYPES.values()),
            reason=_UMLS_REASON,
        ),
    )
}


def choose_profile(name: str, ontology: Described) -> Profile | None:
    """Choose the profile of an ontology.

    name (str): A profile; "auto" for the one whose roots are above most concepts, or whose form
        most ids have, or for all whose roots are, together; "none".
    ontology (Described): The ontology.
    RETURNS (Optional[Profile]): The profile; None if there is none.
    RAISES (ConnormError): CN118 for an unknown name.
    """
    require_choice("profile", name, (AUTO, NONE, *PROFILES))
    if name == AUTO:
        profile = next((each for each in PROFILES.values() if _is_of(each, ontology)), None)
        profile = profile or _joint_profile(ontology)
    else:
        profile = PROFILES.get(name)
    if profile is None or ontology.has_hierarchy() or not _has_ids(profile, ontology):
        return profile
    return profile.without_branches()


def _has_ids(profile: Profile, ontology: Described) -> bool:
    """Check whether most ids have the form of a profile's."""
    ids = ontology.some_ids(_SOME)
    same = sum(re.fullmatch(profile.ids, each) is not None for each in ids)
    return same >= _MOST * len(ids) > 0


def _is_of(profile: Profile, ontology: Described) -> bool:
    if profile.roots and ontology.has_hierarchy():
        return ontology.share_below(profile.roots) >= _MOST
    if not _has_ids(profile, ontology):
        return False
    # Otherwise, concepts without a type would be left out.
    return not profile.other_types or bool(profile.kept_types(ontology.types()))


def _joint_profile(ontology: Described) -> Profile | None:
    """Join the profiles of ontologies that were joined into one. A setting of the finder that they
    do not share keeps its default.
    """
    parts = [each for each in PROFILES.values() if each.roots and ontology.share_below(each.roots)]
    roots = tuple(chain.from_iterable(each.roots for each in parts))
    if ontology.share_below(roots) < _MOST_JOINED:
        return None
    shared: dict[str, Any] = {}
    for setting in _FINDER_SETTINGS:
        first, *others = (getattr(each, setting) for each in parts)
        if all(each == first for each in others):
            shared[setting] = first
    return Profile(
        name=" and ".join(each.name for each in parts),
        reason="of each joined ontology, only what its own profile finds is a mention",
        roots=roots,
        branches=tuple(chain.from_iterable(each.branches or each.roots for each in parts)),
        excluded=tuple(chain.from_iterable(each.excluded for each in parts)),
        **shared,
    )

"""Ids with the prefix of their vocabulary: CURIEs, as `MESH:D003920`."""

import re
from collections.abc import Iterable

# Other spellings of a vocabulary's prefix, and the one that is used here.
_PREFIXES = {
    "MSH": "MESH",
    "MIM": "OMIM",
    "OMIMPS": "OMIM",
    "ICD10-CM": "ICD10CM",
    "ICD-10-CM": "ICD10CM",
    "ICD9": "ICD9CM",
    "ICD-9-CM": "ICD9CM",
    "UMLS_CUI": "UMLS",
    "SCTID": "SNOMEDCT",
    "SNOMEDCT_US": "SNOMEDCT",
    "SNOMED": "SNOMEDCT",
    "NCI": "NCIT",
    "ORDO": "ORPHANET",
    "ORPHA": "ORPHANET",
    "MDR": "MEDDRA",
    "HPO": "HP",
}
_CURIE = re.compile(r"([A-Za-z][\w.\-]*):(\S+)")
# SNOMEDCT_US_2016_03_01, NCI2009_04D
_RELEASE = re.compile(r"_?\d{4}(_\d\w*)+$")
_NO_VOCABULARIES = ("HTTP", "HTTPS", "FTP", "DOI", "PMID", "ISBN", "URL", "WIKIPEDIA")


def curie(prefix: str, local_id: str) -> str:
    """Write an id as a CURIE.

    prefix (str): Of the vocabulary.
    local_id (str): The id; one that begins with a prefix itself (`HP:0000118`) stays as it is.
    RETURNS (str): The CURIE; its prefix is not normalized.
    """
    return local_id if ":" in local_id else f"{prefix}:{local_id}"


def normalized_curies(ids: Iterable[str]) -> tuple[str, ...]:
    """Normalize the prefixes of CURIEs: upper case, one spelling for a vocabulary, no release. Ids
    without prefix, addresses and references to literature are left out.

    ids (Iterable[str]): The ids.
    RETURNS (Tuple[str, ...]): The CURIEs, each once.
    """
    return tuple(dict.fromkeys(filter(None, map(_normalized, ids))))


def _normalized(each: str) -> str:
    match = _CURIE.fullmatch(each)
    if not match:
        return ""
    prefix, local_id = match[1].upper(), match[2]
    if ":" in local_id:  # CTD writes DO:DOID:9351
        return _normalized(local_id)
    prefix = _RELEASE.sub("", prefix)
    prefix = _PREFIXES.get(prefix, prefix)
    return "" if prefix in _NO_VOCABULARIES else f"{prefix}:{local_id}"

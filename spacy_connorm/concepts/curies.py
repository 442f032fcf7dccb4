"""Ids with the prefix of their vocabulary: CURIEs such as `MESH:D003920`, with a single prefix
map.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..errors import refuse
from ..files.package_data import read_toml

# The last part of an IRI of an OBO ontology: "HP_0002650", "NCIT_C3262".
_IRI_PART = re.compile(r"([A-Za-z]+)_([A-Z]?\d+)")
# The form of a prefix set by a user.
PREFIX = re.compile(r"[A-Za-z_][\w.\-]*")
_CURIE = re.compile(r"([A-Za-z][\w.\-]*):(\S+)")
# SNOMEDCT_US_2016_03_01, NCI2009_04D
_RELEASE = re.compile(r"_?\d{4}(_\d\w*)+$")
_NO_VOCABULARIES = ("HTTP", "HTTPS", "FTP", "DOI", "PMID", "ISBN", "URL", "WIKIPEDIA")
# What UMLS uses for a name without a code.
_NO_CODE = "NOCODE"
MESH_TREE_NUMBER = re.compile(r"[A-Z]\d\d(\.\d+)*")
# Vocabularies whose ids are usually written without a prefix, and are unambiguous.
_BARE_IDS = {"MESH": re.compile(r"[CD]\d{6}(\d{3})?"), "UMLS": re.compile(r"C\d{7}")}


@dataclass(frozen=True)
class PrefixMap:
    """The prefixes that stand for the same vocabulary, and the IRIs of its ids.

    spellings (Mapping[str, str]): Other spellings of a prefix, in upper case, and the one used
        here.
    addresses (Mapping[str, str]): The beginning of the IRIs of ids, by prefix.
    """

    spellings: Mapping[str, str]
    addresses: Mapping[str, str]

    def extended(self, prefixes: Mapping[str, str]) -> "PrefixMap":
        """Add a user's own prefixes.

        prefixes (Mapping[str, str]): By prefix, in any case, another prefix of the same vocabulary,
            or the beginning of the IRIs of its ids, such as "https://example.org/terms/".
        RETURNS (PrefixMap): A new map, in which the user's prefixes come first.
        """
        added = {prefix.upper(): meaning for prefix, meaning in prefixes.items()}
        addresses = {prefix: address for prefix, address in added.items() if "://" in address}
        spellings = dict(self.spellings)
        for prefix, meaning in added.items():
            if prefix in addresses:
                spellings.pop(prefix, None)
            else:
                spellings[prefix] = self.prefix(meaning)
        return PrefixMap(spellings, {**self.addresses, **addresses})

    def prefix(self, written: str) -> str:
        """Convert a prefix to upper case and a single spelling, without a release.

        written (str): The prefix, in any spelling.
        RETURNS (str): The prefix as used here.
        """
        prefix = _RELEASE.sub("", written.upper())
        return self.spellings.get(prefix, prefix)

    def knows(self, prefix: str) -> bool:
        """Check whether a prefix is in the map.

        prefix (str): The prefix, in any spelling.
        RETURNS (bool): True if it is.
        """
        return self.prefix(prefix) in {*self.spellings.values(), *self.addresses}

    def curie(self, written: str) -> str:
        """Convert an id with a prefix to the spelling used here.

        written (str): An id that has a prefix.
        RETURNS (str): The CURIE; empty for ids without a prefix, URLs and references to literature.
        """
        match = _CURIE.fullmatch(written)
        if not match:
            return ""
        prefix, local_id = match[1], match[2]
        if ":" in local_id:  # CTD writes DO:DOID:9351
            return self.curie(local_id)
        prefix = self.prefix(prefix)
        if prefix in _NO_VOCABULARIES or local_id == _NO_CODE:
            return ""
        if prefix == "MESH" and MESH_TREE_NUMBER.fullmatch(local_id):
            prefix = "MESHTREE"
        return f"{prefix}:{local_id}"

    def curies(self, ids: Iterable[str]) -> tuple[str, ...]:
        """Convert ids with prefixes to the spelling used here, see `curie`.

        ids (Iterable[str]): Ids with prefixes; others are left out.
        RETURNS (Tuple[str, ...]): The CURIEs, each once.
        """
        return tuple(dict.fromkeys(filter(None, map(self.curie, ids))))

    def own_curie(self, concept_id: str, xrefs: Iterable[str] = ()) -> str:
        """Add the prefix of its vocabulary to the id of a concept.

        concept_id (str): Its id.
        xrefs (Iterable[str]): Its cross-references. One of them may be the id with its prefix.
        RETURNS (str): The CURIE; empty if the vocabulary is unknown.
        """
        stated = (xref for xref in xrefs if split_curie(xref)[1] == concept_id)
        usual = (f"{prefix}:{concept_id}" for prefix in _vocabularies(concept_id))
        return self.curie(concept_id) or next(stated, "") or next(usual, "")

    def spellings_of(self, concept_id: str) -> tuple[str, ...]:
        """List other spellings of an id in ontologies: `MESH:D003920` or `D003920` for
        `MSH:D003920`, `HP:0002650` for `HP_0002650`.

        concept_id (str): An id.
        RETURNS (Tuple[str, ...]): Other spellings, the most likely first.
        """
        if parts := _IRI_PART.fullmatch(concept_id):
            curie = ":".join(parts.groups())
            return curie, *self.spellings_of(curie)
        curie = self.curie(concept_id) or self.own_curie(concept_id)
        prefix, local_id = split_curie(curie)
        bare = [local_id] if prefix in _vocabularies(local_id) else []
        others = (curie, *bare)
        return tuple(other for other in others if other and other != concept_id)

    def address(self, curie: str) -> str:
        """Find the IRI of a concept.

        curie (str): Its id with its prefix.
        RETURNS (str): The IRI; empty if the prefix has none.
        """
        prefix, local_id = split_curie(curie)
        base = self.addresses.get(self.prefix(prefix), "")
        return base and base + local_id


_VOCABULARIES = read_toml(__package__, "vocabularies.toml").items()
PREFIXES = PrefixMap(
    {other: prefix for prefix, known in _VOCABULARIES for other in known.get("spellings", ())},
    {prefix: known["address"] for prefix, known in _VOCABULARIES if "address" in known},
)


def require_prefix(prefix: str) -> None:
    """Refuse an invalid prefix.

    prefix (str): The prefix as set by the user.
    RAISES (ConnormError): CN006.
    """
    if not PREFIX.fullmatch(prefix):
        refuse("prefix", prefix, "letters, digits, dots, dashes and underscores")


def split_curie(curie: str) -> tuple[str, str]:
    """Split an id from its prefix.

    curie (str): The id.
    RETURNS (Tuple[str, str]): The prefix, empty if there is none, and the id in its vocabulary.
    """
    prefix, colon, local_id = curie.partition(":")
    return (prefix, local_id) if colon else ("", curie)


def join_curie(prefix: str, local_id: str) -> str:
    """Combine a prefix and an id.

    prefix (str): The prefix of the vocabulary.
    local_id (str): The id; an id that already begins with a prefix (`HP:0000118`) is returned
        unchanged.
    RETURNS (str): The CURIE; its prefix is not changed.
    """
    return local_id if ":" in local_id else f"{prefix}:{local_id}"


def _vocabularies(local_id: str) -> list[str]:
    return [prefix for prefix, form in _BARE_IDS.items() if form.fullmatch(local_id)]

"""A MEDIC of a few dozen concepts with several names each."""

import gzip

ORGANS = ("heart", "skin", "head", "lung", "liver", "eye", "ear", "nose", "hand", "foot", "back")
KINDS = ("cancer", "pain", "rash")
WORDS = {"cancer": ("tumour", "carcinoma"), "pain": ("ache", "soreness"), "rash": ("itch", "red")}


def write_medic(data):
    """Write a concept for each organ and kind, with four names, and one with a single name."""
    lines = []
    for number, (organ, kind) in enumerate((o, k) for o in ORGANS for k in KINDS):
        names = [
            f"{organ} {kind}",
            *(f"{organ} {word}" for word in WORDS[kind]),
            f"{kind} of {organ}",
        ]
        lines.append(f"D{number}||{'|'.join(names)}")
    lines.append("D99||Ménière's disease")
    path = data / "medic_2012" / "medic_06Jul2012.txt.gz"
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))

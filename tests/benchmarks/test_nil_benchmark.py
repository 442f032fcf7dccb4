"""Half of the gold concepts are taken out of a small MEDIC."""

import gzip
import random

SYLLABLES = ("ar", "be", "cor", "du", "fel", "gam", "hy", "kin", "lo", "mur", "ne", "pso", "tri")
MENTIONS = 20


def made_up():
    """Three names of each of 120 concepts: two are forms of the same words."""
    generator = random.Random(0)
    for number in range(120):
        first, second = ("".join(generator.sample(SYLLABLES, 3)) for _ in "12")
        yield f"D{number}", [f"{first}al {second}itis", f"{first}ic {second}osis"]


def test_what_is_not_there_is_nil(rows_of, data):
    concepts = list(made_up())
    lines = "".join(f"{number}||{'|'.join(names)}\n" for number, names in concepts)
    path = data / "medic_2012" / "medic_06Jul2012.txt.gz"
    path.write_bytes(gzip.compress(lines.encode()))
    note = "".join(
        f"{place}|t|{names[0]}\n{place}|a|\n"
        f"{place}\t0\t{len(names[0])}\t{names[0]}\tDisease\t{number}\n\n"
        for place, (number, names) in enumerate(concepts[:MENTIONS])
    )
    (data / "ncbi_disease" / "test.pubtator.txt.gz").write_bytes(gzip.compress(note.encode()))
    given = ["--dataset", "ncbi", "--encoder", "ngram", "--data", data, "--nil-threshold", "0", "1"]
    never, always = rows_of("nil.py", *given)
    assert (never["mentions"], never["all: right"]) == (MENTIONS, 100)
    assert (never["half NIL R"], always["half NIL R"]) == (0, 100)
    assert (never["all: right lost"], always["all: right lost"]) == (0, 100)
    assert 0 <= never["half ECE"] < 50

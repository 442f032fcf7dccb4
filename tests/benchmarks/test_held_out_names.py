"""Synonyms that are taken out of an ontology, and asked for."""

from .conftest import pack

MEDIC = "".join(
    f"D{number}||Number{word} Ataxia|Ataxia Number{word}s|Shaky{word}|Twin|Fall{word}\n"
    for number, word in enumerate(("alpha", "beta", "gamma", "delta", "kappa", "sigma"))
)


def test_a_synonym_of_some_concepts_is_taken_out(modules, data):
    from _common.held_out import hold_out

    pack(data / "medic_2012" / "medic_06Jul2012.txt.gz", MEDIC)
    ontology, names = hold_out("held-out-medic", data)
    assert names == hold_out("held-out-medic", data)[1]
    assert 0 < len(names) < len(ontology) == 6
    for text, concept_id in names:
        assert text not in ontology[concept_id].names
        # Several concepts have it.
        assert text != "Twin"
    assert sum(len(concept.names) for concept in ontology) == 6 * 5 - len(names)


def test_shares_of_right_wrong_and_missed_synonyms(rows_of, data):
    pack(data / "medic_2012" / "medic_06Jul2012.txt.gz", MEDIC)
    (row,) = rows_of("held_out_names.py", "--ontology", "held-out-medic", "--data", data)
    assert row["names"] > 0
    assert abs(row["right"] + row["wrong"] + row["missed"] - 100) < 0.2

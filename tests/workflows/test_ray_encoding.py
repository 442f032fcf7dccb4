"""Names encoded on a cluster of two nodes; see `test_ray_engine`."""

import sys

import numpy as np
import pytest
from troublesome import LosesItsProcess

from spacy_connorm import Concept, Ontology, build_index
from spacy_connorm.errors import ConnormError
from spacy_connorm.workflows.ray_encoding import make_ray_encoding

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="Ray has several nodes on one machine on Linux only"
)
ONTOLOGY = Ontology([Concept(f"C{number}", f"disease {number}") for number in range(9000)])
NGRAMS = {
    "components.concept_normalizer.encoder": {"@architectures": "spacy-connorm.NgramEncoder.v1"}
}


@pytest.mark.long
def test_the_index_is_the_one_built_alone(cluster, tmp_path, contents):
    path = tmp_path / "built"
    alone = build_index(ONTOLOGY, path / "alone", overrides=NGRAMS)
    ray = build_index(ONTOLOGY, path / "ray", overrides=NGRAMS, engine="ray")
    one, other = (contents(each.index_path) for each in (alone, ray))
    arrays = {name for name in one if name.endswith((".npy", ".npz", ".sqlite", ".txt"))}
    assert one.keys() == other.keys() and any("texts" in name for name in arrays)
    assert {name for name in arrays if one[name] != other[name]} == set()
    assert alone.manifest["counts"] == ray.manifest["counts"]


@pytest.mark.long
def test_batches_come_in_order_though_a_process_is_lost(cluster, tmp_path):
    encoder = LosesItsProcess(tmp_path)
    batches = [["a" * number, f"text {number}"] for number in range(20)]
    batches[7].append("KILL")
    with make_ray_encoding(n_process=2)(encoder) as encode:
        found = list(encode(batches))
    assert encoder.marker.exists()
    for batch, vectors in zip(batches, found, strict=True):
        np.testing.assert_array_equal(vectors, encoder.encode(batch))


def test_settings_of_ray_need_ray(tmp_path, monkeypatch):
    def build(**options):
        build_index(ONTOLOGY, tmp_path / "index", overrides=NGRAMS, **options)

    with pytest.raises(ConnormError, match="CN733.*--ray-address"):
        build(ray_address="auto")
    with pytest.raises(ConnormError, match="CN733.*--n-process"):
        build(n_process=2)
    with pytest.raises(ConnormError, match="CN006.*n_process.*0"):
        build(engine="ray", n_process=0)
    with pytest.raises(ConnormError, match="CN118.*spark.*local, ray"):
        build(engine="spark")
    monkeypatch.setattr("spacy_connorm.errors.find_spec", lambda name: None)
    with pytest.raises(ConnormError, match=r"CN126.*\[ray\]"):
        build(engine="ray")
    assert not (tmp_path / "index").exists()

import gzip
import subprocess
import sys

import numpy as np
import pytest
from spacy import registry
from vector_files import WIDTH, WORDS, draw_vectors, write_fasttext, write_spacy, write_word2vec

from spacy_connorm.encoders import encoder_inputs, fingerprint, required_extra
from spacy_connorm.encoders.grounded import WordVectorEncoder
from spacy_connorm.errors import ConnormError

TEXTS = ["Heart attack", "cancer of the skin", "heart, unheard-of", "", "Zzz", "skin skin heart"]


def load(path, **settings):
    model = WordVectorEncoder(name=str(path), **settings)
    model.initialize()
    return model


@pytest.fixture(scope="module")
def model(word2vec):
    return load(word2vec)


def test_a_vector_is_the_mean_of_those_of_known_tokens(model):
    by_word = dict(zip(WORDS, draw_vectors(), strict=True))
    known = [
        ["heart", "attack"],
        ["cancer", "of", "the", "skin"],
        ["heart", "of"],
        [],
        [],
        ["skin", "skin", "heart"],
    ]
    vectors = model.predict(TEXTS)
    assert vectors.dtype == "float32" and vectors.shape == (len(TEXTS), WIDTH)
    for vector, tokens in zip(vectors, known, strict=True):
        expected = sum((by_word[token] for token in tokens), np.zeros(WIDTH)) / max(len(tokens), 1)
        np.testing.assert_allclose(vector, expected, atol=1e-6)


def test_every_format_gives_the_same_vectors(model, tmp_path):
    write_word2vec(tmp_path / "vectors.bin", binary=True)
    (tmp_path / "vectors.vec.gz").write_bytes(
        gzip.compress(b"6 6\n" + b"".join(_lines(draw_vectors())))
    )
    write_spacy(tmp_path / "pipeline")
    for name in ("vectors.bin", "vectors.vec.gz", "pipeline"):
        found = load(tmp_path / name)
        np.testing.assert_allclose(found.predict(TEXTS), model.predict(TEXTS), atol=1e-6)
        assert encoder_inputs(found, TEXTS) == encoder_inputs(model, TEXTS)


def _lines(vectors):
    for word, vector in zip(WORDS, vectors, strict=True):
        yield f"{word} {' '.join(map(repr, vector.tolist()))}\n".encode()


def test_fasttext_composes_words_that_it_has_not_seen(tmp_path):
    made = write_fasttext(tmp_path / "model.bin")
    model = load(tmp_path / "model.bin")
    for word in ("heart", "hearty", "ηψυ", "x", "😀"):
        found = model.predict([word])[0]
        np.testing.assert_allclose(found, made.wv[word], atol=1e-6)
    assert encoder_inputs(model, ["hearty heart"]) == [b"heart\nhearty"]


def test_inputs_are_the_known_tokens_in_any_order(model):
    one, other, third = encoder_inputs(model, ["skin cancer", "Cancer: SKIN zzz", "cancer"])
    assert one == other != third


def test_any_string_is_encoded(model, odd_text):
    assert np.isfinite(model.predict([odd_text, "heart"])).all()
    assert len(encoder_inputs(model, [odd_text])) == 1


def test_no_texts(model):
    assert model.predict([]).shape == (0, WIDTH)
    assert encoder_inputs(model, []) == []


def test_vectors_do_not_depend_on_batches(model, tmp_path):
    write_word2vec(tmp_path / "vectors.txt")
    other = load(tmp_path / "vectors.txt", batch_size=2)
    np.testing.assert_allclose(other.predict(TEXTS), model.predict(TEXTS), atol=1e-6)
    assert fingerprint(other) == fingerprint(model)


def test_a_file_is_read_once_while_it_is_in_use(tmp_path):
    path = tmp_path / "vectors.txt"
    write_word2vec(path)
    one, other = load(path), load(path)
    assert one.shims[0]._model is other.shims[0]._model
    path.write_text(path.read_text().replace("skin", "skins"))
    assert encoder_inputs(load(path), ["skin skins"]) == [b"skins"]
    assert encoder_inputs(one, ["skin skins"]) == [b"skin"]


@pytest.mark.parametrize("kind", ["word2vec", "fasttext"])
def test_saving_keeps_everything_and_needs_no_file(kind, tmp_path):
    {"word2vec": write_word2vec, "fasttext": write_fasttext}[kind](tmp_path / "vectors")
    model = load(tmp_path / "vectors")
    data = model.to_bytes()
    restored = WordVectorEncoder().from_bytes(data)
    assert fingerprint(restored) == fingerprint(model)
    assert np.array_equal(restored.predict(TEXTS), model.predict(TEXTS))
    assert restored.get_dim("nO") == WIDTH and restored.to_bytes() == data


def test_flipped_bytes_are_found(model):
    data = model.shims[0].to_bytes()
    for i in range(0, len(data), 7):
        damaged = data[:i] + bytes([data[i] ^ 0x10]) + data[i + 1 :]
        with pytest.raises(ConnormError, match="CN305"):
            WordVectorEncoder().shims[0].from_bytes(damaged)


@pytest.mark.parametrize(
    "content",
    [b"", b"heart\n", b"2 6\nheart 1 2 3\n", b"1 2\nheart one two\n", b"1 2\nheart nan 1\n"],
)
def test_files_without_vectors_are_refused(content, tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_bytes(content)
    with pytest.raises(ConnormError, match=r"CN341.*vectors\.txt"):
        load(path)


def test_a_truncated_model(tmp_path):
    write_fasttext(tmp_path / "model.bin")
    whole = (tmp_path / "model.bin").read_bytes()
    (tmp_path / "model.bin").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ConnormError, match="CN341"):
        load(tmp_path / "model.bin")


def test_nothing_of_this_name(tmp_path):
    for name in (tmp_path / "none.vec", tmp_path, "no_such_package"):
        with pytest.raises(ConnormError, match="CN341"):
            load(name)


def test_a_pipeline_without_vectors(tmp_path):
    import spacy

    spacy.blank("xx").to_disk(tmp_path)
    with pytest.raises(ConnormError, match="CN341.*no vectors"):
        load(tmp_path)
    write_spacy(tmp_path / "floret", floret=True)
    with pytest.raises(ConnormError, match="CN341.*floret"):
        load(tmp_path / "floret")


def test_a_name_is_needed():
    with pytest.raises(ConnormError, match="CN006.*name"):
        WordVectorEncoder().initialize()
    with pytest.raises(ConnormError, match="CN006.*batch_size"):
        WordVectorEncoder(batch_size=0)


def test_gensim_is_named_if_it_is_missing(tmp_path, monkeypatch):
    write_word2vec(tmp_path / "vectors.txt")
    monkeypatch.setattr("spacy_connorm.errors.find_spec", lambda name: None)
    with pytest.raises(ConnormError, match=r"CN126.*spacy-connorm\[vectors\]"):
        load(tmp_path / "vectors.txt")


def test_a_saved_encoder_needs_neither_gensim_nor_torch(tmp_path):
    write_fasttext(tmp_path / "model.bin")
    model = load(tmp_path / "model.bin")
    model.to_disk(tmp_path / "saved")
    code = f"""
import sys
sys.modules.update(dict.fromkeys(("torch", "transformers", "gensim", "smart_open")))
from spacy_connorm.encoders.grounded import WordVectorEncoder
print(WordVectorEncoder().from_disk({str(tmp_path / "saved")!r}).predict(["hearty"]).shape)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"(1, {WIDTH})\n"
    assert required_extra(model) == ""


def test_is_registered(tmp_path):
    write_word2vec(tmp_path / "vectors.txt")
    block = {
        "@architectures": "spacy-connorm.WordVectorEncoder.v1",
        "name": str(tmp_path / "vectors.txt"),
    }
    model = registry.resolve({"encoder": block})["encoder"]
    model.initialize()
    assert model.predict(["heart"]).shape == (1, WIDTH)

import numpy as np
import pytest

from spacy_connorm.encoders.dan.features import FeatureReader, hash_ngrams


@pytest.fixture(scope="module")
def tokenizer(tiny_tokenizer):
    return tiny_tokenizer.backend_tokenizer.to_str()


def make_reader(tokenizer, **settings):
    defaults = {"ngram_range": (3, 4), "buckets": 0}
    return FeatureReader(tokenizer, pieces=40, **{**defaults, **settings})


def rows(reader, texts):
    ids, bounds = reader.read(texts)
    return [row.tolist() for row in np.split(ids, bounds[1:-1])]


def reference_hash(ngram):
    mask = 2**64 - 1
    rolling = 0
    for character in ngram:
        rolling = (rolling * 0x9E3779B97F4A7C15 + ord(character) + 1) & mask
    mixed = (rolling ^ rolling >> 32) * 0xD6E8FEB86659FD93 & mask
    return mixed ^ mixed >> 32


def reference_ngrams(text, lengths):
    words = [f" {word} " for word in text.split()]
    return [
        word[i : i + length]
        for length in lengths
        for word in words
        for i in range(len(word) - length + 1)
        if word[i : i + length].strip()
    ]


@pytest.mark.parametrize("lengths", [range(3, 5), range(1, 4), range(2, 3), range(5, 7)])
def test_ngrams_are_those_inside_of_words(lengths):
    texts = ["heart attack", "", "a", " of  the\tskin ", "心 attack", "\0\0 \0"]
    owners, hashes = hash_ngrams(texts, lengths)
    for i, text in enumerate(texts):
        # The space between two words is one n-gram's end and the other's beginning.
        expected = sorted(map(reference_hash, reference_ngrams(text, lengths)))
        assert sorted(hashes[owners == i].tolist()) == expected


def test_accents_are_left_out_of_ngrams():
    owners, hashes = hash_ngrams(["Sjögren", "Sjogren", "Sjxgren"], range(3, 5))
    one, other, third = (set(hashes[owners == i].tolist()) for i in range(3))
    assert one == other != third


def test_ngrams_spread_over_buckets():
    texts = [f"{a}{b}{c}" for a in "abcdefgh" for b in "abcdefgh" for c in "abcdefgh"]
    _, hashes = hash_ngrams(texts, range(3, 4))
    buckets = np.bincount((np.unique(hashes) % np.uint64(64)).astype(int), minlength=64)
    # 640 different n-grams, so 10 are expected in a bucket.
    assert len(np.unique(hashes)) == 640
    assert buckets.min() >= 1 and buckets.max() <= 25


def test_word_pieces_are_those_of_the_tokenizer(tokenizer, tiny_tokenizer):
    texts = ["Heart attack", "headache of the skin", "", "cancer 心"]
    expected = tiny_tokenizer(texts, add_special_tokens=False)["input_ids"]
    unknown = tiny_tokenizer.unk_token_id
    assert any(unknown in row for row in expected)
    assert rows(make_reader(tokenizer), texts) == [
        sorted(each for each in row if each != unknown) for row in expected
    ]


def test_features_do_not_depend_on_the_batch(tokenizer):
    reader = make_reader(tokenizer, buckets=50)
    texts = ["heart attack", "", "headache", "heart attack", "attack heart"]
    together = rows(reader, texts)
    assert together == [rows(reader, [text])[0] for text in texts]
    assert together[0] == together[3] == together[4] != together[2]
    assert all(row == sorted(row) and max(row, default=0) < reader.size for row in together)


def test_case_and_length(tokenizer):
    long = "heart " * 100
    texts = ["HEART attack", "heart attack", f"{long}skin", long, "heart"]
    one, other, *cut, short = rows(make_reader(tokenizer, buckets=50), texts)
    assert one == other
    assert cut[0] == cut[1] != short


def test_no_texts(tokenizer):
    ids, bounds = make_reader(tokenizer, buckets=50).read([])
    assert len(ids) == 0 and bounds.tolist() == [0]

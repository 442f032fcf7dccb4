"""Word vectors of a few words, in the formats that others write."""

import numpy as np
from spacy.lang.xx import MultiLanguage
from spacy.vectors import Vectors

WORDS = ("heart", "attack", "skin", "cancer", "of", "the")
WIDTH = 6


def draw_vectors(seed=0) -> np.ndarray:
    """RETURNS (np.ndarray): Shape (words, 6), float32."""
    return np.random.default_rng(seed).standard_normal((len(WORDS), WIDTH)).astype("float32")


def write_word2vec(path, *, binary=False):
    """RETURNS (np.ndarray): The vectors that were written in word2vec's format."""
    from gensim.models import KeyedVectors

    made = KeyedVectors(WIDTH)
    made.add_vectors(list(WORDS), draw_vectors())
    made.save_word2vec_format(str(path), binary=binary)
    return draw_vectors()


def write_fasttext(path):
    """RETURNS (FastText): A model of these words and their n-grams, written to a file."""
    from gensim.models.fasttext import FastText, save_facebook_model

    made = FastText(
        [list(WORDS)] * 3, vector_size=WIDTH, min_count=1, bucket=50, min_n=2, max_n=4, seed=1
    )
    save_facebook_model(made, str(path))
    return made


def write_spacy(folder, *, floret=False):
    """RETURNS (Language): A pipeline with vectors, written to a folder."""
    nlp = MultiLanguage()
    if floret:
        data = np.random.default_rng(2).standard_normal((40, WIDTH)).astype("float32")
        nlp.vocab.vectors = Vectors(data=data, mode="floret", hash_count=2, minn=2, maxn=3)
    else:
        nlp.vocab.vectors = Vectors(data=draw_vectors(), keys=WORDS, strings=nlp.vocab.strings)
        for word in WORDS:
            nlp.vocab.strings.add(word)
    nlp.to_disk(folder)
    return nlp

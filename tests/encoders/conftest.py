"""A transformer of two tiny layers with random weights, so that few tests need real ones."""

import pytest

ODD_TEXTS = {
    "empty": "",
    "white space": " \t\n ",
    "NUL": "heart\0attack",
    "lone surrogate": "heart \ud800 attack",
    "surrogate pair": "heart \ud83d\ude00",
    "right to left": "التهاب الكبد \u202eשלום",
    "emoji": "😀🫀 attack",
    "long word": "x" * 10_000,
    "long text": "heart attack " * 800,
}

WORDS = ("heart", "attack", "head", "##ache", "skin", "cancer", "of", "the", "acute")


@pytest.fixture(params=ODD_TEXTS.values(), ids=list(ODD_TEXTS))
def odd_text(request):
    return request.param


@pytest.fixture(scope="session")
def tiny_tokenizer(tmp_path_factory):
    from transformers import BertTokenizerFast

    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *WORDS]
    vocabulary = tmp_path_factory.mktemp("tokenizer") / "vocab.txt"
    vocabulary.write_text("\n".join(tokens), encoding="utf8")
    return BertTokenizerFast(str(vocabulary))


@pytest.fixture(scope="session")
def save_tiny():
    """A function that saves random weights, with a head and without a pooler, and a tokenizer."""
    import torch
    from transformers import BertConfig, BertForMaskedLM

    def save(folder, tokenizer, *, seed=0):
        config = BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=40,
        )
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            model = BertForMaskedLM(config)
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return folder

    return save


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory, tiny_tokenizer, save_tiny):
    """The folder of a pretrained model."""
    return save_tiny(tmp_path_factory.mktemp("tiny"), tiny_tokenizer)


@pytest.fixture(scope="session")
def tiny(tiny_folder):
    """A loaded encoder. Tests do not change it."""
    from spacy_connorm.encoders.transformer import TransformerEncoder

    model = TransformerEncoder(name=str(tiny_folder))
    model.initialize()
    return model

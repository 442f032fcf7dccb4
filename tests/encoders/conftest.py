"""The tiny transformer of all tests, loaded."""

import pytest


@pytest.fixture(scope="session")
def tiny(tiny_folder):
    """A loaded encoder. Tests do not change it."""
    from spacy_connorm.encoders.transformer import TransformerEncoder

    model = TransformerEncoder(name=str(tiny_folder))
    model.initialize()
    return model


@pytest.fixture(scope="session")
def slow_folder(tmp_path_factory):
    """The folder of a transformer whose tokenizer, of characters, has no fast version."""
    from transformers import BertConfig, BertModel, CanineTokenizer

    folder = tmp_path_factory.mktemp("slow")
    sizes = {"hidden_size": 4, "num_attention_heads": 1, "intermediate_size": 4}
    # As many characters as tests need: all would take 18 MB.
    config = BertConfig(vocab_size=0x20000, num_hidden_layers=1, **sizes)
    BertModel(config).save_pretrained(folder)
    CanineTokenizer(model_max_length=40).save_pretrained(folder)
    return folder

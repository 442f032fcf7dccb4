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
def export():
    """A function that exports a folder, with settings of TransformerEncoder."""
    pytest.importorskip("onnxscript")
    from spacy_connorm.encoders.onnx_export import export_transformer
    from spacy_connorm.encoders.protocol import trainable
    from spacy_connorm.encoders.transformer import TransformerEncoder

    def write(source, folder, *, precision="int8", **settings):
        model = TransformerEncoder(name=str(source), **settings)
        model.initialize()
        export_transformer(trainable(model), precision=precision).save(folder)
        return folder

    return write


@pytest.fixture(scope="session")
def exported_tiny(tmp_path_factory, tiny_folder, export):
    """The folders of the tiny transformer in both precisions. Tests do not change them."""
    folder = tmp_path_factory.mktemp("exported")
    return {each: export(tiny_folder, folder / each, precision=each) for each in ("fp32", "int8")}

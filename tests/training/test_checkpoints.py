"""The folder of an interrupted training: from which checkpoint and with what it is continued."""

import shutil

import pytest
from spacy.tokens import DocBin
from thinc.api import Config

from spacy_connorm.errors import ConnormError
from spacy_connorm.training import train
from spacy_connorm.training.checkpoints import last_checkpoint, require_same_start, start_work

pytest.importorskip("torch")


def test_dev_data_of_another_content(tmp_path):
    files = [tmp_path / name for name in ("a.spacy", "b.spacy")]
    for file in files:
        file.write_text(file.name)
    config, dev = Config({"training": {"seed": 1}}), list(map(str, files))
    start_work(tmp_path / "work", config, dev)
    require_same_start(tmp_path / "work", config, dev)
    files[1].write_text("other")
    with pytest.raises(ConnormError, match="CN828.*dev corpus"):
        require_same_start(tmp_path / "work", config, dev)


@pytest.mark.filterwarnings("ignore:.*CNW810")
def test_a_resume_needs_the_dev_data_it_was_begun_with(
    training_config, training_settings, tmp_path
):
    dev = tmp_path / "dev.spacy"
    shutil.copy(training_settings["data.dev"][0], dev)
    # The trainer would refuse the rate, so nothing is trained.
    rate = {"training.arguments.learning_rate": -1}
    overrides = {**training_settings, **rate, "data.dev": [str(dev)]}
    for resume in (False, True):
        with pytest.raises(ConnormError, match="CN711"):
            train(training_config, tmp_path / "out", overrides=overrides, resume=resume)
    docs = DocBin().from_disk(dev)
    docs.merge(DocBin().from_disk(dev))
    docs.to_disk(dev)
    with pytest.raises(ConnormError, match="CN828"):
        train(training_config, tmp_path / "out", overrides=overrides, resume=True)


def test_the_last_whole_checkpoint_is_found(tmp_path):
    state = '{"global_step": 9}'
    states = {"checkpoint-9": state, "checkpoint-10": state, "checkpoint-11": ""}
    for name, state in states.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "trainer_state.json").write_text(state)
    (tmp_path / "checkpoint-x").mkdir()
    assert last_checkpoint(tmp_path) == tmp_path / "checkpoint-10"

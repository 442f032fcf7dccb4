"""Which checkpoint a run is resumed from."""

from spacy_connorm.training.checkpoints import last_checkpoint


def test_the_last_whole_checkpoint_is_found(tmp_path):
    for name, state in {"checkpoint-9": "{}", "checkpoint-10": "{}", "checkpoint-11": ""}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "trainer_state.json").write_text(state)
    (tmp_path / "checkpoint-x").mkdir()
    assert last_checkpoint(tmp_path) == tmp_path / "checkpoint-10"

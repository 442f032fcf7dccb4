def test_a_sound_pipeline(invoke, words, demo_index):
    result = invoke("check", demo_index)
    assert result.exit_code == 0, result.output
    assert "Nothing is missing and nothing has changed" in words(result)


def test_bad_input(invoke, refused, tmp_path):
    refused(invoke("check", "nowhere"), "CN700")
    refused(invoke("check", tmp_path), "CN436")

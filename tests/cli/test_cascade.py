import spacy

CALIBRATION = {"intercept": -70.0, "score": 100.0, "margin": 0.0}


def test_two_pipelines_are_joined(invoke, refused, make_pipeline, hashes, tmp_path):
    make_pipeline(calibration=CALIBRATION).to_disk(tmp_path / "fast")
    make_pipeline(calibration=CALIBRATION, **hashes).to_disk(tmp_path / "good")
    names = [tmp_path / name for name in ("fast", "good", "joined")]
    result = invoke("cascade", *names, "-p", "0.25")
    assert result.exit_code == 0, result.output
    settings = spacy.load(tmp_path / "joined").config["components"]["concept_normalizer"]
    assert settings["cascade"]["min_probability"] == 0.25
    found = invoke("search", tmp_path / "joined", "head spinning", "--explain")
    assert "The second encoder of the cascade answers" in found.output
    found = invoke("search", tmp_path / "joined", "MI", "--explain")
    assert "cascade" not in found.output
    make_pipeline().to_disk(tmp_path / "uncalibrated")
    refused(invoke("cascade", tmp_path / "uncalibrated", names[1], tmp_path / "out"), "CN011")
    refused(invoke("cascade", *names, "-p", "2"), "CN006")

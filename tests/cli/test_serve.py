def test_what_can_not_be_served(invoke, refused, demo_index, tmp_path):
    corrections = ("--corrections", tmp_path / "corrections.jsonl", "--port", "0")
    for arguments, code in (
        (("no_such_pipeline",), "CN700"),
        ((demo_index, "--component", "ner"), "CN704"),
        ((demo_index, "--host", "no.such.host.invalid"), "CN751"),
        ((demo_index, "--corrections", tmp_path), "CN105"),
    ):
        refused(invoke("serve", *arguments[:1], *corrections, *arguments[1:]), code)

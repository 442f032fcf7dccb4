"""What a tag needs, and what the index and others show of the package."""

import importlib.util
import re
from configparser import ConfigParser
from pathlib import Path

import pytest
import srsly

ROOT = Path(__file__).parent.parent
ADDRESS = "https://example.org/someone/spacy_connorm"
CHANGES = "# Changelog\n\n## 0.2.0 (2027-01-02)\n\n## 0.1.0 (unreleased)\n"


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def check():
    return load(ROOT / ".ci" / "check_release.py")


@pytest.fixture(scope="module")
def setup_script():
    return load(ROOT / "setup.py")


def test_a_release_with_all_it_needs_passes(check):
    assert list(check.find_missing("v0.2.0", "0.2.0", ADDRESS, CHANGES)) == []
    assert list(check.find_early_words({"README.md": "pip install spacy-connorm"})) == []


@pytest.mark.parametrize(
    ("tag", "version", "address", "named"),
    [
        ("v0.3.0", "0.2.0", ADDRESS, "tag"),
        ("v0.2.0", "0.2.0", "", "address"),
        ("v0.2.0", "0.2.0", f"{ADDRESS}/", "address"),
        ("v0.1.0", "0.1.0", ADDRESS, "unreleased"),
        ("v0.9.0", "0.9.0", ADDRESS, "section"),
    ],
)
def test_what_is_missing_is_named(check, tag, version, address, named):
    (missing,) = check.find_missing(tag, version, address, CHANGES)
    assert named in missing


def test_pages_that_deny_the_release_are_named(check):
    (line,) = check.find_early_words({"README.md": "It is not on PyPI yet.", "a.md": "It is."})
    assert line.startswith("README.md")


def test_what_is_missing_fails_the_command(check, tmp_path, capsys):
    (tmp_path / "spacy_connorm").mkdir()
    about = tmp_path / "spacy_connorm" / "about.py"
    about.write_text(f'__version__ = "0.2.0"\n__uri__ = "{ADDRESS}"\n')
    (tmp_path / "CHANGELOG.md").write_text(CHANGES)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "install.md").write_text("Install it.")
    (tmp_path / "README.md").write_text("Read it.")
    assert check.main("v0.2.0", tmp_path) == 0
    assert check.main("v0.2.1", tmp_path) == 1
    assert "v0.2.1" in capsys.readouterr().err


def test_links_of_the_description_are_absolute(setup_script):
    readme = "[a](docs/a.md#b) ![p](docs/p.png) [c](https://c.org/d) [e](#f)"
    described = setup_script.describe(readme, ADDRESS)
    assert described == (
        f"[a]({ADDRESS}/blob/main/docs/a.md#b) ![p]({ADDRESS}/raw/main/docs/p.png) "
        "[c](https://c.org/d) [e](#f)"
    )
    assert setup_script.describe(readme, "") == readme


def test_addresses_of_the_project_begin_with_the_repositorys(setup_script):
    assert all(url.startswith(ADDRESS) for url in setup_script.list_urls(ADDRESS).values())
    assert setup_script.list_urls("") == {}


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=str)
def test_actions_are_pinned_by_commit(path):
    uses = re.findall(r"uses: (\S+)", path.read_text(encoding="utf8"))
    assert uses and all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action) for action in uses)


def test_a_release_has_the_wheels_of_the_ready_pipelines():
    jobs = srsly.read_yaml(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    built = [step["run"] for step in jobs["models"]["steps"] if "run" in step]
    assert built[-2:] == [
        ".venv/bin/python -m spacy project run download_models",
        "make models DATA=assets/benchmark",
    ]
    assert "models" in jobs["assets"]["needs"]
    (release,) = (step["run"] for step in jobs["assets"]["steps"] if "run" in step)
    assert "models/*.whl" in release


def test_the_hosted_documentation_installs_extras_that_there_are():
    settings = srsly.read_yaml(ROOT / ".readthedocs.yaml")
    (install,) = settings["build"]["jobs"]["install"]
    parser = ConfigParser(interpolation=None)
    parser.read(ROOT / "setup.cfg", encoding="utf8")
    (extras,) = re.findall(r'"\.\[(.+?)\]"', install)
    # The reference imports the objectives.
    assert {"docs", "train"} <= set(extras.split(",")) <= set(parser["options.extras_require"])
    assert (ROOT / install.split()[-1]).exists()
    assert (ROOT / settings["sphinx"]["configuration"]).exists()


def test_what_the_image_copies_is_there():
    lines = (ROOT / "Dockerfile").read_text(encoding="utf8").splitlines()
    copied = [word for line in lines if line.startswith("COPY ") for word in line.split()[1:-1]]
    paths = [word for word in copied if not word.startswith(("--", "$"))]
    assert len(paths) >= 6 and all((ROOT / path).exists() for path in paths)


def test_the_entry_for_spacys_universe_has_code_that_compiles():
    entry = srsly.read_json(ROOT / ".github" / "universe.json")
    compile("\n".join(entry["code_example"]), "universe", "exec")
    assert entry["pip"] == "spacy-connorm" and entry["category"]


def test_the_citation_has_the_four_papers():
    citation = srsly.read_yaml(ROOT / "CITATION.cff")
    assert len({paper["doi"] for paper in citation["references"]}) == 4

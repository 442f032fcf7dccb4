"""Links and file names of the README and the docs lead somewhere."""

import re

import pytest

from .pages import PAGES, ROOT, anchors, name, text

LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_to_files_and_headings(page):
    for link in LINK.findall(text(page)):
        if link.startswith(("http://", "https://")):
            continue
        path, _, heading = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.is_file(), link
        assert not heading or heading in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_asset_that_is_named_is_there(page):
    named = set(re.findall(r"\bassets/[\w.-]+\w", text(page)))
    # Downloads, which `project.yml` puts there.
    missing = {each for each in named if not (ROOT / each).exists()} - {"assets/benchmark"}
    assert not missing

"""The page in a real browser: Chromium from the system's packages. `.ci/run` installs it; elsewhere
these tests are skipped without it."""

import os
import re
import shutil
from pathlib import Path

import httpx
import pytest
import spacy
import srsly
from starlette.applications import Starlette
from starlette.routing import Mount

from spacy_connorm import build_index, map_terms
from spacy_connorm.documents import read_sssom
from spacy_connorm.linker.synonym_changes import read_synonyms
from spacy_connorm.server import make_app
from spacy_connorm.workflows import convert_corrections

from .conftest import running

pytest.importorskip("playwright", reason="the page's tests need playwright")
pytest.importorskip("axe_playwright_python", reason="the page's tests need axe-playwright-python")

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect, sync_playwright

ROOT = Path(__file__).parents[2]
ASSETS, PICTURES = ROOT / "assets", ROOT / "docs" / "pictures"
BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "chrome",
    "msedge",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
NOTE = (
    "72-year-old woman with T2DM and raised blood pressure, seen for shortness of breath and "
    "swollen ankles. Known atrial fibrillation, on warfarin. No chest pain, no fever. Complains of "
    "head spinning since the morning, took paracetamol without effect. Her father had a heart "
    "attack."
)
OTHER_NOTE = "No head spinning today. Swollen ankles, and a funny turn."
VERTIGO, HYPERTENSION = "DEMO:0000066", "DEMO:0000009"
# Playwright's five seconds are too few on a busy machine.
expect.set_options(timeout=60_000)


@pytest.fixture(scope="module")
def browser():
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("no Chromium here: `apt-get install chromium`, as `.ci/run` does")
    # Chromium's own sandbox needs rights that containers lack.
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The demo's ontology behind a ruler."""
    folder = tmp_path_factory.mktemp("served")
    built = build_index(ASSETS / "demo_ontology.obo", folder / "index", config=ASSETS / "ngram.cfg")
    nlp = spacy.load(built.path)
    ruler = nlp.add_pipe("entity_ruler", first=True, config={"phrase_matcher_attr": "LOWER"})
    ruler.add_patterns(srsly.read_json(ASSETS / "demo_patterns.json"))
    nlp.to_disk(folder / "pipeline")
    return folder / "pipeline"


@pytest.fixture(scope="module")
def marking_folder(folder, tmp_path_factory):
    """The same with what a text says of its mentions."""
    nlp = spacy.load(folder)
    nlp.add_pipe("assertion_marker")
    path = tmp_path_factory.mktemp("marking") / "pipeline"
    nlp.to_disk(path)
    return path


@pytest.fixture
def address(folder, path):
    with running(make_app(folder, corrections=path)) as address:
        yield address


@pytest.fixture
def open_page(browser):
    """A function that opens an address in a browser of its own, and returns once its page has been
    filled: keys are lost in what is still hidden. Nothing may fail there, and nothing may be asked
    of other hosts.
    """
    contexts, wrong = [], []

    def tell(told):
        # The page itself shows what the server refuses.
        if told.type == "error" and "Failed to load resource" not in told.text:
            wrong.append(told.text)

    def visit(address: str, **settings) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **settings})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", tell)
        host = httpx.URL(address).netloc.decode()
        page.on("request", lambda asked: host in asked.url or wrong.append(asked.url))
        page.goto(address)
        expect(page.locator("main > :is(section, form, div):visible")).not_to_have_count(0)
        return page

    yield visit
    for context in contexts:
        context.close()
    assert wrong == []


def read(page, text):
    page.get_by_label("Text", exact=True).fill(text)
    page.get_by_role("button", name="Find concepts").click()


def mention(page, text):
    return page.locator(".mention").get_by_text(text, exact=True)


def require_accessible(page):
    """Check what WCAG 2.2 asks at level AA."""
    rules = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
    found = Axe().run(page, options=rules).response["violations"]
    assert [(row["id"], [node["html"] for node in row["nodes"]]) for row in found] == []


def picture(page, name):
    PICTURES.mkdir(exist_ok=True)
    page.screenshot(path=PICTURES / name)


def test_a_users_story(open_page, folder, path, tmp_path):
    with running(make_app(folder, corrections=path)) as address:
        page = open_page(address)
        expect(page.get_by_text("Nothing to read yet")).to_be_visible()
        page.get_by_label("Your name").fill("Ann")
        read(page, NOTE)
        expect(page.locator(".mention")).not_to_have_count(0)
        expect(page.get_by_role("heading", name="Concepts (")).to_be_visible()

        # Another candidate.
        mention(page, "swollen ankles").click()
        page.locator("#detail .candidate").nth(1).click()
        expect(page.get_by_text("Saved. It applies to all texts.")).to_be_visible()
        chosen = page.locator("#detail .candidate[aria-pressed=true] code").inner_text()

        # A mention that was missed, then the same in another text.
        page.get_by_label("Was a mention missed?").fill("raised blood pressure")
        page.get_by_role("button", name="Mark").click()
        expect(page.locator("#detail h2")).to_have_text("raised blood pressure")
        page.locator("#detail").get_by_label("Another concept").fill("hypertension")
        page.get_by_label("Other concepts").get_by_role("button", name=HYPERTENSION).click()
        expect(mention(page, "raised blood pressure")).to_be_visible()

        read(page, f"{OTHER_NOTE} Raised blood pressure.")
        expect(mention(page, "Raised blood pressure")).to_have_attribute(
            "aria-label", re.compile("hypertension")
        )
        mention(page, "Swollen ankles").click()
        pressed = page.locator("#detail .candidate[aria-pressed=true] code")
        expect(pressed).to_have_text(chosen)

        # Undo the first one.
        page.get_by_role("link", name="Corrections").click()
        expect(page.locator(".correction")).to_have_count(2)
        page.get_by_role("button", name="Undo: swollen ankles").click()
        expect(page.locator(".correction").nth(1)).to_contain_text("undone by Ann")
        page.get_by_role("link", name="Read").click()
        mention(page, "Swollen ankles").click()
        expect(pressed).not_to_have_text(chosen)

    # Export, and start again.
    convert_corrections(path, tmp_path / "d.tsv")
    assert [tuple(synonym) for synonym in read_synonyms(tmp_path / "d.tsv")] == [
        ("raised blood pressure", HYPERTENSION, 1)
    ]
    with running(make_app(folder, corrections=path)) as address:
        page = open_page(address)
        read(page, "Again raised blood pressure.")
        expect(mention(page, "raised blood pressure")).to_be_visible()
        page.get_by_role("link", name="Corrections").click()
        expect(page.locator(".correction").first).to_contain_text("hypertension")
        expect(page.locator(".correction").first).to_contain_text("Ann")


def test_it_works_below_a_path(open_page, folder, path):
    app = make_app(folder, corrections=path)
    with running(Starlette(routes=[Mount("/terms", app)])) as address:
        page = open_page(f"{address}/terms/")
        read(page, NOTE)
        mention(page, "fever").click()
        expect(page.locator("#detail .candidate")).not_to_have_count(0)
        page.get_by_role("link", name="API").click()
        expect(page.get_by_role("heading", name="POST /api/search")).to_be_visible()
        page.get_by_role("link", name="Page", exact=True).click()
        expect(page.get_by_text("Nothing to read yet")).to_be_visible()


def test_two_people_see_each_other(open_page, address):
    ann, bob = open_page(address), open_page(address)
    for page, name in ((ann, "Ann"), (bob, "Bob")):
        page.get_by_label("Your name").fill(name)
        read(page, NOTE)
    mention(ann, "fever").click()
    ann.get_by_role("button", name="None of these").click()
    expect(mention(bob, "fever")).to_have_attribute("aria-label", "fever: no concept")
    mention(bob, "warfarin").click()
    bob.get_by_role("button", name="None of these").click()
    expect(mention(ann, "warfarin")).to_have_attribute("aria-label", "warfarin: no concept")
    for page in (ann, bob):
        page.get_by_role("link", name="Corrections").click()
        expect(page.locator(".correction")).to_have_count(2)
        expect(page.get_by_text("Ann,")).to_be_visible()
        expect(page.get_by_text("Bob,")).to_be_visible()


def test_the_keyboard_is_enough(open_page, address):
    page = open_page(address)
    page.get_by_label("Text", exact=True).focus()
    page.keyboard.type(OTHER_NOTE)
    page.keyboard.press("Control+Enter")
    expect(mention(page, "head spinning")).to_be_visible()
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "head spinning":
            break
    page.keyboard.press("Enter")
    expect(page.locator("#detail")).to_be_focused()
    page.keyboard.press("0")
    expect(mention(page, "head spinning")).to_have_attribute(
        "aria-label", "head spinning: no concept"
    )
    page.keyboard.press("1")
    expect(mention(page, "head spinning")).not_to_have_attribute(
        "aria-label", "head spinning: no concept"
    )
    page.keyboard.press("Escape")
    expect(page.locator("#detail")).to_be_hidden()


def test_boundaries_move_by_words(open_page, address):
    page = open_page(address)
    read(page, "A 😀 head spinning badly.")
    mention(page, "head spinning").click()
    page.get_by_role("button", name="End: one word more").click()
    expect(page.locator("#detail h2")).to_have_text("head spinning badly")
    page.locator("#detail .candidate").first.click()
    expect(mention(page, "head spinning badly")).to_be_visible()
    read(page, "Again head spinning badly.")
    expect(mention(page, "head spinning badly")).to_be_visible()


def test_selected_words_become_a_mention(open_page, address):
    page = open_page(address)
    read(page, "😀 Had a funny turn.")
    expect(page.get_by_text("No mention found")).to_be_visible()
    page.evaluate(
        """() => {
            const text = document.getElementById("reading").firstChild;
            const at = text.data.indexOf("funny turn");
            getSelection().setBaseAndExtent(text, at, text, at + 10);
        }"""
    )
    page.locator("#reading").dispatch_event("mouseup")
    expect(page.locator("#detail h2")).to_have_text("funny turn")
    page.get_by_role("button", name="None of these").click()
    expect(mention(page, "funny turn")).to_be_visible()


def test_late_candidates_leave_what_is_being_typed(open_page, address):
    page = open_page(address)
    read(page, "He had raised blood pressure.")
    held, may_pass = [], []
    page.route("**/api/search", lambda route: route.continue_() if may_pass else held.append(route))
    page.get_by_label("Was a mention missed?").fill("raised blood pressure")
    page.get_by_role("button", name="Mark").click()
    typed = page.locator("#detail").get_by_label("Another concept")
    typed.press_sequentially("hyper")
    expect(page.locator("#detail")).to_contain_text("Searching…")
    may_pass.append(True)
    for route in held:
        route.continue_()
    expect(page.locator("#detail")).not_to_contain_text("Searching…")
    expect(page.get_by_label("Other concepts").get_by_role("button")).not_to_have_count(0)
    expect(typed).to_have_value("hyper")
    expect(typed).to_be_focused()


def test_search_as_you_type(open_page, address):
    page = open_page(f"{address}/#search")
    page.get_by_label("Phrase").press_sequentially("heart atack")
    results = page.get_by_label("Candidates").get_by_role("button")
    expect(results.first).to_contain_text("myocardial infarction")
    results.first.click()
    concept = page.get_by_label("The chosen concept")
    expect(concept).to_contain_text("Death of heart muscle")
    expect(concept).not_to_contain_text("[object")
    concept.get_by_role("button").first.click()  # a parent
    expect(concept.get_by_role("heading")).not_to_have_text("myocardial infarction")
    page.get_by_label("At or below").fill("nothing")
    expect(page.get_by_label("Candidates").get_by_text("'nothing'")).to_be_visible()
    require_accessible(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_annotations_looks_right_and_is_accessible(
    open_page, marking_folder, path, scheme
):
    with running(make_app(marking_folder, corrections=path)) as address:
        look_through(open_page(address, color_scheme=scheme), scheme)


def look_through(page, scheme):
    require_accessible(page)
    page.get_by_label("Your name").fill("Ann")
    read(page, NOTE)
    mention(page, "head spinning").click()
    page.get_by_text("Why this answer?").click()
    expect(page.get_by_text("Searched as")).to_be_visible()
    page.locator("summary", has_text="About").click()
    expect(page.locator("#detail dl")).to_be_visible()
    require_accessible(page)
    page.locator("#detail details").evaluate_all("all => all.forEach(each => each.open = false)")
    page.get_by_role("button", name="None of these").click()
    expect(page.get_by_text("Saved. It applies")).to_be_visible()
    require_accessible(page)
    page.get_by_role("link", name="Corrections").click()
    require_accessible(page)
    page.get_by_role("button", name="Undo: head spinning").click()
    expect(page.get_by_text("Undone.")).to_be_visible()
    page.get_by_role("link", name="Read").click()
    mention(page, "heart attack").click()
    page.locator("#toast").evaluate("toast => toast.replaceChildren()")
    if os.environ.get("SPACY_CONNORM_PICTURES"):
        picture(page, f"page-{scheme}.png")


def test_what_the_text_says_of_a_mention_stands_beside_it(open_page, marking_folder, path):
    with running(make_app(marking_folder, corrections=path)) as address:
        page = open_page(address)
        expect(page.locator("#pipeline")).to_contain_text("demo_ontology.obo")
        read(page, "No fever. Possible migraine. Her mother had asthma.")
        for text, mark in [
            ("fever", "absent"),
            ("migraine", "suspected"),
            ("asthma", "a relative's"),
        ]:
            expect(mention(page, text)).to_have_attribute("data-marks", mark)
            expect(mention(page, text)).to_have_accessible_name(re.compile(mark))
        require_accessible(page)


def test_a_phone_is_wide_enough(open_page, address):
    page = open_page(address, viewport={"width": 360, "height": 740}, has_touch=True)
    read(page, NOTE)
    mention(page, "head spinning").tap()
    expect(page.locator("#detail")).to_be_in_viewport()
    for view in ("Read", "Search", "Corrections"):
        page.get_by_role("link", name=view).tap()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
    require_accessible(page)


def test_files_are_stepped_through(open_page, address, tmp_path):
    page = open_page(address)
    notes = tmp_path / "notes.jsonl"
    notes.write_text('{"text": "No fever."}\n{"text": "On warfarin."}\n', encoding="utf8")
    page.locator("#file").set_input_files(notes)
    expect(mention(page, "fever")).to_be_visible()
    page.get_by_role("button", name="Next text").click()
    expect(mention(page, "warfarin")).to_be_visible()
    expect(page.get_by_text("2 of 2")).to_be_visible()
    known = '"mentions": [{"start": 2, "end": 6, "label": "X"}]'
    notes.write_text(f'{{"text": "A lost word.", {known}}}', encoding="utf8")
    page.locator("#file").set_input_files(notes)
    expect(mention(page, "lost")).to_be_visible()
    notes.write_text("{}", encoding="utf8")
    page.locator("#file").set_input_files(notes)
    expect(page.get_by_text("Line 1 of the file")).to_be_visible()


def test_markup_stays_text(open_page, evil_names, path):
    with running(make_app(evil_names, corrections=path)) as address:
        page = open_page(address)
        page.get_by_label("Your name").fill("<b>Ann</b>")
        read(page, "<script>alert(1)</script> A cold.")
        expect(page.get_by_text("<script>alert(1)</script>").last).to_be_visible()
        mention(page, "cold").click()
        page.locator("summary", has_text="About").click()
        expect(page.locator("#detail dl")).to_contain_text("<img src=x onerror=alert(1)>")
        page.get_by_role("button", name="None of these").click()
        page.get_by_role("link", name="Corrections").click()
        expect(page.get_by_text("<b>Ann</b>")).to_be_visible()
        assert page.locator("main img, main script, main b:has-text('Ann')").count() == 0


def test_a_token_is_asked_for(browser, folder, path):
    with running(make_app(folder, corrections=path, token="secret")) as address:
        context = browser.new_context()
        page = context.new_page()
        page.goto(address)
        page.get_by_label("Token").fill("secret")
        page.get_by_role("button", name="Continue").click()
        read(page, "No fever.")
        expect(mention(page, "fever")).to_be_visible()
        other = context.new_page()
        other.goto(f"{address}/#token=secret")
        expect(other.get_by_text("Nothing to read yet")).to_be_visible()
        assert "secret" not in other.url
        context.close()


def test_the_reference_is_a_page(open_page, address):
    page = open_page(f"{address}/api-reference")
    expect(page.get_by_role("heading", name="POST /api/annotate")).to_be_visible()
    expect(page.get_by_text("texts: [string | {text: string")).to_be_visible()
    require_accessible(page)


@pytest.fixture
def mapped(folder, tmp_path):
    """A table of terms, mapped to the demo's ontology, all but one to be reviewed."""
    table = tmp_path / "terms.csv"
    rows = (
        "1,heart attack,,90",
        "2,odd spell,felt an <b>odd spell</b>,50",
        "3,pressure over the top,,40",
        "4,heavy legs,,30",
    )
    table.write_text("code,term,context,count\n" + "\n".join(rows) + "\n", encoding="utf8")
    map_terms(folder, table, tmp_path / "out.sssom.tsv", accept=0.94, review=0)
    return tmp_path / "out.sssom.tsv"


def test_a_reviewers_story(open_page, folder, path, mapped):
    with running(make_app(folder, corrections=path, review=mapped)) as address:
        page = open_page(address)
        row, listed = page.locator("#review-row"), page.locator("#review-list button")
        expect(row.get_by_role("heading", name="odd spell")).to_be_visible()
        expect(row).to_contain_text("<b>odd spell</b>")
        expect(listed).to_have_count(3)
        page.get_by_label("Your name").fill("Ann")
        expect(page.locator("#review-summary")).to_contain_text("3 of 4 rows to be reviewed")

        # Keys alone: search and choose, undo, reject, accept the first candidate.
        row.focus()
        page.keyboard.press("/")
        page.keyboard.type("vertigo")
        other = page.get_by_label("Other concepts").get_by_role("button", name=VERTIGO)
        expect(other).to_contain_text("1.00")
        for _ in range(10):
            page.keyboard.press("Tab")
            if VERTIGO in page.evaluate("document.activeElement.textContent"):
                break
        page.keyboard.press("Enter")
        expect(page.get_by_text("Saved: odd spell")).to_be_visible()
        expect(row.get_by_role("heading", name="pressure over the top")).to_be_visible()
        assert read_sssom(mapped).mappings[1].object_id == VERTIGO
        expect(row).to_be_focused()
        page.keyboard.press("u")
        expect(page.get_by_text("Undone: odd spell")).to_be_visible()
        expect(listed).to_have_count(3)
        expect(row).to_be_focused()
        expect(row.get_by_role("heading", name="odd spell")).to_be_visible()
        page.keyboard.press("0")
        expect(row.get_by_role("heading", name="pressure over the top")).to_be_visible()
        expect(row).to_be_focused()
        page.keyboard.press("j")
        expect(row.get_by_role("heading", name="heavy legs")).to_be_visible()
        page.keyboard.press("b")
        expect(page.get_by_label("The term means")).to_have_value("skos:broadMatch")
        page.keyboard.press("1")
        expect(page.get_by_text("Saved: heavy legs")).to_be_visible()
        expect(page.locator("#review-summary")).to_contain_text("2 decided by people")

    # Killed and started again: another person goes on.
    with running(make_app(folder, corrections=path, review=mapped)) as address:
        page = open_page(f"{address}/#review")
        row = page.locator("#review-row")
        expect(row.get_by_role("heading", name="pressure over the top")).to_be_visible()
        row.get_by_label("Another concept").fill("hypertension")
        page.get_by_label("Other concepts").get_by_role("button", name=HYPERTENSION).click()
        expect(page.get_by_text("Nothing left to review")).to_be_visible()
        require_accessible(page)
        page.get_by_label("Show").select_option("decided")
        expect(page.locator("#review-list")).to_contain_text("Ann")
        # A decision is a synonym.
        page.get_by_role("link", name="Search").click()
        page.get_by_label("Phrase").fill("Pressure over the top")
        expect(page.get_by_label("Candidates").get_by_role("button").first).to_contain_text(
            HYPERTENSION
        )
    said = [(mapping.status, mapping.author_label) for mapping in read_sssom(mapped).mappings]
    assert said == [("accepted", ""), ("unmatched", "Ann"), ("accepted", ""), ("accepted", "Ann")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_review_looks_right(open_page, folder, path, mapped, scheme):
    with running(make_app(folder, corrections=path, review=mapped)) as address:
        page = open_page(address, color_scheme=scheme)
        expect(page.locator("#review-row .candidate")).not_to_have_count(0)
        page.get_by_text("Keys", exact=True).click()
        page.locator("#review-row summary").click()
        expect(page.locator("#review-row dl")).to_be_visible()
        require_accessible(page)
        page.set_viewport_size({"width": 360, "height": 740})
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        require_accessible(page)
        page.set_viewport_size({"width": 1280, "height": 900})
        page.get_by_text("Keys", exact=True).click()
        if os.environ.get("SPACY_CONNORM_PICTURES"):
            picture(page, f"review-{scheme}.png")

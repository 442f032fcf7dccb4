"""spacy-llm's entity linker chooses among our candidates, here with a function as its model."""

import re
from typing import Iterable  # noqa: UP035 (spacy-llm compares with this one)

import pytest
import spacy

from spacy_connorm import ConnormError

pytestmark = pytest.mark.apart
registry = pytest.importorskip("spacy_llm.registry").registry

SELECTOR = "spacy-connorm.CandidateSelector.v1"
PROMPTS = []


@registry.llm_models("tests.ByContext.v1")
def make_model():
    """Chooses the first candidate whose description has a word of the sentence; else NIL."""

    def answer(prompts: Iterable[Iterable[str]]) -> Iterable[Iterable[str]]:
        for batch in prompts:
            yield [_answer(prompt) for prompt in batch]

    return answer


def _answer(prompt):
    PROMPTS.append(prompt)
    _, text, rest = prompt.rsplit("'''", 2)
    words = set(re.findall(r"\w+", text.lower())) - {"a", "of", "cold"}
    chosen = []
    for mention, listed in re.findall(r"- For \*(.+?)\*:\n((?: .+\n?)+)", rest):
        options = re.findall(r" (\S+)\. (.+)", listed)
        fits = [each for each, said in options if words & set(re.findall(r"\w+", said.lower()))]
        chosen.append(f"*{mention}* ::: <{(fits or ['NIL'])[0]}>")
    return "REASONING: by words.\nSOLUTION:\n" + "\n".join(chosen)


@pytest.fixture
def index(make_pipeline, tmp_path):
    make_pipeline().to_disk(tmp_path / "index")
    return tmp_path / "index"


def make_linker(index, **settings):
    nlp = spacy.blank("xx")
    patterns = [{"label": "F", "pattern": text} for text in ("cold", "MI", "qqq")]
    ruler = nlp.add_pipe("entity_ruler")
    task = {"@llm_tasks": "spacy.EntityLinker.v1"}
    model = {"@llm_models": "tests.ByContext.v1"}
    nlp.add_pipe("llm", config={"task": task, "model": model, "save_io": False})
    nlp.config["initialize"]["components"]["llm"] = {
        "candidate_selector": {"@llm_misc": SELECTOR, "path": str(index), **settings}
    }
    nlp.initialize()
    ruler.add_patterns(patterns)
    return nlp


def test_the_model_chooses_by_context(index):
    nlp = make_linker(index)
    texts = ["a common cold", "a low temperature, so cold", "cold"]
    # spacy-llm 0.7.4 fails on batches of several documents.
    docs = nlp.pipe(texts, batch_size=1)
    assert [[ent.kb_id_ for ent in doc.ents] for doc in docs] == [["C3"], ["C4"], ["NIL"]]
    assert "heart attack; also called myocardial infarction, MI; a kind of heart disease" in str(
        [*map(str, nlp("MI of the heart").ents), PROMPTS[-1]]
    )


def test_a_mention_without_candidates_is_nil_and_not_asked_about(index):
    PROMPTS.clear()
    (ent,) = make_linker(index)("qqq").ents
    assert ent.kb_id_ == "NIL"
    assert not any("*qqq*" in prompt.rsplit("TEXT:", 1)[1] for prompt in PROMPTS)


def test_it_gives_no_more_candidates_than_wanted(index):
    make = registry.get("llm_misc", SELECTOR)
    (cold,) = make_linker(index)("cold").ents
    for top_k in (1, 2):
        selector = make(index, top_k=top_k)
        selector.initialize(cold.vocab)
        (found,) = selector([cold])
        assert [each.id for each in found] == ["C3", "C4"][:top_k]
        assert selector([]) == []


def test_wrong_use_is_told(index, tmp_path):
    make = registry.get("llm_misc", SELECTOR)
    with pytest.raises(ConnormError, match="CN006.*top_k"):
        make(index, top_k=0)
    with pytest.raises(ConnormError, match="CN001"):
        make(index)([])
    with pytest.raises(ConnormError, match="CN700"):
        make(tmp_path / "nothing").initialize(spacy.blank("xx").vocab)
    with pytest.raises(ConnormError, match="CN703|CN704"):
        make(index, component="other").initialize(spacy.blank("xx").vocab)

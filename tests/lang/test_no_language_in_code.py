"""Words of a language stand in its tables, not in code. Literals outside `lang/` may have words by
chance ("left" is a column, too), but not many. What users read is not meant: docstrings, errors,
and the help of commands.
"""

import ast
import re
from dataclasses import fields
from pathlib import Path

import pytest
from spacy.lang.en.stop_words import STOP_WORDS

import spacy_connorm
from spacy_connorm.lang import load_language

PACKAGE = Path(spacy_connorm.__file__).parent
# The maximum number of English words in a literal, and of those of one table.
MOST = 5
MOST_OF_TABLE = 2
# Longer texts are sentences.
LONGEST_ITEM = 3


def english():
    """RETURNS (Tuple[Set[str], List[FrozenSet[str]]]): The words of English, and of each class."""
    language = load_language("en")
    classes = [
        getattr(words, field.name)
        for words in (language.words, language.finder, language.short_forms)
        for field in fields(words)
    ]
    texts = {text for words in classes for text in words}
    texts |= {text for row in language.meanings for text in (row.word, *row.stands_for)}
    classes += [getattr(language.assertions, field.name) for field in fields(language.assertions)]
    texts |= {text for row in language.plurals for text in (row.plural, row.singular)}
    return {word for text in texts | STOP_WORDS for word in words_in(text)}, classes


def words_in(text):
    """RETURNS (List[str]): Letters alone are not words, nor are parts of names with underscores."""
    return re.findall(r"\b[a-z]{2,}\b", text.lower())


ENGLISH, CLASSES = english()


def word_lists(tree):
    """YIELDS (List[str]): The texts of each list, set, tuple and dictionary, those of each text
    that is split, and the alternatives of each pattern.
    """
    split = {
        ast.unparse(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in ("split", "splitlines")
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.List | ast.Set | ast.Tuple):
            yield [text for item in node.elts for text in texts_of(item)]
        elif isinstance(node, ast.Dict):
            yield [text for item in (*node.keys, *node.values) for text in texts_of(item)]
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in split:
            yield [word for text in texts_of(node.value) for word in text.split()]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".split"):
            yield [word for text in texts_of(node.func.value) for word in text.split()]
        elif isinstance(node, ast.Constant | ast.JoinedStr):
            pattern = "".join(texts_of(node))
            yield alternatives(pattern) if "\n" not in pattern else []


def texts_of(node):
    """RETURNS (List[str]): The text of a literal, in parts if it is formatted."""
    if isinstance(node, ast.JoinedStr):
        return [text for part in node.values for text in texts_of(part)]
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return [node.value] if is_text else []


def alternatives(pattern):
    """RETURNS (List[str]): The words next to a bar."""
    return re.findall(r"(?<=\|)[A-Za-z]{2,}|\b[A-Za-z]{2,}(?=\|)", pattern)


def is_language(texts):
    """RETURNS (bool): Whether texts have many English words, or are all in one class of a table."""
    short = {text.lower() for text in texts if len(text.split()) <= LONGEST_ITEM}
    words = {word for text in short for word in words_in(text)}
    of_table = len(short) > MOST_OF_TABLE and any(short <= table for table in CLASSES)
    return len(words & ENGLISH) > MOST or of_table


def has_language(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return any(is_language(texts) for texts in word_lists(tree))


def test_no_language_is_in_code():
    paths = [
        path.relative_to(PACKAGE)
        for path in PACKAGE.rglob("*.py")
        if path.relative_to(PACKAGE).parts[0] not in ("lang", "cli", "errors.py")
    ]
    assert not {path.as_posix() for path in paths if has_language(PACKAGE / path)}


@pytest.mark.parametrize(
    "code",
    [
        "CUES = ['no', 'not', 'never', 'without', 'none', 'nor']",
        "CUES = frozenset(('no fever', 'not now', 'never seen', 'without a rash'))",
        "CUES = {'no': 1, 'not': 1, 'never': 1, 'without': 2, 'none': 3, 'nor': 4}",
        "CUES = 'no not never without none nor'.split()",
        "CUES = '''\nno not never\nwithout none nor\n'''\nNAMES = CUES.splitlines()",
        "CUES = re.compile(r'\\b(?:no|not|never|without|none|nor)\\b')",
        "CUES = f'(?:no|not|never){SPACE}(?:without|none|nor)'",
        "SIDES = {'left', 'right', 'l'}",
    ],
)
def test_lists_of_words_are_noticed(tmp_path, code):
    (tmp_path / "code.py").write_text(code)
    assert has_language(tmp_path / "code.py")


@pytest.mark.parametrize(
    "code",
    [
        "'''It is not about words, but all of them are here, and they are never wrong.'''",
        "COLUMNS = ('id', 'name', 'left', 'right', 'score', 'text')",
        "raise ValueError('There is no such thing as this or that, so it was left out.')",
        "OPTIONS = {'first': 'The first one of all that are still there.', 'last': ''}",
    ],
)
def test_sentences_and_columns_are_not_lists_of_words(tmp_path, code):
    (tmp_path / "code.py").write_text(code)
    assert not has_language(tmp_path / "code.py")

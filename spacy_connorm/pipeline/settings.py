"""The settings of components, each declared once, with its type, limits, default and meaning.

A component's settings are the fields of a `ComponentSettings`. From them come the parameters of its
factory (`with_settings`) and their defaults, the checks of values set in a config, in Python or in
a saved pipeline (CN006), and the table in docs/settings.md, which a test compares. spaCy imports
this module whenever it creates a pipeline, so it must stay light.
"""

from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter, signature
from math import isfinite
from numbers import Integral, Real
from typing import Annotated, Any, Literal, Self, TypeVar, get_type_hints

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictStr,
    ValidationError,
)

from ..errors import Errors, refuse

Function = TypeVar("Function", bound=Callable[..., Any])


def only_if(is_right: Callable[[Any], bool]) -> AfterValidator:
    """Refuse values that do not satisfy a condition.

    RETURNS (AfterValidator): Raises a `ValueError` if the function returns false.
    """
    return AfterValidator(lambda value: _require(is_right(value), value))


def _require(is_right: bool, value: Any) -> Any:
    if not is_right:
        raise ValueError
    return value


def _whole_number(value: Any) -> int:
    return int(_require(isinstance(value, Integral) and not isinstance(value, bool), value))


def _number(value: Any) -> float:
    is_number = isinstance(value, Real) and not isinstance(value, bool) and isfinite(value)
    return float(_require(is_number, value))


def _list(value: Any) -> list[Any]:
    # A string would become a list of its letters.
    return list(_require(isinstance(value, Iterable) and not isinstance(value, str), value))


# The types of settings, with the descriptions that CN006 shows. In Python, true and false are
# integers; here they are not.
Flag = Annotated[StrictBool, Field(description="true or false")]
Texts = Annotated[list[StrictStr], BeforeValidator(_list), Field(description="a list of texts")]
Number = Annotated[float, BeforeValidator(_number)]
Share = Annotated[Number, Field(ge=0, le=1, description="a number from 0 to 1")]
WholeNumber = Annotated[int, BeforeValidator(_whole_number)]
Count = Annotated[WholeNumber, Field(ge=0, description="a whole number, at least 0")]
Positive = Annotated[WholeNumber, Field(ge=1, description="a whole number, at least 1")]


class ComponentSettings(BaseModel):
    """The settings of a component, one per field."""

    # Pydantic builds its validators only when they are first needed, to keep imports fast.
    model_config = ConfigDict(extra="forbid", defer_build=True)

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Get the defaults of all settings.

        RETURNS (Dict[str, Any]): Values by name, as JSON.
        """
        return {name: field.get_default() for name, field in cls.model_fields.items()}

    @classmethod
    def checked(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Check settings, and add the defaults of missing ones.

        values (Mapping[str, Any]): Values by name.
        RETURNS (Dict[str, Any]): All settings, as JSON.
        RAISES (ConnormError): CN006 for the first value that is invalid, or an unknown name.
        """
        try:
            return cls(**values).model_dump()
        except ValidationError as error:
            first = error.errors()[0]
        name = str(first["loc"][0])
        if name not in cls.model_fields:
            refuse("settings", name, f"one of {', '.join(cls.model_fields)}")
        refuse(name, values[name], _expected(cls.model_json_schema()["properties"][name]))


class Settings(dict[str, Any]):
    """The settings of a component, its `cfg`. They are checked when they are set."""

    def __init__(
        self, declared: type[ComponentSettings], values: Mapping[str, Any] | None = None
    ) -> None:
        """Check settings, and add the defaults of missing ones.

        declared (Type[ComponentSettings]): The settings that exist.
        values (Optional[Mapping[str, Any]]): Values by name.
        RAISES (ConnormError): The errors of `ComponentSettings.checked`.
        """
        super().__init__(declared.checked(values or {}))
        self._declared = declared

    def __reduce__(self) -> tuple:
        return Settings, (self._declared, dict(self))

    def changed(self, values: Mapping[str, Any]) -> "Settings":
        """Copy the settings and change some of them.

        RETURNS (Settings): The changed copy.
        RAISES (ConnormError): The errors of `ComponentSettings.checked`.
        """
        return Settings(self._declared, {**self, **values})

    def chosen(self) -> dict[str, Any]:
        """List the settings that are not as by default.

        RETURNS (Dict[str, Any]): Values by name.
        """
        defaults = self._declared.defaults()
        return {name: value for name, value in self.items() if value != defaults[name]}

    def update(self, values: Mapping[str, Any]) -> None:  # type: ignore[override]
        """Set settings, all of them or none.

        values (Mapping[str, Any]): Values by name.
        RAISES (ConnormError): CN011 for a setting that cannot change any more, and the errors of
            `ComponentSettings.checked`.
        """
        changed = self.changed(values)
        for name, field in self._declared.model_fields.items():
            if field.frozen and changed[name] != self[name]:
                raise Errors.CN011(setting=name)
        super().update(changed)

    def __setitem__(self, name: str, value: Any) -> None:
        self.update({name: value})

    def __ior__(self, values: Mapping[str, Any]) -> Self:  # type: ignore[override,misc]
        self.update(values)
        return self


def _expected(schema: Mapping[str, Any]) -> str:
    """Describe the values of a setting.

    schema (Mapping[str, Any]): Its JSON schema.
    RETURNS (str): What a value must be, for CN006.
    """
    if "anyOf" in schema:
        return ", or ".join(map(_expected, schema["anyOf"]))
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    return schema.get("description", schema["type"])


def with_settings(settings: type[ComponentSettings]) -> Callable[[Function], Function]:
    """Declare settings as the parameters of a factory, so that spaCy checks configs.

    settings (Type[ComponentSettings]): The settings.
    RETURNS (Callable): A decorator that replaces the factory's `**settings` by a parameter for each
        setting.
    """

    def declare(factory: Function) -> Function:
        own = signature(factory)
        types = get_type_hints(settings)
        kept = (one for one in own.parameters.values() if one.kind is not Parameter.VAR_KEYWORD)
        declared = (
            Parameter(name, Parameter.KEYWORD_ONLY, annotation=types[name])
            for name in settings.model_fields
        )
        parameters = [*kept, *declared]
        factory.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        return factory

    return declare


def _is_template(template: str) -> bool:
    # displaCy uses `str.format`, where other braces mean something else.
    try:
        return template.format("C1") != template
    except (ValueError, IndexError, KeyError):
        return False


_CALIBRATION = ("intercept", "score", "margin", "shared", "name", "extra", "lacking", "ceiling")
Calibrated = Annotated[
    dict[str, Number],
    only_if(lambda numbers: {*_CALIBRATION[:3]} <= numbers.keys() <= {*_CALIBRATION}),
    only_if(lambda numbers: 0 < numbers.get("ceiling", 1) <= 1),
    Field(description=f"finite numbers named {', '.join(_CALIBRATION)}, the last one at most 1"),
]
AttributePrefix = Annotated[
    StrictStr,
    only_if(lambda prefix: not prefix or prefix.isidentifier()),
    # It cannot change once the pipeline is built (CN011).
    Field(description="the beginning of a Python name, e.g. 'mesh_'", frozen=True),
]
OwnPrefixes = Annotated[
    dict[StrictStr, StrictStr],
    only_if(lambda prefixes: all([*prefixes, *prefixes.values()])),
    Field(description='texts by prefix, e.g. {"MSH2019": "MESH"}'),
]
Template = Annotated[
    StrictStr, only_if(_is_template), Field(description="a link with {} in the place of the id")
]
SpansKey = Annotated[StrictStr, Field(description="a key of `doc.spans`")]


class NormalizerSettings(ComponentSettings):
    """The settings that are saved with a concept normalizer; docs/settings.md has them.

    spans_key (Optional[str]): Normalize `doc.spans[spans_key]`; `doc.ents` if null.
    labels (Optional[List[str]]): Only spans with these labels.
    attribute_prefix (str): Put before `candidates`, `kb_id` and `kb_ents`; a normalizer with a
        prefix leaves `kb_id_` to the one without.
    top_k (int): The maximum number of candidates for a span; for a composite, for each part.
    nil_threshold (Optional[float]): A span whose best candidate is less probable than this is
        `NIL`; null: never.
    calibration (Optional[Dict[str, float]]): What `connorm evaluate --calibrate` fitted:
        `intercept`, `score`, `margin`, `shared`, `name`, `extra`, `lacking`, `ceiling`; null:
        what was fitted to the names of the index.
    compare_words (bool): Also compare the words of names and mentions: scores rise for names
        that say the same in other words or forms ("lungs": lung), and fall for names with more
        words or contrary ones ("type 2" for "type 1").
    read_initials (bool): Also read short forms that no document defines as the initials of
        names, if words are compared.
    split_composites (bool): Also search for the parts of composite mentions.
    types (List[str]): Find only concepts of these semantic types.
    branches (List[str]): Find only these concepts and everything below them.
    excluded_branches (List[str]): Do not find these concepts, nor those that are only below
        them.
    code_systems (List[str]): Add the codes of candidates in these vocabularies, such as
        `ICD10CM`.
    prefixes (Dict[str, str]): Your own prefixes for ids in the input, each with another prefix
        of the same vocabulary (`MESH`), or the URL that its ids begin with.
    kb_url_template (Optional[str]): A link with `{}` for the id.
    cache_size (int): The number of answers to keep in memory while the pipeline runs; 0: none.
    """

    spans_key: SpansKey | None = None
    labels: Texts | None = None
    attribute_prefix: AttributePrefix = ""
    top_k: Positive = 10
    nil_threshold: Share | None = 0.1
    calibration: Calibrated | None = None
    compare_words: Flag = True
    read_initials: Flag = True
    split_composites: Flag = True
    types: Texts = []
    branches: Texts = []
    excluded_branches: Texts = []
    code_systems: Texts = []
    prefixes: OwnPrefixes = {}
    kb_url_template: Template | None = None
    cache_size: Count = 10_000


# spaCy silently drops entities without a label.
Label = Annotated[StrictStr, only_if(bool), Field(description="a text that is not empty")]
LabelsByType = Annotated[
    dict[StrictStr, StrictStr],
    only_if(lambda labels: all(labels.values())),
    Field(description="labels by semantic type, none of them empty"),
]


ComponentName = Annotated[StrictStr, Field(description="the name of a component")]


class FinderSettings(ComponentSettings):
    """The settings that are saved with a mention finder; docs/settings.md has them.

    spans_key (Optional[str]): Write to `doc.spans[spans_key]`; to `doc.ents` if null.
    normalizer (Optional[str]): The component whose names are found; null: the first normalizer
        of the pipeline.
    derivations (bool): Whether an adjective matches the noun in a name: "retinal" for "retina".
    min_certainty (float): How reliably the ontology's own synonyms must show that a word can
        replace one in a name: "cutaneous" for "skin"; 1: never replace words.
    min_paraphrase (float): How probable it must be that other words mean a concept, "stairs are a
        struggle" for "difficulty climbing stairs", or a single word of its names, to find them; 1:
        find none. They are found in indexes of 200 to 3,000 names, with the target `OD`.
    inexact_names (bool): Whether to find all narrow, broad and related synonyms, not only those
        of three words or more that no other concept has.
    coordinations (bool): Whether "breast and ovarian cancer" is one mention of two names.
    target (str): Which names are found: `O`, the ontology's, `D`, those of annotated documents
        and added synonyms, or `OD`.
    nested_mentions (bool): Whether to write all mentions, including those inside longer ones,
        to `doc.spans["mentions_all"]`, where the normalizer links them, too.
    label (str): The label of mentions without a semantic type.
    labels (Optional[Dict[str, str]]): Labels by semantic type; null: the type itself.
    short_letters (int): Abbreviations of up to this many letters and digits must be written
        exactly like a name, and defined in longer texts (`undefined_short_forms`).
    undefined_short_forms (bool): Whether a longer text may use a short form ("GSH") of up to
        `short_letters` that it does not define, without words of its long form.
    stop_texts (Optional[List[str]]): Texts that are never mentions; null: general words of the
        language, such as "disease".
    match_capitals (bool): Whether names with a capital are found only with it: "Cancer" is a
        genus of crabs.
    """

    spans_key: SpansKey | None = None
    normalizer: ComponentName | None = None
    derivations: Flag = True
    min_certainty: Share = 0.85
    min_paraphrase: Share = 0.5
    inexact_names: Flag = False
    coordinations: Flag = True
    target: Literal["O", "D", "OD"] = "OD"
    nested_mentions: Flag = False
    label: Label = "MENTION"
    labels: LabelsByType | None = None
    short_letters: Count = 5
    undefined_short_forms: Flag = False
    stop_texts: Texts | None = None
    match_capitals: Flag = False


LongForms = Annotated[
    dict[StrictStr, StrictStr],
    only_if(lambda table: all([*table, *table.values()])),
    Field(description="long forms by short form, none of them empty"),
]


Meanings = Annotated[dict[StrictStr, list[StrictStr]], Field(description="lists of long forms")]


class ResolverSettings(ComponentSettings):
    """The settings that are saved with an abbreviation resolver; docs/settings.md has them.

    short_forms (Dict[str, str]): Long forms by short form, for short forms that a document does
        not define.
    findings (Optional[List[str]]): The short forms of `short_forms` that are findings, so that
        those of `meanings` beside them are, too: "HTN, HLD", but not "CBC, CMP"; all if null.
    meanings (Dict[str, List[str]]): Lists of long forms by short form, for short forms that are
        expanded only where a finding would stand: "no VT", "mild TR", "HTN, HLD"; of several
        long forms, the one that has most words in common with the document is taken.
    own_names (List[str]): The short forms of `short_forms` that are themselves names in the
        ontology, and are read as these in a document where one stands where a finding would:
        "has FAD".
    """

    short_forms: LongForms = {}
    findings: Texts | None = None
    meanings: Meanings = {}
    own_names: Texts = []


# The kinds of terms in negspacy's form, with the direction and scope that they have as cues.
TERMS = {
    "pseudo_negations": ("pseudo", ""),
    "preceding_negations": ("forward", "statement"),
    "following_negations": ("backward", "statement"),
    "termination": ("end", ""),
}
_KINDS = ", ".join(TERMS)
OwnTerms = Annotated[
    dict[Literal["negated", "possible", "family", "history"], dict[StrictStr, list[StrictStr]]],
    only_if(lambda terms: all(kinds.keys() == TERMS.keys() for kinds in terms.values())),
    Field(description=f"by negated, possible, family and history: lists of texts named {_KINDS}"),
]


class AssertionSettings(ComponentSettings):
    """The settings that are saved with an assertion marker; docs/settings.md has them.

    spans_key (Optional[str]): Mark `doc.spans[spans_key]`; `doc.ents` if null.
    terms (Dict[str, Dict[str, List[str]]]): Your own terms for `negated`, `possible`, `family`
        or `history`, in the form of negspacy's `neg_termset`, in place of the built-in ones.
    """

    spans_key: SpansKey | None = None
    terms: OwnTerms = {}

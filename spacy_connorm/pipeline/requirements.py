"""The pip requirements of a pipeline's package."""

from spacy.language import Language
from spacy.util import get_minor_version_range

from ..about import __version__


def require_extra(nlp: Language, extra: str) -> None:
    """Add an extra of spacy-connorm to the requirements of a pipeline's package. `spacy package`
    finds the plugin by itself, but not its extras.

    nlp (Language): The pipeline.
    extra (str): The extra; nothing is added if it is empty.
    """
    needed = f"spacy-connorm[{extra}]{get_minor_version_range(__version__)}"
    requirements = nlp.meta.setdefault("requirements", [])
    if extra and needed not in requirements:
        requirements.append(needed)

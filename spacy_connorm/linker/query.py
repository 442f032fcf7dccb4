"""What a call asks for."""

from typing import NamedTuple

from ..errors import Errors
from ..index.filter import Filter
from .calibration import Calibration
from .codes import CodeSystems
from .rescoring import Rescorer
from .sieve import Sieve


class Query(NamedTuple):
    """How to search for mentions: everything that a call may change.

    sieve (Sieve): The searches.
    top_k (int): The maximum number of candidates for each text.
    filter (Filter): Which concepts may be found.
    rescorers (Tuple[Rescorer, ...]): What changes scores after each search, such as
        `COMPARE_WORDS`.
    split_composites (bool): Whether to interpret coordinated mentions as their parts, too.
    read_initials (bool): Whether to interpret short forms as the initials of names, too.
    calibration (Optional[Calibration]): If given, candidates get probabilities.
    nil_threshold (Optional[float]): The probability below which a mention is NIL; None for never.
        Of several interpretations, one that is not NIL answers.
    codes (Optional[CodeSystems]): If given, candidates get codes in these vocabularies.
    cache_size (int): The maximum number of answers to keep for later calls; 0 for none.
    """

    sieve: Sieve
    top_k: int
    filter: Filter = Filter()
    rescorers: tuple[Rescorer, ...] = ()
    split_composites: bool = True
    read_initials: bool = False
    calibration: Calibration | None = None
    nil_threshold: float | None = None
    codes: CodeSystems | None = None
    cache_size: int = 0

    def alone(self, search: str) -> "Query":
        """Use a single search instead of the sieve.

        RETURNS (Query): The changed query.
        """
        return self._replace(sieve=Sieve((search,), ()))

    def refuse_comparisons(self, metric: str) -> None:
        """Refuse settings that compare a score with a fixed number or another text's score: an
        inner product has no upper limit, and grows with the length of the mention's vector.

        metric (str): The metric of the index, which is not "cosine".
        RAISES (ConnormError): CN421 with everything that must be changed, if there is anything.
        """
        # They raise or lower scores by a share of the largest cosine, 1.
        changes = ["`compare_words = false`"] if self.rescorers else []
        if self.split_composites:
            changes.append("`split_composites = false`")
        if len(self.sieve.searches) > 1:
            changes.append(
                f'a sieve of one search (`searches = ["{self.sieve.searches[-1]}"]`, '
                "`thresholds = []`)"
            )
        if changes:
            raise Errors.CN421(metric=metric, settings=", ".join(changes))

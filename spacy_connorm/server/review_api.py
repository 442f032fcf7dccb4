"""The addresses of a review, with FastAPI. Import it inside functions: it is heavy and an extra."""

from typing import Annotated, Any

from fastapi import FastAPI, Query

from .declared_problems import declare_api
from .mapping_review import FILTERS, MappingReview
from .schemas import DecisionBody, TakeBackBody, storable

_FILTER = f"^({'|'.join(FILTERS)})$"


def add_review(api: FastAPI, review: MappingReview) -> None:
    """Add the addresses of a review.

    api (FastAPI): The application.
    review (MappingReview): Answers.
    """

    @api.get("/api/review", tags=["review"], responses=declare_api())
    def overview() -> dict[str, Any]:
        """Tell what is decided and what is left. `revision` grows with each change."""
        return review.overview()

    @api.get("/api/review/rows", tags=["review"], responses=declare_api())
    def rows(
        status: Annotated[str, Query(pattern=_FILTER)] = "review",
        offset: Annotated[int, Query(ge=0)] = 0,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
    ) -> dict[str, Any]:
        """List rows, the most frequent terms first."""
        return review.rows(status, offset=offset, limit=limit)

    @api.get("/api/review/rows/{row}", tags=["review"], responses=declare_api(404))
    def row_now(row: int) -> dict[str, Any]:
        """Get a row as it is now."""
        return review.row(row)

    @api.post(
        "/api/review/rows/{row}", tags=["review"], status_code=201, responses=declare_api(404, 409)
    )
    def decide(row: int, body: DecisionBody) -> dict[str, Any]:
        """Say what a term means: a concept, or "NIL". It is on the disk when this answers."""
        author = storable(body.author).strip()
        decided = review.decide(row, **{**body.model_dump(), "author": author})
        return {"row": decided, **review.overview()}

    @api.post(
        "/api/review/rows/{row}/undo",
        tags=["review"],
        status_code=201,
        responses=declare_api(404, 409),
    )
    def undo(row: int, body: TakeBackBody) -> dict[str, Any]:
        """Take a decision back. That is on the disk when this answers."""
        author = storable(body.author).strip()
        return {"row": review.undo(row, version=body.version, author=author), **review.overview()}

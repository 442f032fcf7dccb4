"""The API, built with FastAPI. Import this module inside functions: FastAPI is heavy and
optional.
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from starlette.exceptions import HTTPException

from ..about import __version__
from ..errors import ConnormError, Errors
from ..workflows.corrected_pipeline import CorrectedPipeline
from .limits import RequestLimits
from .paths import CONCEPTS, DESCRIPTION, FILES, HEALTH, PAGE
from .problems import PROBLEMS, make_refusal
from .review import FILTERS, MappingReview
from .schemas import (
    AnnotateBody,
    CorrectionBody,
    DecisionBody,
    ExplainBody,
    SearchBody,
    TakeBackBody,
    TextBody,
    UndoBody,
    view_candidates,
    view_concept,
    view_corrections,
    view_explanation,
)


def build_api(
    pipeline: CorrectedPipeline, limits: RequestLimits, *, review: MappingReview | None = None
) -> FastAPI:
    """Create the application, without its guards.

    pipeline (CorrectedPipeline): The pipeline to serve.
    limits (RequestLimits): Limits of texts and batches.
    review (Optional[MappingReview]): Mappings to review.
    RETURNS (FastAPI): The application.
    """
    limits = replace(limits, text=min(limits.text, pipeline.nlp.max_length))
    api = FastAPI(
        title="spacy_connorm",
        version=__version__,
        description="Concept normalization with one pipeline and the corrections made to it.",
        docs_url=None,  # FastAPI's own pages load scripts from other hosts
        redoc_url=None,
        openapi_url=DESCRIPTION,
        responses=PROBLEMS,
    )
    _add_problems(api)
    for route, name in FILES.items():
        api.add_api_route(route, _sender(PAGE / name), include_in_schema=False)
    _add_answers(api, pipeline, limits, review)
    _add_corrections(api, pipeline, limits)
    if review is not None:
        add_review(api, review)
    return api


def _add_problems(api: FastAPI) -> None:
    @api.exception_handler(ConnormError)
    async def refuse(request: Request, error: ConnormError) -> JSONResponse:
        return make_refusal(error)

    @api.exception_handler(RequestValidationError)
    async def refuse_invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        # Never `input`, which may contain a user's text.
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part != "body") or "the body"
        return make_refusal(Errors.CN764(place=place, reason=first["msg"]))

    @api.exception_handler(HTTPException)
    async def refuse_unknown(request: Request, error: HTTPException) -> JSONResponse:
        if error.status_code in (404, 405):
            return make_refusal(Errors.CN766(), status=error.status_code)
        unread = Errors.CN764(place="the body", reason="it can't be read")
        return make_refusal(unread, status=error.status_code)

    @api.exception_handler(Exception)
    async def fail(request: Request, error: Exception) -> JSONResponse:
        # Starlette raises the error again; the guards log it.
        return make_refusal(Errors.CN765())


def _sender(path: Path) -> Any:
    async def send() -> FileResponse:
        return FileResponse(path)

    return send


def _add_answers(
    api: FastAPI, pipeline: CorrectedPipeline, limits: RequestLimits, review: MappingReview | None
) -> None:
    @api.get(HEALTH, tags=["about"])
    async def health() -> dict[str, Any]:
        """Report that the server is running."""
        return {"status": "ok", "version": __version__}

    @api.get("/api/info", tags=["about"])
    def info() -> dict[str, Any]:
        """Describe the pipeline and the limits of requests."""
        cfg = pipeline.normalizer.cfg
        meta = pipeline.nlp.meta
        source = pipeline.normalizer.lookup.index.manifest["ontology"]
        return {
            "pipeline": f"{meta.get('lang', '')}_{meta.get('name', '')}",
            "ontology": source.get("path", ""),
            "release": source.get("release", ""),
            "components": pipeline.nlp.pipe_names,
            "labels": pipeline.labels,
            "types": pipeline.normalizer.lookup.index.store.types(),
            "concepts": len(pipeline.normalizer.lookup.index.store),
            "nil_threshold": cfg["nil_threshold"],
            "calibrated": pipeline.normalizer.calibration is not None,
            "searches": list(map(str, pipeline.normalizer.lookup.sieve.searches)),
            "top_k": cfg["top_k"],
            "limits": {name: getattr(limits, name) for name in ("body", "text", "batch")},
            "revision": pipeline.revision,
            "review": None if review is None else review.name,
        }

    @api.post("/api/annotate", tags=["answers"])
    def annotate(body: AnnotateBody) -> dict[str, Any]:
        """Annotate texts: one record per text, as written by `connorm annotate`."""
        limits.require_batch(len(body.texts))
        texts = [text if isinstance(text, str) else text.text for text in body.texts]
        mentions = [_boundaries(text) for text in body.texts]
        limits.require_texts(texts, pipeline.nlp.tokenizer)
        revision = pipeline.revision
        return {"records": pipeline.annotate(texts, mentions), "revision": revision}

    @api.post("/api/search", tags=["answers"])
    def search(body: SearchBody) -> dict[str, Any]:
        """Find the candidates of mentions. `kb_id` is the id that the pipeline would write."""
        limits.require_batch(len(body.mentions))
        limits.require_texts(body.mentions, pipeline.nlp.tokenizer)
        answers = pipeline.search(**body.model_dump(exclude_none=True))
        return {
            "results": [
                {"mention": mention, "kb_id": kb_id, "candidates": view_candidates(candidates)}
                for mention, (kb_id, candidates) in zip(body.mentions, answers, strict=True)
            ]
        }

    @api.post("/api/explain", tags=["answers"])
    def explain(body: ExplainBody) -> dict[str, Any]:
        """Explain how a mention is interpreted, and what each search of the sieve finds for it."""
        limits.require_texts([body.mention, body.text], pipeline.nlp.tokenizer)
        return view_explanation(pipeline.explain(**body.model_dump()))

    @api.get(CONCEPTS + "{concept_id:path}", tags=["answers"])
    def concept(concept_id: str) -> dict[str, Any]:
        """Get a concept by its id or an alternate id."""
        return view_concept(pipeline, concept_id)


def _add_corrections(api: FastAPI, pipeline: CorrectedPipeline, limits: RequestLimits) -> None:
    @api.get("/api/corrections", tags=["corrections"])
    def corrections(
        since: Annotated[int, Query(ge=-1)] = -1, limit: Annotated[int, Query(ge=1, le=1000)] = 200
    ) -> dict[str, Any]:
        """List corrections, the last one first. `revision` grows with each change; if you pass the
        last `revision` as `since`, `corrections` is null if nothing has changed.
        """
        pipeline.refresh()
        revision = pipeline.revision
        listed = None if since == revision else view_corrections(pipeline, limit=limit)
        return {"revision": revision, "total": len(pipeline.effective), "corrections": listed}

    @api.post("/api/corrections", tags=["corrections"], status_code=201)
    def correct(body: CorrectionBody) -> dict[str, Any]:
        """Correct the concept of a mention. The correction is on disk when this answers."""
        limits.require_texts([body.text], pipeline.nlp.tokenizer)
        correction = pipeline.correct(**body.model_dump())
        told = {name: getattr(correction, name) for name in ("id", "start", "end", "kb_id")}
        return {**told, "revision": pipeline.revision}

    @api.post("/api/corrections/{correction_id}/undo", tags=["corrections"], status_code=201)
    def undo(correction_id: str, body: UndoBody) -> dict[str, Any]:
        """Undo a correction. This is on disk when the server answers."""
        record = pipeline.undo(correction_id, author=body.author)
        return {"id": record.id, "undoes": record.undoes, "revision": pipeline.revision}


def _boundaries(text: str | TextBody) -> list[tuple[int, int, str]] | None:
    if isinstance(text, str) or text.mentions is None:
        return None
    return [(mention.start, mention.end, mention.label) for mention in text.mentions]


_FILTER = f"^({'|'.join(FILTERS)})$"


def add_review(api: FastAPI, review: MappingReview) -> None:
    """Add the addresses for a review.

    api (FastAPI): The application.
    review (MappingReview): The mappings to review.
    """

    @api.get("/api/review", tags=["review"])
    def overview() -> dict[str, Any]:
        """Summarize what is decided and what is left. `revision` grows with each change."""
        return review.overview()

    @api.get("/api/review/rows", tags=["review"])
    def rows(
        status: Annotated[str, Query(pattern=_FILTER)] = "review",
        offset: Annotated[int, Query(ge=0)] = 0,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
    ) -> dict[str, Any]:
        """List rows, the most frequent terms first."""
        return review.rows(status, offset=offset, limit=limit)

    @api.get("/api/review/rows/{row}", tags=["review"])
    def row_now(row: int) -> dict[str, Any]:
        """Get the current content of a row."""
        return review.row(row)

    @api.post("/api/review/rows/{row}", tags=["review"], status_code=201)
    def decide(row: int, body: DecisionBody) -> dict[str, Any]:
        """Decide what a term means: a concept, or "NIL". The decision is on disk when this
        answers.
        """
        return {"row": review.decide(row, **body.model_dump()), **review.overview()}

    @api.post("/api/review/rows/{row}/undo", tags=["review"], status_code=201)
    def undo(row: int, body: TakeBackBody) -> dict[str, Any]:
        """Undo a decision. This is on disk when the server answers."""
        return {"row": review.undo(row, **body.model_dump()), **review.overview()}

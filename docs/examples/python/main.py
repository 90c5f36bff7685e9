"""A service of the same family with FastAPI. `GET /pantry` tells whose token it got, `DELETE` wants two factors of just now."""

import os
import pathlib
from contextlib import asynccontextmanager
from typing import Annotated, Any

import uvicorn
from fastapi import Depends, FastAPI, Request
from fastapi.responses import JSONResponse
from verifier import InvalidToken, StepUpRequired, Unavailable, Verifier


@asynccontextmanager
async def lifespan(app: FastAPI):
    path = pathlib.Path(os.environ["CREDENTIAL_FILE"])
    app.state.verifier = Verifier(
        issuer=os.environ["ISSUER"],
        audience=os.environ["AUDIENCE"],
        credential=path.read_text,
        reached_at=os.environ.get("REACHED_AT"),
    )
    yield
    app.state.verifier.close()


app = FastAPI(lifespan=lifespan)


class Caller:
    """The claims of the token. It is no `async def`: FastAPI runs it in a thread, where a fetch of keys may wait."""

    def __init__(self, max_age: int | None = None, acr: str | None = None) -> None:
        self._requirements = {"max_age": max_age, "acr": acr}

    def __call__(self, request: Request) -> dict[str, Any]:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            raise InvalidToken
        return request.app.state.verifier.verify(token, **self._requirements)


@app.exception_handler(InvalidToken)
async def refuse(_: Request, error: InvalidToken) -> JSONResponse:
    body = {"error_code": error.code, "message": "The access token is not accepted.", "details": {}}
    return JSONResponse(body, 401, {"WWW-Authenticate": 'Bearer error="invalid_token"'})


@app.exception_handler(StepUpRequired)
async def step_up(_: Request, error: StepUpRequired) -> JSONResponse:
    body = {"error_code": str(error), "message": "Please confirm that it is you.", "details": error.details}
    return JSONResponse(body, 401, {"WWW-Authenticate": error.challenge})


@app.exception_handler(Unavailable)
async def wait(_: Request, __: Unavailable) -> JSONResponse:
    body = {"error_code": "ERR-DEPENDENCY-UNAVAILABLE", "message": "Try again later.", "details": {}}
    return JSONResponse(body, 503, {"Retry-After": "2"})


@app.get("/pantry")
def pantry(claims: Annotated[dict[str, Any], Depends(Caller())]) -> dict[str, str]:
    return {"user_id": claims["user_id"], "home_group_id": claims["home_group_id"]}


@app.delete("/pantry")
def clear(claims: Annotated[dict[str, Any], Depends(Caller(max_age=300, acr="2"))]) -> dict[str, str]:
    return {"user_id": claims["user_id"]}


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]), log_level="warning")

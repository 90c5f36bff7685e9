"""Verifies access tokens of the authentication and account service, and refuses revoked ones within a second."""

import base64
import secrets
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

import httpx
import jwt

LEEWAY = 5
"""Seconds by which clocks may differ."""
POLL = 0.25
"""Seconds between two questions about revocations."""
PRESENT = 1.0
"""Seconds for which the copy counts as present."""
KEYS_FRESH = 300.0
KEYS_STALE = 3_600.0
KEYS_GAP = 1.0
"""Seconds between two questions to the issuer: tokens with unknown keys must not become requests to it."""
LONGEST_TOKEN = 4_096
LONGEST_LIFE = 86_400
"""Seconds that a token lives at most, whatever the issuer says."""
FOREVER = 2**63
LEVELS = ("1", "2")
"""Values of `acr`, from one factor to two."""


class InvalidToken(Exception):
    """Answer with 401 and `IAD_JWT_ACCESS_INVALID` or `IAD_JWT_ACCESS_EXPIRED`."""

    def __init__(self, code: str = "IAD_JWT_ACCESS_INVALID") -> None:
        super().__init__(code)
        self.code = code


class StepUpRequired(Exception):
    """The token is good, but its proof is too old or too weak: answer with 401, `ERR-STEP-UP-REQUIRED` and `challenge`."""

    def __init__(self, max_age: int | None, acr: str | None) -> None:
        super().__init__("ERR-STEP-UP-REQUIRED")
        asked = {"max_age": max_age, "acr_values": acr}
        self.details = {name: value for name, value in asked.items() if value is not None}
        parameters = "".join(f', {name}="{value}"' for name, value in self.details.items())
        self.challenge = f'Bearer error="insufficient_user_authentication"{parameters}'


class Unavailable(Exception):
    """Nobody knows: answer with 503 and `ERR-DEPENDENCY-UNAVAILABLE`."""


class Issuer:
    """The metadata and the keys, which are asked for again when they are old or a key is unknown."""

    def __init__(self, issuer: str, address: str, client: httpx.Client) -> None:
        self._issuer, self._address, self._client = issuer, address, client
        self._lock = threading.Lock()
        self._asked = self._known = float("-inf")
        self._keys: dict[str, jwt.PyJWK] = {}
        self.longest_life = LONGEST_LIFE

    def key(self, kid: str) -> jwt.PyJWK | None:
        age = time.monotonic() - self._known
        if age > KEYS_FRESH or kid not in self._keys:
            self._ask()
        if time.monotonic() - self._known > KEYS_FRESH + KEYS_STALE:
            raise Unavailable("the issuer does not answer")
        return self._keys.get(kid)

    def _ask(self) -> None:
        # One thread asks; the others go on with the keys that are known.
        if not self._lock.acquire(blocking=not self._keys):
            return
        try:
            now = time.monotonic()
            if now - self._asked < KEYS_GAP:
                return
            try:
                metadata = self._fetch("/.well-known/openid-configuration")
                if metadata["issuer"] != self._issuer:
                    raise ValueError("the metadata are of another issuer")
                life = metadata["access_token_max_lifetime_seconds"]
                if type(life) is not int or not 1 <= life <= LONGEST_LIFE:
                    raise ValueError("the longest life of a token is out of bounds")
                path = metadata["jwks_uri"].removeprefix(self._issuer.rstrip("/"))
                keys = {key.key_id: key for key in jwt.PyJWKSet.from_dict(self._fetch(path)).keys}
                if any(key.algorithm_name not in ("ES256", "EdDSA") for key in keys.values()):
                    raise ValueError("a key is of another kind")
            except (httpx.HTTPError, jwt.PyJWTError, AttributeError, KeyError, TypeError, ValueError):
                return  # The last keys are used for a while.
            finally:
                # After the answer: whoever waited for it does not ask once more.
                self._asked = time.monotonic()
            self._keys, self._known, self.longest_life = keys, now, life
        finally:
            self._lock.release()

    def _fetch(self, path: str) -> dict[str, Any]:
        answer = self._client.get(self._address + path)
        answer.raise_for_status()
        return answer.json()


class Feed:
    """A copy of what is denied, which a thread keeps up to date."""

    def __init__(self, issuer: str, address: str, credential: Callable[[], str], keys: Issuer, grace: float) -> None:
        self._issuer, self._address, self._credential, self._keys = issuer, address, credential, keys
        self._grace = grace
        self._client = httpx.Client(timeout=3, follow_redirects=False)
        self._below: dict[str, int] = {}
        self._old: dict[str, int] = {}
        self._since = time.monotonic()
        self._cursor = ""
        self._complete: float | None = None
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def is_denied(self, session: str, version: int) -> bool:
        if self._complete is None or time.monotonic() - self._complete > PRESENT + self._grace:
            raise Unavailable("it is not known which tokens are revoked")
        return version < max(self._below.get(session, 0), self._old.get(session, 0))

    def close(self) -> None:
        self._closed.set()
        self._thread.join()
        self._client.close()

    def _run(self) -> None:
        failures = 0
        while not self._closed.is_set():
            try:
                more = True
                while more:
                    asked = time.monotonic()
                    more = self._ask()
                self._complete = asked
                failures = 0
            except Exception:  # The copy ages, and the grace decides. Log it.
                failures += 1
            self._forget()
            self._closed.wait(POLL * min(2**failures, 8))

    def _ask(self) -> bool:
        """Asks once; returns True if there is more to read at once."""
        nonce = base64.urlsafe_b64encode(secrets.token_bytes(16)).rstrip(b"=").decode()
        credential = self._credential().strip()
        question = {"nonce": nonce} | ({"cursor": self._cursor} if self._cursor else {})
        headers = {"Authorization": f"Bearer {credential}", "X-Request-ID": str(uuid.uuid4())}
        answer = self._client.post(f"{self._address}/api/v1/revocations", json=question, headers=headers)
        if answer.status_code != 200:
            raise Unavailable(f"the feed answered {answer.status_code}")
        statement = answer.json()["data"]["statement"]
        claims = _decode(
            statement,
            self._keys,
            typ="revocations+jwt",
            issuer=self._issuer,
            audience=f"revocations:{credential.split('.')[0]}",
            required=["iss", "aud", "nonce", "since", "cursor", "more", "revoked", "below"],
        )
        if claims["nonce"] != nonce or claims["since"] != self._cursor:
            raise InvalidToken
        if claims["more"] and claims["cursor"] == self._cursor:
            raise InvalidToken
        for session in claims["revoked"]:
            self._below[session] = FOREVER
        for session, version in claims["below"].items():
            self._below[session] = max(version, self._below.get(session, 0))
        self._cursor = claims["cursor"]
        return bool(claims["more"])

    def _forget(self) -> None:
        """Forgets a denial when no token of before can be good: once to twice as late as needed."""
        if time.monotonic() - self._since > self._keys.longest_life + 70:
            self._old, self._below, self._since = self._below, {}, time.monotonic()


class Verifier:
    def __init__(
        self,
        issuer: str,
        audience: str,
        credential: Callable[[], str],
        reached_at: str | None = None,
        grace: float = 10,
    ) -> None:
        address = (reached_at or issuer).rstrip("/")
        self._issuer, self._audience = issuer, audience
        self._client = httpx.Client(timeout=2, follow_redirects=False)
        self._keys = Issuer(issuer, address, self._client)
        self._feed = Feed(issuer, address, credential, self._keys, grace)

    def verify(self, token: str, max_age: int | None = None, acr: str | None = None) -> dict[str, Any]:
        """Returns the claims. Raises `InvalidToken` or `Unavailable`.

        Raises `StepUpRequired` if the user's last proof is older than `max_age` seconds, or below the level `acr`.
        """
        if len(token) > LONGEST_TOKEN:
            raise InvalidToken
        claims = _decode(
            token,
            self._keys,
            typ="at+jwt",
            issuer=self._issuer,
            audience=self._audience,
            required=["iss", "aud", "exp", "iat", "sub", "sid", "ver", "user_id", "home_group_id", "account_type"],
        )
        if claims["exp"] - claims["iat"] > self._keys.longest_life + LEEWAY or type(claims["ver"]) is not int:
            raise InvalidToken
        if self._feed.is_denied(claims["sid"], claims["ver"]):
            raise InvalidToken
        if _is_old(claims, max_age) or _is_low(claims, acr):
            raise StepUpRequired(max_age, acr)
        return claims

    def close(self) -> None:
        self._feed.close()
        self._client.close()


def _is_old(claims: dict[str, Any], max_age: int | None) -> bool:
    at = claims.get("auth_time")
    return max_age is not None and (type(at) is not int or at + max_age <= int(time.time()) - LEEWAY)


def _is_low(claims: dict[str, Any], acr: str | None) -> bool:
    proved = claims.get("acr", "1")
    return acr is not None and (proved not in LEVELS or LEVELS.index(proved) < LEVELS.index(acr))


def _decode(text: str, keys: Issuer, *, typ: str, issuer: str, audience: str, required: list[str]) -> dict[str, Any]:
    """PyJWT checks no `typ`, and accepts a list of audiences unless it is told not to."""
    try:
        header = jwt.get_unverified_header(text)
        if header.get("typ") != typ or not isinstance(header.get("kid"), str):
            raise InvalidToken
        key = keys.key(header["kid"])
        if key is None:
            raise InvalidToken
        return jwt.decode(
            text,
            key,
            algorithms=[key.algorithm_name],  # The token does not choose.
            issuer=issuer,
            audience=audience,
            leeway=LEEWAY,
            # `iat` of a statement is for people: its nonce says how fresh it is.
            options={"require": required, "strict_aud": True, "verify_iat": "exp" in required},
        )
    except jwt.ExpiredSignatureError as error:
        raise InvalidToken("IAD_JWT_ACCESS_EXPIRED") from error
    except jwt.PyJWTError as error:
        raise InvalidToken from error

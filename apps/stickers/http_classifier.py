"""A classifier behind HTTP, with the contract of OmniZap's CLIP service.

The sticker goes as `multipart/form-data` (`file`, `asset_id`, `asset_sha256`, `nsfw_threshold`);
the answer is JSON with the fields of `sticker_asset_classification`. Nothing of an answer is
trusted: neither its length nor its time nor its fields.
"""

import json
import time
from dataclasses import dataclass

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError
from urllib3.util import Retry

from apps.stickers.classifier import Classification
from apps.stickers.classifier_answers import read_answer
from apps.stickers.errors import (
    BadClassifierAnswer,
    ClassifierMisconfigured,
    ClassifierUnavailable,
    StickerNotClassifiable,
)

MAX_ANSWER_BYTES = 1_000_000
CHUNK_BYTES = 16_384
BUSY = frozenset({429, 502, 503, 504})
UNREADABLE = frozenset({400, 413, 415, 422})
# What image libraries say of a damaged file, whatever the status of the answer.
DECODER_MESSAGES = ("cannot identify image", "image file is truncated", "broken data stream")
BACKOFF_SECONDS, MAX_BACKOFF_SECONDS = 0.2, 5.0


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """Where the service is and how long we are patient with it."""

    url: str
    token: str = ""
    version: str = "v1"
    timeout_seconds: float = 3.0
    attempts: int = 3
    concurrency: int = 4
    nsfw_threshold: float = 0.0


class HttpClassifier:
    """Asks the service; safe to be used by several threads."""

    tells_words = True

    def __init__(self, options: HttpOptions) -> None:
        self.version = options.version
        self.concurrency = options.concurrency
        self._options = options
        self._session = _session(options)

    def classify(self, data: bytes, *, asset_id: str = "", sha256: str = "") -> Classification:
        """See `Classifier.classify`."""
        form = {"asset_id": asset_id, "asset_sha256": sha256}
        if self._options.nsfw_threshold:
            form["nsfw_threshold"] = str(self._options.nsfw_threshold)
        file = (f"{sha256 or 'sticker'}.webp", data, "image/webp")
        deadline = time.monotonic() + self._options.timeout_seconds * self._options.attempts
        try:
            with self._session.post(
                self._options.url,
                data=form,
                files={"file": file},
                timeout=self._options.timeout_seconds,
                allow_redirects=False,
                stream=True,
            ) as answer:
                body = _bounded_body(answer, deadline=deadline)
        except (requests.RequestException, HTTPError) as error:
            raise ClassifierUnavailable(type(error).__name__) from error
        _check_status(answer.status_code, body)
        return read_answer(_decoded(body), version=self.version, sha256=sha256)


def _session(options: HttpOptions) -> requests.Session:
    retry = Retry(
        total=options.attempts - 1,
        allowed_methods={"POST"},
        status_forcelist=BUSY,
        backoff_factor=BACKOFF_SECONDS,
        backoff_max=MAX_BACKOFF_SECONDS,
        backoff_jitter=BACKOFF_SECONDS / 2,
        retry_after_max=int(MAX_BACKOFF_SECONDS),
        redirect=0,
        raise_on_status=False,
    )
    session = requests.Session()
    adapter = HTTPAdapter(max_retries=retry, pool_maxsize=options.concurrency)
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    if options.token:
        session.headers["Authorization"] = f"Bearer {options.token}"
    return session


def _bounded_body(answer: requests.Response, *, deadline: float) -> bytes:
    """The answer's bytes, unless they are too many or drip for too long."""
    body = b""
    # Whatever has arrived: `iter_content` would wait for a whole chunk of an answer that drips.
    while chunk := answer.raw.read1(CHUNK_BYTES, decode_content=True):
        body += chunk
        if len(body) > MAX_ANSWER_BYTES:
            raise BadClassifierAnswer("the answer", f"is longer than {MAX_ANSWER_BYTES:,} bytes")
        if time.monotonic() > deadline:
            raise ClassifierUnavailable("its answer takes too long")
    return body


def _check_status(status: int, body: bytes) -> None:
    if status == requests.codes.ok:
        return
    words = body[:2000].decode(errors="replace").lower()
    if any(message in words for message in DECODER_MESSAGES):
        raise StickerNotClassifiable("decoder-error", f"the service answers {status}")
    if status in UNREADABLE:
        raise StickerNotClassifiable("non-retryable-error", f"the service answers {status}")
    if status in BUSY or status >= requests.codes.internal_server_error:
        raise ClassifierUnavailable(f"it answers {status}")
    raise ClassifierMisconfigured(status)


def _decoded(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadClassifierAnswer("the answer", "is no JSON") from error

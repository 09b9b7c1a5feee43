"""The S3-compatible object storage: the one module that talks to it.

The AWS client takes half a second and tens of MiB to load, so it is loaded when first used. Signing
an address needs no network.
"""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from django.conf import settings

from apps.stickers import errors
from apps.stickers.images import WEBP_MIMETYPE

T = TypeVar("T")

YEAR_SECONDS = 31_536_000
PUBLIC_CACHING = f"public, max-age={YEAR_SECONDS}, immutable"
NOT_FOUND_CODES = frozenset({"404", "NoSuchKey", "NotFound"})


def is_configured() -> bool:
    """Whether there is a bucket at all."""
    return bool(settings.OBJECT_STORAGE_BUCKET)


def put(key: str, data: bytes) -> None:
    """Store a sticker. Raises ObjectStorageUnavailable."""
    _asked(
        lambda client, bucket: client.put_object(
            Bucket=bucket,
            Key=key,
            Body=data,
            ContentType=WEBP_MIMETYPE,
            CacheControl=PUBLIC_CACHING,
        )
    )


def get(key: str) -> bytes:
    """Read a sticker. Raises ObjectMissing, ObjectStorageUnavailable."""
    return _asked(
        lambda client, bucket: bytes(client.get_object(Bucket=bucket, Key=key)["Body"].read()),
        key=key,
    )


def size_of(key: str) -> int:
    """How large the stored object is. Raises ObjectMissing, ObjectStorageUnavailable."""
    return _asked(
        lambda client, bucket: int(client.head_object(Bucket=bucket, Key=key)["ContentLength"]),
        key=key,
    )


def delete(key: str) -> None:
    """Remove a sticker; harmless to repeat. Raises ObjectStorageUnavailable."""
    _asked(lambda client, bucket: client.delete_object(Bucket=bucket, Key=key))


def probe() -> None:
    """Ask whether the bucket answers. Raises ObjectStorageUnavailable."""
    _asked(lambda client, bucket: client.head_bucket(Bucket=bucket))


def signed_address(key: str, *, is_sensitive: bool) -> str:
    """An address that works for some minutes: of the CDN, or signed by us.

    Sensitive pictures never go through a CDN, and say to every cache on the way that they are
    private.
    """
    seconds = settings.OBJECT_STORAGE_SIGNED_URL_SECONDS
    if is_sensitive:
        private = {"ResponseCacheControl": f"private, max-age={seconds}"}
        return str(_storage(_config(), with_cdn=False).url(key, parameters=private))
    return str(_storage(_config(), with_cdn=bool(settings.OBJECT_STORAGE_CDN_URL)).url(key))


def _asked(call: Callable[[Any, str], T], *, key: str = "") -> T:
    """Ask the bucket, and say in our words what went wrong."""
    from boto3.exceptions import Boto3Error  # noqa: PLC0415 (loaded when first used)
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    try:
        client = _storage(_config(), with_cdn=False).connection.meta.client
        return call(client, settings.OBJECT_STORAGE_BUCKET)
    except ClientError as error:
        if key and error.response.get("Error", {}).get("Code") in NOT_FOUND_CODES:
            raise errors.ObjectMissing(key) from error
        raise errors.ObjectStorageUnavailable(str(error)) from error
    except (BotoCoreError, Boto3Error, OSError) as error:
        raise errors.ObjectStorageUnavailable(str(error)) from error


def _config() -> tuple[Any, ...]:
    """What the client depends on, so that a changed setting makes a new one."""
    return (
        settings.OBJECT_STORAGE_BUCKET,
        settings.OBJECT_STORAGE_ENDPOINT,
        settings.OBJECT_STORAGE_REGION,
        settings.OBJECT_STORAGE_ACCESS_KEY_ID,
        settings.OBJECT_STORAGE_SECRET_ACCESS_KEY,
        settings.OBJECT_STORAGE_PATH_STYLE,
        settings.OBJECT_STORAGE_TIMEOUT_SECONDS,
        settings.OBJECT_STORAGE_SIGNED_URL_SECONDS,
        settings.OBJECT_STORAGE_CDN_URL,
        settings.OBJECT_STORAGE_CDN_KEY_ID,
        settings.OBJECT_STORAGE_CDN_PRIVATE_KEY_FILE,
    )


@functools.lru_cache(maxsize=4)
def _storage(config: tuple[Any, ...], *, with_cdn: bool) -> Any:
    from botocore.config import Config  # noqa: PLC0415 (loaded when first used)
    from storages.backends.s3 import S3Storage  # noqa: PLC0415

    bucket, endpoint, region, key_id, secret, is_path_style, timeout, seconds, *cdn = config
    return S3Storage(
        bucket_name=bucket,
        endpoint_url=endpoint or None,
        region_name=region,
        access_key=key_id or None,
        secret_key=secret or None,
        querystring_expire=seconds,
        client_config=Config(
            signature_version="s3v4",
            s3={"addressing_style": "path" if is_path_style else "auto"},
            connect_timeout=timeout,
            read_timeout=timeout,
            retries={"total_max_attempts": 1},
        ),
        **(_cdn_options(*cdn) if with_cdn else {}),
    )


def _cdn_options(url: str, key_id: str, key_file: str) -> dict[str, Any]:
    """Addresses on the CDN's host; signed as CloudFront does where there is a key."""
    parts = urlsplit(url)
    options: dict[str, Any] = {
        "custom_domain": (parts.netloc + parts.path).rstrip("/"),
        "url_protocol": f"{parts.scheme}:",
    }
    if key_id:
        key = Path(key_file).read_bytes()
        options |= {"cloudfront_key_id": key_id, "cloudfront_key": key}
    return options

"""The OpenAPI schemas of a cluster version, strict: unknown fields and wrong types are errors.

The only module that knows the schema library; its own `validate` reads 1.5 MB again for each
object, so the schemas are kept here, per version and kind.
"""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

from apps.delivery.policy.findings import Problem

_FIX = "Compare the field with the API reference of the cluster's version."


def schema_problems(manifest: Mapping[str, Any], version: tuple[int, int]) -> Iterator[Problem]:
    """What the schema refuses, one problem per field.

    Nothing for custom kinds, which it does not know; their groups have a domain of their own.
    """
    kind, api_version = str(manifest.get("kind")), str(manifest.get("apiVersion"))
    validator = _validator(kind, api_version, version)
    if validator is None:
        if _is_builtin(api_version):
            message = f"The cluster's version has no {kind} in {api_version}."
            yield Problem("schema", "apiVersion", message, _FIX)
        return
    for error in validator.iter_errors(manifest):
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.path)
        for name in _field_names(error):
            where = f"{path}.{name}" if name else path
            yield Problem("schema", where.removeprefix("."), f"{error.message[:300]}.", _FIX)


def _field_names(error: Any) -> list[str]:
    """The fields that are missing or too many, or one empty name for the value itself."""
    if error.validator == "required":
        return [name for name in error.validator_value if name not in error.instance]
    if error.validator == "additionalProperties":
        return sorted(error.instance.keys() - error.schema.get("properties", {}).keys())
    return [""]


def _is_builtin(api_version: str) -> bool:
    """True for the groups of Kubernetes itself."""
    group = api_version.rpartition("/")[0]
    return "." not in group or group.endswith(".k8s.io")


def knows(manifest: Mapping[str, Any], version: tuple[int, int]) -> bool:
    """True for kinds of Kubernetes itself."""
    kind, api_version = str(manifest.get("kind")), str(manifest.get("apiVersion"))
    return _validator(kind, api_version, version) is not None


@lru_cache(maxsize=64)
def _validator(kind: str, api_version: str, version: tuple[int, int]) -> Any:
    """The validator of one kind, or None."""
    # Imported here, since only checks need it.
    from jsonschema import Draft202012Validator  # noqa: PLC0415
    from referencing import Resource  # noqa: PLC0415

    group, slash, number = api_version.rpartition("/")
    end = f"{group.partition('.')[0]}-{number}" if slash else number
    if not (kind + end).replace("-", "").isalnum():
        return None
    schema = _read(_folder(version), f"{kind.lower()}-{end}.json")
    if schema is None:
        return None
    registry = Resource.from_contents(schema) @ _definitions(_folder(version))
    return Draft202012Validator(schema, registry=registry)


@lru_cache(maxsize=4)
def _definitions(folder: str) -> Any:
    """What the schemas of one version share."""
    from referencing import Registry, Resource  # noqa: PLC0415

    return Resource.from_contents(_read(folder, "_definitions.json")) @ Registry()


@lru_cache(maxsize=4)
def _folder(version: tuple[int, int]) -> str:
    """The newest schemas that are not newer than the cluster, or the oldest there are."""
    names = [item.name for item in _schemas().iterdir() if item.name.endswith("-strict")]
    known = {tuple(map(int, name.removeprefix("v").split(".")[:2])): name for name in names}
    fitting = [number for number in known if number <= version]
    name: str = known[max(fitting) if fitting else min(known)]
    return name


def _read(folder: str, name: str) -> Any:
    """A schema file, or None where there is none."""
    path = _schemas() / folder / name
    return json.loads(path.read_text()) if path.is_file() else None


def _schemas() -> Any:
    """The folder of all schemas."""
    return files("kubernetes_validate") / "kubernetes-json-schema"

"""The write requests: apply, create, update, patch and delete, each as one function."""

import copy
from typing import Any

from . import admission, apply, defaults, schema, statuses, validation
from .apply import Manager
from .kinds import BY_NAME, Kind
from .managed import set_managers
from .statuses import RefusedError
from .store import Store, timestamp

Object = dict[str, Any]


class Written:
    """The answer to a write: code, object and warnings."""

    def __init__(self, code: int, body: Object, warnings: list[str]) -> None:
        self.code, self.body, self.warnings = code, body, warnings


def apply_patch(
    store: Store, kind: Kind, namespace: str, name: str, body: Any, query: dict[str, str]
) -> Written:
    """Server-side apply: create or merge, with ownership."""
    _check_apply_options(query)
    wanted = _addressed(kind, namespace, name, body)
    schema.check(kind, wanted)
    with store.changed:
        live = store.get(kind, namespace, name)
        _check_preconditions(kind, name, live, wanted["metadata"])
        if live is None:
            _check_home(store, kind, namespace, name)
        is_forced = query.get("force", "false") not in {"false", "0"}
        manager = query["fieldManager"]
        new, owned = apply.apply(kind, live, wanted, manager=manager, is_forced=is_forced)
        return _finish(store, kind, live, new, owned, Manager(manager), query)


def create(
    store: Store, kind: Kind, namespace: str, body: Object, query: dict[str, str], agent: str
) -> Written:
    """POST: only when the name is free."""
    new = copy.deepcopy(body) | {"apiVersion": kind.api_version, "kind": kind.name}
    metadata = new["metadata"]
    name = metadata.setdefault("name", metadata.get("generateName", "") + "x7f4k")
    if kind.is_namespaced:
        metadata["namespace"] = namespace
    with store.changed:
        _check_home(store, kind, namespace, name)
        if store.get(kind, namespace, name):
            details = statuses.of_resource(kind, name)
            message = f'{kind.resource} "{name}" already exists'
            raise RefusedError(409, message, reason="AlreadyExists", details=details)
        defaults.complete(kind, new)
        me = Manager(query.get("fieldManager", agent), "Update")
        owned = apply.update(None, new, {}, me)
        return _finish(store, kind, None, new, owned, me, query)


def edit(
    store: Store, kind: Kind, live: Object, new: Object, query: dict[str, str], me: Manager
) -> Written:
    """PUT and the patches that are no apply: the writer owns what it changed."""
    sent = new["metadata"].get("resourceVersion")
    if sent and sent != live["metadata"]["resourceVersion"]:
        raise statuses.stale(kind, live["metadata"]["name"])
    if new["metadata"].get("managedFields") != live["metadata"].get("managedFields"):
        entries = [entry for entry in new["metadata"].get("managedFields") or [] if entry]
        owned = apply.managers_of({"metadata": {"managedFields": entries}})
    else:
        defaults.complete(kind, new)
        owned = apply.update(live, new, apply.managers_of(live), me)
    return _finish(store, kind, live, new, owned, me, query)


def delete(
    store: Store, kind: Kind, namespace: str, name: str, options: Object, query: dict[str, str]
) -> Object:
    """DELETE: at once for most, by phases for namespaces and pods."""
    with store.changed:
        live = store.get(kind, namespace, name)
        if live is None:
            raise statuses.not_found(kind, name)
        _check_delete_preconditions(kind, live, options.get("preconditions") or {})
        uid = live["metadata"]["uid"]
        if "All" in {query.get("dryRun"), *(options.get("dryRun") or [])}:
            return statuses.success(kind, name, uid)
        if live["metadata"].get("finalizers") or kind.name in {"Namespace", "Pod"}:
            return _begin_deletion(store, kind, live)
        gone = store.delete(kind, namespace, name)
        delete_dependents(store, live)
        is_service = kind.name == "Service" and gone
        return gone if is_service and gone else statuses.success(kind, name, uid)


def delete_dependents(store: Store, owner: Object) -> None:
    """Background propagation: ReplicaSets and pods go with their owner."""
    for kind in (BY_NAME["ReplicaSet"], BY_NAME["Pod"]):
        for dependent in store.owned_by(kind, owner):
            metadata = dependent["metadata"]
            store.delete(kind, metadata["namespace"], metadata["name"])
            delete_dependents(store, dependent)


def _begin_deletion(store: Store, kind: Kind, live: Object) -> Object:
    metadata = live["metadata"]
    metadata.setdefault("deletionTimestamp", timestamp())
    if kind.name == "Namespace":
        live["status"]["phase"] = "Terminating"
    else:
        metadata["deletionGracePeriodSeconds"] = live["spec"].get("terminationGracePeriodSeconds")
    return store.put(kind, live)


def _check_apply_options(query: dict[str, str]) -> None:
    if query.get("dryRun", "All") != "All":
        why = f'Unsupported value: ["{query["dryRun"]}"]: supported values: "All"'
        raise statuses.bad_options("PatchOptions", "FieldValueNotSupported", why, "dryRun")
    manager = query.get("fieldManager", "")
    if not manager:
        why = "Required value: is required for apply patch"
        raise statuses.bad_options("PatchOptions", "FieldValueRequired", why, "fieldManager")
    if len(manager) > 128:
        why = "Too long: may not be more than 128 bytes"
        raise statuses.bad_options("PatchOptions", "FieldValueTooLong", why, "fieldManager")


def _addressed(kind: Kind, namespace: str, name: str, body: Any) -> Object:
    wanted = copy.deepcopy(body) if isinstance(body, dict) else {}
    given = (wanted.get("apiVersion", "").strip(), wanted.get("kind", ""))
    if given != (kind.api_version, kind.name):
        shown = f"{given[0] or '/'}, Kind={given[1]}"
        raise RefusedError(400, f"invalid object type: {shown}")
    metadata = wanted.setdefault("metadata", {})
    if metadata.setdefault("name", name) != name:
        raise RefusedError(
            400,
            f"the name of the object ({metadata['name']}) does not match the name on the URL "
            f"({name})",
        )
    if kind.is_namespaced and metadata.setdefault("namespace", namespace) != namespace:
        raise RefusedError(
            400,
            "the namespace of the provided object does not match the namespace sent on the request",
        )
    if metadata.get("managedFields") is not None:
        raise RefusedError(400, "metadata.managedFields must be nil")
    return wanted


def _check_preconditions(kind: Kind, name: str, live: Object | None, sent: Object) -> None:
    if live is None:
        if uid := sent.get("uid"):
            raise RefusedError(
                409,
                f'Operation cannot be fulfilled on {kind.resource} "{name}": uid mismatch: the '
                f"provided object specified uid {uid}, and no existing object was found",
                details=statuses.of_resource(kind, name),
            )
        return
    version = sent.get("resourceVersion")
    if version and not version.isdigit():
        message = f'strconv.ParseUint: parsing "{version}": invalid syntax'
        raise RefusedError(500, message)
    if version and version != live["metadata"]["resourceVersion"]:
        raise statuses.stale(kind, name)
    if sent.get("uid"):
        validation.check(kind, live, live | {"metadata": live["metadata"] | {"uid": sent["uid"]}})


def _check_home(store: Store, kind: Kind, namespace: str, name: str) -> None:
    if kind.is_namespaced:
        admission.check_namespace(store, kind, namespace, name)


def _check_delete_preconditions(kind: Kind, live: Object, wanted: Object) -> None:
    for field, label in (("uid", "UID"), ("resourceVersion", "ResourceVersion")):
        sent, present = wanted.get(field), live["metadata"][field]
        if sent and sent != present:
            name = live["metadata"]["name"]
            done = (
                "have been deleted and then recreated" if label == "UID" else "have been modified"
            )
            raise RefusedError(
                409,
                f'Operation cannot be fulfilled on {kind.qualified} "{name}": the {label} in the '
                f"precondition ({sent}) does not match the {label} in record ({present}). "
                f"The object might {done}",
                details=statuses.of_resource(kind, name) | {"kind": kind.name},
            )


def _finish(
    store: Store,
    kind: Kind,
    live: Object | None,
    new: Object,
    owned: dict[Manager, Any],
    writer: Manager,
    query: dict[str, str],
) -> Written:
    """Defaults, rules, admission, ownership, then the store (or not, for a dry run)."""
    new = {"kind": kind.name, "apiVersion": kind.api_version, **new}
    defaults.complete(kind, new)
    new["metadata"] = _system_metadata(kind, live, new)
    validation.check(kind, live, new)
    if live is None:
        admission.admit(store, kind, new)
    is_same = live is not None and _content(live) == _content(new)
    set_managers(kind, live, new, owned, writer, is_same=is_same)
    if live is not None and is_same and new["metadata"] == live["metadata"]:
        return Written(200, live, [])
    warnings = admission.warnings_for(store, kind, new)
    code = 201 if live is None else 200
    if query.get("dryRun") == "All":
        return Written(code, _as_dry_run(new, live), warnings)
    return Written(code, _stored(store, kind, new), warnings)


def _stored(store: Store, kind: Kind, new: Object) -> Object:
    finishing = new["metadata"].get("deletionTimestamp") and not new["metadata"].get("finalizers")
    if finishing and kind.name not in {"Namespace", "Pod"}:
        store.delete(kind, new["metadata"].get("namespace", ""), new["metadata"]["name"])
        return new
    return store.put(kind, new)


def _as_dry_run(new: Object, live: Object | None) -> Object:
    metadata = new["metadata"]
    metadata.setdefault("uid", "00000000-0000-4000-8000-000000000000")
    metadata.setdefault("creationTimestamp", timestamp())
    if live is None:
        metadata.pop("resourceVersion", None)
    return new


def _content(stored: Object) -> Object:
    skipped = {"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"}
    metadata = {k: v for k, v in stored["metadata"].items() if k not in skipped}
    return {k: v for k, v in stored.items() if k != "metadata"} | {"metadata": metadata}


def _system_metadata(kind: Kind, live: Object | None, new: Object) -> Object:
    metadata = {k: v for k, v in new["metadata"].items() if v is not None}
    for field in ("resourceVersion", "generation", "creationTimestamp", "managedFields"):
        metadata.pop(field, None)
    if live is not None:
        kept = ("uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "generation")
        metadata |= {f: live["metadata"][f] for f in kept if f in live["metadata"]}
        metadata["uid"] = new["metadata"].get("uid") or metadata["uid"]
    if kind.has_generation:
        changed = live is not None and _generated_by(kind, live) != _generated_by(kind, new)
        metadata["generation"] = metadata.get("generation", 0 if live is None else 1) + (
            1 if live is None or changed else 0
        )
    return metadata


def _generated_by(kind: Kind, stored: Object) -> Object:
    """What raises the generation: the spec, and for Deployments the annotations too."""
    notes = stored["metadata"].get("annotations") if kind.name == "Deployment" else None
    return {"spec": stored.get("spec"), "annotations": notes}

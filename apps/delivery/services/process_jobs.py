"""Asking for recalculations, and running them with the rights that people have by then."""

import functools
import json
import logging
import os
from collections.abc import Callable, Mapping
from typing import Any

from bson import json_util
from django.conf import settings
from django.contrib.auth.models import User
from django.db import close_old_connections, connection, connections
from pymongo.client_session import ClientSession
from pymongo.errors import PyMongoError

from apps.delivery import mongodb, process_job_metrics
from apps.delivery.errors import AccessRevoked, MongodbUnreachable
from apps.delivery.process_jobs import ProcessJobQueue, dedupe_key
from apps.delivery.process_jobs.memory import MemoryJobQueue
from apps.delivery.process_jobs.runners import registered_models, runner_of
from apps.delivery.services import remote_runners
from apps.outbox.services import publish

logger = logging.getLogger(__name__)

REQUESTED = "PROCESS_JOB_REQUESTED"
AGGREGATE = "process_job"


def enqueue(
    model: str,
    selectors: Any,
    *,
    user: User | None = None,
    session: ClientSession | None = None,
) -> None:
    """Ask for a recalculation; equal requests that wait are covered by one run.

    Inside a Django transaction the request goes through the outbox, inside the MongoDB transaction
    of `session` into that: either way it exists only if the change is committed. Otherwise a worker
    wakes at once. `user` is on whose behalf it runs; without one it runs as the platform itself.
    Raises AccessRevoked, InvalidSelector, NoProcessRunner, ProcessTransactionRequired,
    MongodbUnreachable.
    """
    context = None if user is None else _frozen_access(user, model)
    if session is None and connection.in_atomic_block:
        payload = {"model": model, "selectors": _as_json(selectors), "accessContext": context}
        publish(REQUESTED, AGGREGATE, dedupe_key(model, selectors), payload)
        return
    _enqueue(model, selectors, context, session=session)


def accept(payload: Mapping[str, Any]) -> None:
    """Queue what an event asks for. Raises MongodbUnreachable, so that the outbox tries again."""
    selectors = json_util.loads(json.dumps(payload["selectors"]))
    _enqueue(payload["model"], selectors, payload.get("accessContext"), session=None)


def run(model_name: str, selectors: Any, access_context: Mapping[str, Any] | None) -> None:
    """Run one job with the runner of its model.

    The context was frozen when the job was enqueued; what has been taken away since is not used.
    Raises NoProcessRunner, AccessRevoked, and whatever the runner raises.
    """
    if not connection.in_atomic_block:
        close_old_connections()  # a resident worker outlives them
    remote = remote_runners.find(model_name)
    if remote is not None:
        # Its people are the app's own, so the app checks them again.
        remote_runners.call(remote, selectors, access_context)
        return
    runner = runner_of(model_name)
    runner.function(selectors, _present_access(access_context, runner.permission))


def claimable_models() -> frozenset[str]:
    """The models that a worker of Pombo can run; jobs of others are left to node workers."""
    return registered_models() | remote_runners.active_models()


def new_queue(*, should_stop: Callable[[], bool] = lambda: False) -> ProcessJobQueue:
    """A worker's queue on the shared database. Raises MongodbNotConfigured."""
    return ProcessJobQueue(
        mongodb.shared_database(),
        run=run,
        models=claimable_models,
        lease_seconds=settings.PROCESS_JOB_LEASE_SECONDS,
        observe=process_job_metrics.observe_run,
        should_stop=should_stop,
    )


def shared_queue() -> ProcessJobQueue | MemoryJobQueue:
    """The queue that this process enqueues into: MongoDB's, or one in memory without MongoDB."""
    if not mongodb.is_configured():
        return memory_queue(os.getpid())
    return _mongodb_queue(settings.MONGODB_URI, os.getpid())


@functools.cache
def memory_queue(_pid: int) -> MemoryJobQueue:
    """This process's queue in memory; the log says once what that means."""
    logger.warning("process_jobs.in_memory", extra={"hint": "jobs will not survive a restart"})
    return MemoryJobQueue(_run_in_thread)


@functools.cache
def _mongodb_queue(_uri: str, _pid: int) -> ProcessJobQueue:
    return new_queue()


def forget_queues() -> None:
    """Make the queues anew at the next enqueue; tests clean up with it."""
    memory_queue.cache_clear()
    _mongodb_queue.cache_clear()


def _enqueue(
    model_name: str,
    selectors: Any,
    context: Mapping[str, Any] | None,
    *,
    session: ClientSession | None,
) -> None:
    try:
        shared_queue().enqueue(model_name, selectors, context, session=session)
    except PyMongoError as error:
        if session is not None:
            raise  # its labels tell the caller whether to run the transaction again
        raise MongodbUnreachable("MongoDB did not take the process job.") from error


def _run_in_thread(model: str, selectors: Any, context: Mapping[str, Any] | None) -> None:
    """For threads of our own: leave no database connection open behind."""
    try:
        run(model, selectors, context)
    finally:
        connections.close_all()


def _frozen_access(user: User, model_name: str) -> dict[str, Any]:
    """Who asks and with which right, as a value. Raises AccessRevoked, NoProcessRunner."""
    permission = runner_of(model_name).permission
    if not user.has_perm(permission):
        raise AccessRevoked(f"{user.get_username()} may not recalculate {model_name}.")
    return {"userId": user.get_username(), "permissions": [permission]}


def _present_access(context: Mapping[str, Any] | None, permission: str) -> Mapping[str, Any] | None:
    """The frozen context with the rights that are still held. Raises AccessRevoked."""
    if context is None:
        return None
    user = User.objects.filter(username=context.get("userId"), is_active=True).first()
    frozen = context.get("permissions") or []
    held = [name for name in frozen if user is not None and user.has_perm(name)]
    if permission not in held:
        raise AccessRevoked(f"{context.get('userId')} no longer has {permission}.")
    return {**context, "permissions": held}


def _as_json(selectors: Any) -> Any:
    """Extended JSON: ids and times survive the way through the outbox."""
    return json.loads(json_util.dumps(selectors, json_options=json_util.RELAXED_JSON_OPTIONS))

"""A Kubernetes API server for tests: HTTP, in one process, as the recordings of a real one show."""

from .server import KubeServer

__all__ = ["KubeServer"]

"""What is wrong with a set of objects, found before a cluster sees it.

The schema of the cluster's version first, then our own rules for what a schema lets through: what
the API server would refuse, and what it would accept and fail with later. Each finding names the
object, the field and the way out. Used by the command, the plan and the admin.
"""

from apps.delivery.policy.check import check_objects, errors_of
from apps.delivery.policy.findings import Finding, Severity
from apps.delivery.policy.pod_security import pod_security_problems

__all__ = ["Finding", "Severity", "check_objects", "errors_of", "pod_security_problems"]

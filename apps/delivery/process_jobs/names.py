"""Collections and limits of the process-job queue; node apps use the first two as well."""

JOBS = "oon_process_jobs"
LOCKS = "oon_process_job_locks"
FENCES = "oon_process_job_fences"
"""One counter per target. Apart from the locks, because node workers delete a lock to release it
and a fence must never start again."""

WORKERS = "pombo_process_workers"

MAX_ATTEMPTS = 14
LEASE_SECONDS = 60.0
BUSY_DELAY_MS = 500
FAILED_TTL_SECONDS = 30 * 24 * 3600
HEARTBEAT_SECONDS = 5.0
WORKER_GONE_SECONDS = 20

PENDING, PROCESSING, FAILED = "pending", "processing", "failed"

"""How much time a pod has to end, and how the parts of that time fit together.

Kubernetes runs the preStop hook, then sends SIGTERM, then kills everything once
`terminationGracePeriodSeconds` have passed since the beginning. The manifests and the supervisor
share these figures, so that a pod is never killed while its children still drain.
Standard library only: the supervisor runs as PID 1 of images that hold no Django.
"""

import re
from collections.abc import Mapping
from typing import Final

PRE_STOP_SECONDS: Final = 5
TERMINATION_GRACE_SECONDS: Final = 40
DEFAULT_GRACE_MS: Final = 25_000

GRACE_VARIABLE: Final = "OON_SHUTDOWN_GRACE_MS"
PRE_STOP_VARIABLE: Final = "OON_PRE_STOP_SECONDS"
TERMINATION_GRACE_VARIABLE: Final = "OON_TERMINATION_GRACE_SECONDS"

# What the supervisor itself needs after the last SIGKILL: to reap, log and exit.
EXIT_MARGIN_SECONDS: Final = 2

_MAX_SAFE_INTEGER: Final = 2**53 - 1
# The white space that JavaScript's Number() strips; str.strip() knows more and fewer.
_JS_SPACE: Final = (
    "\t\n\v\f\r \xa0\u1680"
    + "".join(map(chr, range(0x2000, 0x200B)))
    + ("\u2028\u2029\u202f\u205f\u3000\ufeff")
)
_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_PREFIXED: Final = re.compile(r"0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)")


def grace_ms_from_env(env: Mapping[str, str]) -> int:
    """Milliseconds that children get to drain, from `OON_SHUTDOWN_GRACE_MS`.

    The value is read as JavaScript's Number() reads it (`1e3` is 1000), since one pod
    environment serves both runtimes. What is no positive safe integer counts as not set.
    """
    number = _js_number(env.get(GRACE_VARIABLE, ""))
    if number is None or not 0 < number <= _MAX_SAFE_INTEGER or number % 1:
        return DEFAULT_GRACE_MS
    return int(number)


def longest_grace_ms(*, pre_stop_seconds: int, termination_grace_seconds: int) -> int:
    """The grace that just fits: preStop + grace + margin within the pod's own (may be negative)."""
    return (termination_grace_seconds - pre_stop_seconds - EXIT_MARGIN_SECONDS) * 1000


def pod_grace_limit_ms(env: Mapping[str, str]) -> int | None:
    """The longest grace inside this pod, or None outside one (the manifest sets both figures)."""
    pre_stop, termination = env.get(PRE_STOP_VARIABLE, ""), env.get(TERMINATION_GRACE_VARIABLE, "")
    if not _is_plain_digits(pre_stop) or not _is_plain_digits(termination):
        return None
    return longest_grace_ms(
        pre_stop_seconds=int(pre_stop), termination_grace_seconds=int(termination)
    )


def _js_number(text: str) -> float | None:
    """The finite number JavaScript's Number() makes of a text, or None."""
    trimmed = text.strip(_JS_SPACE)
    if _PREFIXED.fullmatch(trimmed):
        return float(int(trimmed, 0)) if len(trimmed) < 256 else None  # noqa: PLR2004
    return float(trimmed) if _DECIMAL.fullmatch(trimmed) else None


def _is_plain_digits(text: str) -> bool:
    """True for a short run of ASCII digits."""
    return re.fullmatch(r"[0-9]{1,6}", text) is not None

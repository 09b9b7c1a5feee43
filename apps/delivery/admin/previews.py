"""What an environment becomes, as the admin shows it."""

import yaml
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from apps.common.errors import DomainError
from apps.delivery.models import Environment
from apps.delivery.queries import preview_findings, preview_objects


def manifest_text(environment: Environment) -> SafeString:
    """The rendered objects as YAML, or why they cannot be rendered."""
    if not environment.namespace:
        return format_html("{}", "–")
    try:
        objects = preview_objects(environment)
    except DomainError as error:
        return format_html("{}", error.message)
    return format_html(
        "<details><summary>{}</summary><pre>{}</pre></details>",
        _("%(count)d objects") % {"count": len(objects)},
        yaml.safe_dump_all(objects, sort_keys=False, allow_unicode=True),
    )


def findings_list(environment: Environment) -> SafeString:
    """The findings as a list, errors first."""
    if not environment.namespace:
        return format_html("{}", "–")
    try:
        findings = preview_findings(preview_objects(environment))
    except DomainError as error:
        return format_html("{}", error.message)
    if not findings:
        return format_html("{}", _("Nothing: the next deployment passes every check."))
    rows = (
        (finding.severity, finding.key.kind, finding.path, finding.message, finding.fix)
        for finding in findings
    )
    items = format_html_join("", "<li><b>{}</b> {} <code>{}</code>: {} <i>{}</i></li>", rows)
    return format_html("<ul>{}</ul>", items)

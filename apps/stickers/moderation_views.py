"""The moderators' page: reported packs, why, and what to do with them."""

from django.contrib import messages
from django.contrib.auth.decorators import permission_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from apps.stickers import moderation_queue
from apps.stickers.choices import Outcome
from apps.stickers.errors import InvalidText, NothingToDecide, PackNotFound
from apps.stickers.services import moderation

# The buttons in order, mildest first.
BUTTONS = (
    (Outcome.DISMISSED, gettext_lazy("Nothing wrong")),
    (Outcome.SENSITIVE, gettext_lazy("Mark sensitive")),
    (Outcome.HIDDEN, gettext_lazy("Hide")),
    (Outcome.REMOVED, gettext_lazy("Remove")),
)

moderators_only = permission_required("stickers.moderate_pack", login_url="admin:login")


@require_safe
@never_cache
@moderators_only
def queue(request: HttpRequest) -> HttpResponse:
    """The packs that wait, most reports first."""
    context = {
        "rows": moderation_queue.reported_packs(),
        "open_count": moderation_queue.open_report_count(),
        "buttons": BUTTONS,
    }
    return render(request, "stickers/moderation.html", context)


@require_POST
@moderators_only
def decide(request: HttpRequest, pack_key: str) -> HttpResponse:
    """Decide about one pack; removing wants its box ticked as well."""
    outcome = request.POST.get("outcome", "")
    if outcome not in dict(BUTTONS):
        raise Http404
    if outcome == Outcome.REMOVED and not request.POST.get("confirmed"):
        messages.error(request, _("Tick the box to confirm that the pack is to be removed."))
        return redirect("moderation")
    try:
        moderation.decide(
            pack_key,
            Outcome(outcome),
            reason=request.POST.get("reason", ""),
            moderator=request.user.get_username(),
            now=timezone.now(),
        )
    except PackNotFound as error:
        raise Http404 from error
    except InvalidText:
        messages.error(request, _("Say why; the author reads it."))
    except NothingToDecide:
        messages.info(request, _("Somebody has decided about this pack already."))
    else:
        messages.success(request, _("Decided: %(outcome)s.") % {"outcome": Outcome(outcome).label})
    return redirect("moderation")

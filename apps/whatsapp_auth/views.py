"""Pages of sign-in and of one's own account; they read, ask a service and show.

Opening a page never uses a link up: previews and scanners open links too. Only the form at the end
of a sign-in does.
"""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST, require_safe

from apps.common.api import status_of
from apps.common.errors import DomainError
from apps.whatsapp_auth import login_links, oidc, people, queries
from apps.whatsapp_auth.explanations import explain
from apps.whatsapp_auth.jids import mask_jid
from apps.whatsapp_auth.people import Person
from apps.whatsapp_auth.services import logins, notices, personal_data, sessions

HINT_KEY = "whatsapp_login_hint"
ACCOUNT_KEY = "whatsapp_login_account"
Rest = ParamSpec("Rest")


def person_required(
    view: Callable[Concatenate[HttpRequest, Person, Rest], HttpResponse],
) -> Callable[..., HttpResponse]:
    """Hand the signed-in person to the view, or send the browser to the login page."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Rest.args, **kwargs: Rest.kwargs) -> HttpResponse:
        try:
            person = people.person_of(request)
        except DomainError as error:
            return refusal(request, error)
        if person is None:
            return redirect("login")
        return view(request, person, *args, **kwargs)

    return wrapped


@never_cache
@require_safe
def login(request: HttpRequest) -> HttpResponse:
    """Show for whom a link is, and the way on to Google."""
    hint = login_links.extract_login_hint(request.GET)
    if not any(hint.values()):
        return _login_page(request)
    try:
        link = logins.verify_link(hint, now=timezone.now())
    except DomainError as error:
        return refusal(request, error)
    request.session[HINT_KEY] = hint
    return _login_page(request, masked_phone=mask_jid(link.digits))


@never_cache
@require_GET
def start_google(request: HttpRequest) -> HttpResponse:
    """Send the browser to the provider; what comes back is bound to this browser's session."""
    if HINT_KEY not in request.session:
        return redirect("login")
    try:
        return oidc.start(request, request.build_absolute_uri(reverse("login-callback")))
    except DomainError as error:
        return refusal(request, error)


@never_cache
@require_GET
def google_callback(request: HttpRequest) -> HttpResponse:
    """Take the provider's answer; the link is still unused afterwards."""
    try:
        account = oidc.finish(request)
    except DomainError as error:
        return refusal(request, error)
    request.session[ACCOUNT_KEY] = oidc.to_session(account)
    return redirect("login-confirm")


@never_cache
@require_safe
def confirm(request: HttpRequest) -> HttpResponse:
    """Show the account, the phone and what signing in would change."""
    account, hint = _pending(request)
    if account is None:
        return redirect("login")
    try:
        plan = logins.preview_sign_in(account, hint, now=timezone.now())
    except DomainError as error:
        return refusal(request, error)
    context = {"plan": plan, "link": login_links.hint_id(hint)}
    return render(request, "whatsapp_auth/confirm.html", context)


@never_cache
@require_POST
def finish(request: HttpRequest) -> HttpResponse:
    """Use the link up and sign in, with consent to what the page showed."""
    account, hint = _pending(request)
    if account is None:
        return redirect("login")
    if request.POST.get("link", "") != login_links.hint_id(hint):
        # Another tab opened another link meanwhile: show that one before it is used.
        return redirect("login-confirm")
    try:
        done = logins.sign_in(
            account,
            hint,
            confirmed_changes=request.POST.get("changes", ""),
            address=people.client_address(request),
            now=timezone.now(),
        )
    except DomainError as error:
        return refusal(request, error)
    request.session.pop(HINT_KEY, None)
    request.session.pop(ACCOUNT_KEY, None)
    response = redirect(settings.SIGNED_IN_URL)
    people.set_session_cookie(response, done.opened)
    return response


@never_cache
@require_safe
@person_required
def account(request: HttpRequest, person: Person) -> HttpResponse:
    """One's own data, sessions and notices."""
    living = sessions.living_sessions(now=timezone.now()).filter(google_user_id=person.google_sub)
    context = {
        "person": person,
        "masked_phone": mask_jid(person.owner_phone),
        "sessions": [people.person_from_session(session) for session in living],
        "notices": queries.unseen_notices(person.google_sub),
    }
    return render(request, "whatsapp_auth/account.html", context)


@require_POST
@person_required
def logout(request: HttpRequest, person: Person) -> HttpResponse:
    """End the session of this browser."""
    sessions.end_own_session(person.google_sub, person.session_ref, now=timezone.now())
    response = redirect("login")
    people.clear_session_cookie(response)
    return response


@require_POST
@person_required
def end_session(request: HttpRequest, person: Person, ref: str) -> HttpResponse:
    """End another of one's own sessions."""
    try:
        sessions.end_own_session(person.google_sub, ref, now=timezone.now())
    except DomainError as error:
        return refusal(request, error)
    messages.success(request, _("The session has ended."))
    return redirect("account")


@require_POST
@person_required
def dismiss_notices(request: HttpRequest, person: Person) -> HttpResponse:
    """Put one's notices away."""
    notices.mark_seen(person.google_sub, now=timezone.now())
    return redirect("account")


@require_POST
@person_required
def export(request: HttpRequest, person: Person) -> HttpResponse:
    """Download everything that is kept about oneself."""
    whose = personal_data.identify(person.google_sub)
    data = personal_data.export_person(whose, actor=person.get_username(), now=timezone.now())
    response = JsonResponse(data, json_dumps_params={"indent": 2, "ensure_ascii": False})
    response["Content-Disposition"] = 'attachment; filename="pombo-my-data.json"'
    return response


@require_POST
@person_required
def erase(request: HttpRequest, person: Person) -> HttpResponse:
    """Delete one's own account and identity, after the phone's last digits were typed."""
    if request.POST.get("last_digits", "") != person.owner_phone[-4:]:
        messages.error(request, _("Type the last four digits of your number to confirm."))
        return redirect("account")
    whose = personal_data.identify(person.google_sub)
    personal_data.erase_person(whose, actor=person.get_username(), now=timezone.now())
    messages.success(request, _("Your data has been deleted."))
    response = redirect("login")
    people.clear_session_cookie(response)
    return response


def refusal(request: HttpRequest, error: DomainError) -> HttpResponse:
    """A page that says what was refused and what to do."""
    explanation = explain(error)
    trigger = {"trigger": settings.WHATSAPP_LOGIN_TRIGGER}
    context = {"title": explanation.title, "advice": str(explanation.advice) % trigger}
    return render(request, "whatsapp_auth/refused.html", context, status=status_of(error))


def _login_page(request: HttpRequest, *, masked_phone: str | None = None) -> HttpResponse:
    context = {
        "masked_phone": masked_phone,
        "is_configured": oidc.is_configured(),
        "notices": queries.unseen_notices(people.ended_account(request)),
    }
    return render(request, "whatsapp_auth/login.html", context)


def _pending(request: HttpRequest) -> tuple[oidc.GoogleAccount | None, dict[str, str]]:
    """The account and link that this browser has brought so far."""
    hint, stored = request.session.get(HINT_KEY), request.session.get(ACCOUNT_KEY)
    if not hint or not stored:
        return None, {}
    return oidc.GoogleAccount(**stored), hint

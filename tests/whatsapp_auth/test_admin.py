import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.whatsapp_auth import lid_map
from apps.whatsapp_auth.models import (
    ApiToken,
    Ban,
    GoogleSession,
    LoginEvent,
    Moderator,
)
from apps.whatsapp_auth.oidc import GoogleAccount
from apps.whatsapp_auth.services import sessions
from apps.whatsapp_auth.services.roles import sync_roles
from apps.whatsapp_auth.services.tokens import issue_token
from tests.whatsapp_auth.factories import (
    ANA,
    LID,
    PHONE,
    make_session,
    make_user,
    signed_in,
)

pytestmark = pytest.mark.django_db
JID = f"{PHONE}@s.whatsapp.net"
MODELS = [
    "googleuser",
    "googlesession",
    "ban",
    "lidmapping",
    "lidhistory",
    "loginevent",
    "apitoken",
    "moderator",
]


def admin_url(model, page="changelist", *args):
    return reverse(f"admin:whatsapp_auth_{model}_{page}", args=args)


@pytest.fixture
def owner_client(owner):
    client = Client()
    client.force_login(owner)
    return client


def staff_client(django_user_model, role):
    sync_roles()
    user = django_user_model.objects.create_user(role, is_staff=True)
    user.groups.add(Group.objects.get(name=role))
    client = Client()
    client.force_login(user)
    return client


def run_action(client, model, action, *ids):
    return client.post(admin_url(model), {"action": action, "_selected_action": ids}, follow=True)


@pytest.fixture
def ana(owner):
    lid_map.learn(LID, JID, now=timezone.now())
    opened = signed_in(ANA, at=timezone.now()).opened
    Moderator.objects.create(
        google_sub="m", owner_jid=JID, email="m@example.com", password_hash="h"
    )
    Ban.objects.create(google_sub="another", reason="spam")
    issue_token("bot", owner=owner, scopes=["whatsapp:read"])
    return opened


@pytest.mark.parametrize("model", MODELS)
def test_every_list_opens_and_shows_no_number_in_full(owner_client, ana, model):
    page = owner_client.get(admin_url(model))
    assert page.status_code == 200
    assert PHONE not in page.content.decode()


def test_a_person_is_one_page_without_a_token(owner_client, ana):
    text = owner_client.get(admin_url("googleuser", "change", ANA.sub)).content.decode()
    for shown in (ANA.email, JID, LID, "signed in"):
        assert shown in text
    assert ana.token not in text
    assert ana.session.session_token not in text


@pytest.mark.parametrize("model", MODELS)
def test_i9_no_page_shows_a_session_token(owner_client, ana, model):
    # Rows are addressed by the digest, which opens nothing (see test_api).
    assert ana.token not in owner_client.get(admin_url(model)).content.decode()


@pytest.mark.parametrize("term", [ANA.email, ANA.sub, PHONE, LID, "+55 11 98765-4321"])
def test_people_are_found_by_every_name(owner_client, ana, term):
    page = owner_client.get(admin_url("googleuser"), {"q": term})
    assert page.context["cl"].result_count == 1


def test_the_audit_is_searched_by_digest(owner_client, ana):
    assert owner_client.get(admin_url("loginevent"), {"q": PHONE}).context["cl"].result_count == 1
    assert owner_client.get(admin_url("loginevent"), {"q": "1"}).context["cl"].result_count == 0


@pytest.mark.parametrize("question", [LID, PHONE, JID])
def test_the_resolve_tool_answers_for_any_address(owner_client, ana, question):
    page = owner_client.get(admin_url("lidmapping", "resolve"), {"q": question})
    assert page.context["sender"]["user_id"] == JID
    assert ANA.email in page.content.decode()


def test_a_ban_from_the_admin_ends_sessions_and_names_who_did_it(owner_client, ana):
    form = {"google_sub": ANA.sub, "email": "", "owner_jid": "", "reason": "spam"}
    owner_client.post(admin_url("ban", "add"), form)
    ban = Ban.objects.get(google_sub=ANA.sub)
    assert (ban.reason, ban.created_by_email) == ("spam", "owner")
    assert not sessions.living_sessions(now=timezone.now()).exists()


def test_a_ban_is_lifted_once(owner_client, ana):
    ban = Ban.objects.get()
    for expected in ("1 ban lifted", "0 bans lifted"):
        assert expected in run_action(owner_client, "ban", "lift", ban.pk).content.decode()


def test_sessions_are_ended_from_both_pages(owner_client, ana):
    digest = ana.session.session_token
    page = run_action(owner_client, "googlesession", "end", digest)
    assert "1 session ended" in page.content.decode()
    make_session(ANA, now=timezone.now())
    page = run_action(owner_client, "googleuser", "end_all_sessions", ANA.sub)
    assert not GoogleSession.objects.filter(revoked_at=None).exists()


def test_a_tokens_secret_is_shown_once(owner_client, owner):
    form = {"name": "bot", "owner": owner.pk, "scopes": ["whatsapp:read"]}
    page = owner_client.post(admin_url("apitoken", "add"), form, follow=True)
    token = ApiToken.objects.get()
    assert token.prefix in page.content.decode()
    assert "never shown again" in page.content.decode()
    assert "never shown again" not in owner_client.get(admin_url("apitoken")).content.decode()


def test_tokens_are_rotated_and_revoked(owner_client, ana):
    token = ApiToken.objects.get()
    run_action(owner_client, "apitoken", "rotate", token.pk)
    assert ApiToken.objects.count() == 2
    run_action(owner_client, "apitoken", "revoke", token.pk)
    token.refresh_from_db()
    assert token.revoked_at is not None


def test_moderators_become_staff(owner_client, ana, django_user_model):
    sync_roles()
    run_action(owner_client, "moderator", "make_staff", "m")
    assert django_user_model.objects.filter(username="m@example.com", is_staff=True).exists()


def test_an_operator_bans_but_decides_about_no_access(django_user_model, ana):
    client = staff_client(django_user_model, "operator")
    assert client.get(admin_url("ban", "add")).status_code == 200
    assert client.get(admin_url("apitoken", "add")).status_code == 403
    run_action(client, "moderator", "make_staff", "m")
    assert not django_user_model.objects.filter(username="m@example.com").exists()


def test_a_viewer_sees_and_changes_nothing(django_user_model, ana):
    client = staff_client(django_user_model, "viewer")
    assert client.get(admin_url("googleuser")).status_code == 200
    assert client.get(admin_url("ban", "add")).status_code == 403
    run_action(client, "googlesession", "end", ana.session.session_token)
    assert sessions.living_sessions(now=timezone.now()).exists()


@pytest.mark.parametrize("model", ["googleuser", "googlesession", "lidmapping", "loginevent"])
def test_lists_cost_the_same_for_one_row_and_for_fifty(owner_client, model):
    counts = [_query_count(owner_client, model, rows) for rows in (1, 50)]
    assert counts[0] == counts[1]


def _query_count(client, model, rows):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    for number in range(LoginEvent.objects.count(), rows):
        account = GoogleAccount(sub=str(number), email=f"{number}@example.com")
        make_user(account, phone=f"55119876{number:05}")
        make_session(account, now=timezone.now())
        lid_map.learn(f"{number + 100}@lid", None, now=timezone.now())
        LoginEvent.objects.create(occurred_at=timezone.now(), outcome="signed_in")
    with CaptureQueriesContext(connection) as queries:
        assert client.get(admin_url(model)).status_code == 200
    return len(queries)

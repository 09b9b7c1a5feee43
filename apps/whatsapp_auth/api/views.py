"""The API of bots (identities, links) and of people (their own session)."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.common.access import PUBLIC, Access
from apps.common.scopes import Scope
from apps.whatsapp_auth import lid_map, oidc, people
from apps.whatsapp_auth.api import serializers as shapes
from apps.whatsapp_auth.senders import LidPair, extract_lid_pairs
from apps.whatsapp_auth.services import links, logins, senders, sessions

READ_IDENTITIES = Access(scope=Scope.WHATSAPP_READ, permission="whatsapp_auth.view_lidmapping")
LEARN_IDENTITIES = Access(scope=Scope.WHATSAPP_WRITE, permission="whatsapp_auth.change_lidmapping")
ISSUE_LINKS = Access(scope=Scope.WHATSAPP_WRITE, permission="whatsapp_auth.add_linkuse")
OWN_SESSION = Access(person=True)


class ResolveView(APIView):
    """Who is behind a message, a user or many LIDs."""

    access = {"post": READ_IDENTITIES}

    @extend_schema(
        request=shapes.ResolveSerializer, responses={200: shapes.ResolveAnswerSerializer}
    )
    def post(self, request: Request) -> Response:
        """Answer one sender, or one result per LID that tells hidden, unknown and error apart."""
        question = _checked(shapes.ResolveSerializer, request)
        now = timezone.now()
        if "lids" in question:
            answers = lid_map.resolve_many(question["lids"], now=now)
            rows = [
                {"lid": lid, "status": answers[lid].status, "jid": answers[lid].jid}
                for lid in question["lids"]
            ]
            return Response({"results": rows})
        value = question.get("message", question.get("user"))
        return Response({"sender": senders.resolve_sender(value, now=now)})


class LearnView(APIView):
    """What bots learn about LIDs."""

    access = {"post": LEARN_IDENTITIES}

    @extend_schema(request=shapes.LearnSerializer, responses={200: shapes.LearnAnswerSerializer})
    def post(self, request: Request) -> Response:
        """Store pairs, or those found in a payload; bad ones are reported beside the others."""
        lesson = _checked(shapes.LearnSerializer, request)
        pairs = [LidPair(pair["lid"], pair["jid"] or None) for pair in lesson.get("pairs", [])]
        pairs += extract_lid_pairs(lesson.get("payload"))
        report = lid_map.learn_many(pairs, source=lesson["source"], now=timezone.now())
        return Response(
            {
                "written_count": len(report.written),
                "reconciled_count": len(report.reconciled),
                "skipped_count": report.skipped_count,
                "rejected": report.rejected,
            }
        )


class LoginLinksView(APIView):
    """Login links for bots to hand on."""

    access = {"post": ISSUE_LINKS}

    @extend_schema(request=shapes.LinkRequestSerializer, responses={201: shapes.LinkSerializer})
    def post(self, request: Request) -> Response:
        """Make a link for the sender of a private message, or for a phone."""
        wish = _checked(shapes.LinkRequestSerializer, request)
        actor, now = request.user.get_username(), timezone.now()
        if "message" in wish:
            link = senders.issue_link_to_sender(
                wish["message"], text=wish.get("text"), actor=actor, now=now
            )
        else:
            link = links.issue_link(wish["user_id"], actor=actor, now=now)
        return Response(shapes.LinkSerializer(link).data, status=status.HTTP_201_CREATED)


class RevokeLinksView(APIView):
    """The end of open links."""

    access = {"post": ISSUE_LINKS}

    @extend_schema(request=shapes.RevokeLinksSerializer, responses={204: None})
    def post(self, request: Request) -> Response:
        """Void every link of the phone that was written up to now."""
        wish = _checked(shapes.RevokeLinksSerializer, request)
        links.revoke_links(wish["user_id"], actor=request.user.get_username(), now=timezone.now())
        return Response(status=status.HTTP_204_NO_CONTENT)


class GoogleSessionView(APIView):
    """Sign-in for programs that get a Google ID token by themselves, and the session in use."""

    access = {"post": PUBLIC, "get": OWN_SESSION, "delete": OWN_SESSION}

    @extend_schema(request=shapes.IdTokenSerializer, responses={201: shapes.PersonSerializer})
    def post(self, request: Request) -> Response:
        """Sign in with an ID token and a login link's hint; the answer sets the cookie."""
        wish = _checked(shapes.IdTokenSerializer, request)
        account = oidc.check_id_token(wish.get("google_id_token") or wish["id_token"])
        done = logins.sign_in(
            account,
            request.data,
            confirmed_changes=wish["changes"],
            address=people.client_address(request._request),  # noqa: SLF001 (the Django request)
            now=timezone.now(),
        )
        person = people.person_from_session(done.opened.session)
        response = Response(shapes.PersonSerializer(person).data, status=status.HTTP_201_CREATED)
        people.set_session_cookie(response, done.opened)
        return response

    @extend_schema(responses={200: shapes.PersonSerializer})
    def get(self, request: Request) -> Response:
        """The signed-in person."""
        return Response(shapes.PersonSerializer(request.user).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request) -> Response:
        """Sign out."""
        person: Any = request.user
        sessions.end_own_session(person.google_sub, person.session_ref, now=timezone.now())
        response = Response(status=status.HTTP_204_NO_CONTENT)
        people.clear_session_cookie(response)
        return response


class SessionsView(APIView):
    """A person's own sessions."""

    access = {"get": OWN_SESSION}

    @extend_schema(responses={200: shapes.SessionSerializer(many=True)})
    def get(self, request: Request) -> Response:
        """All that are alive, the newest first."""
        person: Any = request.user
        living = sessions.living_sessions(now=timezone.now()).filter(
            google_user_id=person.google_sub
        )
        rows = [
            {
                "session_ref": one.session_ref,
                "expires_at": one.expires_at,
                "last_seen_at": one.last_seen_at,
                "is_current": one.session_ref == person.session_ref,
            }
            for one in map(people.person_from_session, living)
        ]
        return Response(shapes.SessionSerializer(rows, many=True).data)


class SessionView(APIView):
    """One of a person's own sessions."""

    access = {"delete": OWN_SESSION}

    @extend_schema(responses={204: None})
    def delete(self, request: Request, ref: str) -> Response:
        """End it."""
        person: Any = request.user
        sessions.end_own_session(person.google_sub, ref, now=timezone.now())
        return Response(status=status.HTTP_204_NO_CONTENT)


def _checked(serializer_class: type[Any], request: Request) -> dict[str, Any]:
    """The request's data in the serializer's shape; anything else is answered with 400."""
    serializer = serializer_class(data=request.data)
    serializer.is_valid(raise_exception=True)
    data: dict[str, Any] = serializer.validated_data
    return data

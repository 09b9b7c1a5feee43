"""Routes of this app below `/api/v1/`."""

from django.urls import URLPattern, URLResolver, path

from apps.whatsapp_auth.api import views

urlpatterns: list[URLPattern | URLResolver] = [
    path("whatsapp/senders:resolve", views.ResolveView.as_view(), name="whatsapp-resolve"),
    path("whatsapp/senders:learn", views.LearnView.as_view(), name="whatsapp-learn"),
    path("whatsapp/login-links", views.LoginLinksView.as_view(), name="whatsapp-login-links"),
    path(
        "whatsapp/login-links:revoke", views.RevokeLinksView.as_view(), name="whatsapp-revoke-links"
    ),
    path(
        "whatsapp/auth/google/session", views.GoogleSessionView.as_view(), name="whatsapp-session"
    ),
    path("whatsapp/sessions", views.SessionsView.as_view(), name="whatsapp-sessions"),
    path("whatsapp/sessions/<slug:ref>", views.SessionView.as_view(), name="whatsapp-session-one"),
]

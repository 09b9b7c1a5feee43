"""Pages of sign-in and of one's own account."""

from django.conf import settings
from django.urls import URLPattern, URLResolver, path

from apps.whatsapp_auth import views
from apps.whatsapp_auth.site_urls import normalize_path

_login = normalize_path(settings.WHATSAPP_LOGIN_PATH).removeprefix("/")

urlpatterns: list[URLPattern | URLResolver] = [
    path(_login, views.login, name="login"),
    path(f"{_login}google/", views.start_google, name="login-google"),
    path(f"{_login}callback/", views.google_callback, name="login-callback"),
    path(f"{_login}confirm/", views.confirm, name="login-confirm"),
    path(f"{_login}finish/", views.finish, name="login-finish"),
    path("logout/", views.logout, name="logout"),
    path("account/", views.account, name="account"),
    path("account/sessions/<slug:ref>/end/", views.end_session, name="account-end-session"),
    path("account/notices/dismiss/", views.dismiss_notices, name="account-dismiss-notices"),
    path("account/export/", views.export, name="account-export"),
    path("account/erase/", views.erase, name="account-erase"),
]

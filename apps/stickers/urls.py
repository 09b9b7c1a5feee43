"""Pages of the catalogue."""

from django.urls import path, reverse_lazy
from django.views.generic import RedirectView

urlpatterns = [path("", RedirectView.as_view(url=reverse_lazy("admin:index")), name="home")]

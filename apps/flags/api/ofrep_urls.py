"""Routes of OFREP, at the addresses that its clients expect."""

from django.urls import path

from apps.flags.api.ofrep import BulkEvaluationView, FlagEvaluationView

urlpatterns = [
    path("evaluate/flags", BulkEvaluationView.as_view(), name="ofrep-bulk"),
    path("evaluate/flags/<str:key>", FlagEvaluationView.as_view(), name="ofrep-flag"),
]

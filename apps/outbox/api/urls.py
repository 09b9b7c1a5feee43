"""Routes of this app below `/api/v1/`."""

from rest_framework.routers import SimpleRouter

from apps.outbox.api import views, webhooks

router = SimpleRouter(trailing_slash=False)
router.register("outbox/events", views.EventViewSet, basename="outbox-event")
router.register("outbox/dead-letters", views.DeadLetterViewSet, basename="outbox-dead-letter")
router.register("outbox/paused-types", views.PausedTypeViewSet, basename="outbox-paused-type")
router.register("outbox/webhooks", webhooks.WebhookViewSet, basename="outbox-webhook")
router.register(
    "outbox/webhook-attempts", webhooks.WebhookAttemptViewSet, basename="outbox-webhook-attempt"
)
router.register("outbox/event-types", webhooks.EventTypeViewSet, basename="outbox-event-type")
urlpatterns = router.urls

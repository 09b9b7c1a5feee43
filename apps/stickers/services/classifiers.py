"""Which classifier is in use: the service that the settings name, or the built-in one."""

from django.conf import settings

from apps.stickers.classifier import Classifier, PixelClassifier
from apps.stickers.http_classifier import HttpClassifier, HttpOptions


def current_classifier() -> Classifier:
    """A classifier for one cycle."""
    if not settings.CLASSIFIER_URL:
        return PixelClassifier()
    return HttpClassifier(
        HttpOptions(
            url=settings.CLASSIFIER_URL,
            token=settings.CLASSIFIER_TOKEN,
            version=settings.CLASSIFIER_VERSION,
            timeout_seconds=settings.CLASSIFIER_TIMEOUT_SECONDS,
            attempts=settings.CLASSIFIER_ATTEMPTS,
            concurrency=settings.CLASSIFIER_CONCURRENCY,
            nsfw_threshold=settings.CLASSIFIER_NSFW_THRESHOLD,
        )
    )

"""Names: what is accepted, and encodings that never meet."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from apps.delivery.names import (
    dns_label,
    is_dns_label,
    is_host,
    is_label_value,
    kubernetes_label_value,
)

TRICKY = st.one_of(
    st.text(max_size=80),
    st.sampled_from(["a.b", "a-b", "A-B", "123", "true", "abc-", "x" * 63, "x" * 64, "", "é", "e"]),
)


@pytest.mark.parametrize("text", ["loja", "a", "a-1", "x" * 63])
def test_a_name_that_fits_stays(text):
    assert dns_label(text) == text
    assert kubernetes_label_value(text) == text


@pytest.mark.parametrize("text", ["123", "true", "abc-", "x" * 64, "Loja", "a_b", "", "é", "a\n"])
def test_other_text_is_encoded(text):
    assert dns_label(text) != text
    assert is_dns_label(dns_label(text))


@given(TRICKY)
def test_encodings_are_accepted_by_kubernetes(text):
    assert is_dns_label(dns_label(text))
    assert is_label_value(kubernetes_label_value(text))
    assert len(dns_label(text, max_length=20)) <= 20


@given(TRICKY, TRICKY)
def test_different_ids_stay_different(one, other):
    assume(one != other)
    assert dns_label(one) != dns_label(other)
    assert kubernetes_label_value(one) != kubernetes_label_value(other)


@given(TRICKY)
def test_nobody_can_choose_the_name_of_another_id(text):
    encoded = dns_label(text)
    assert encoded == text or dns_label(encoded) != encoded
    value = kubernetes_label_value(text)
    assert value == text or kubernetes_label_value(value) != value


@pytest.mark.parametrize("host", ["a.co", "xn--mnchen-3ya.de", "x" * 63 + ".com"])
def test_hosts(host):
    assert is_host(host)


@pytest.mark.parametrize(
    "host", ["a.b", "localhost", "*.a.com", "a.com\n", "a.com.", "A.com", "::1", "1.2.3.4", "a.1"]
)
def test_what_is_no_host(host):
    assert not is_host(host)

"""Which URLs may be registered, which addresses are public, and which waits make sense."""

from datetime import UTC, datetime

import pytest

from app.core.outbound import AllowList, BadAddress, check_url, excerpt_of, is_public, parse_retry_after

NOTHING = AllowList()
NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "url",
    [
        "https://receiver.example",
        "https://receiver.example/hooks?community=1&x=%0d%0a",
        "https://receiver.example:443/",
        "HTTPS://Receiver.Example:8443/hooks",
        "https://xn--bcher-kva.example/",
        "https://my_hooks.receiver.example/",
        "https://8.8.8.8/",
        "https://[2606:4700:4700::1111]:8443/",
        "https://receiver.example/" + "a" * (2048 - 25),
    ],
)
def test_public_https_urls_are_accepted(url):
    assert not check_url(url, NOTHING).trusted


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://receiver.example/", "https://"),
        ("ftp://receiver.example/", "https://"),
        ("//receiver.example/", "https://"),
        ("receiver.example", "https://"),
        ("", "https://"),
        ("https:/receiver.example", "https://"),
        ("https:///hooks", "host"),
        ("https://:443/", "host"),
        ("https://receiver.example:8080/", "443 or 8443"),
        ("https://receiver.example:0/", "1 to 65535"),
        ("https://receiver.example:99999/", "1 to 65535"),
        ("https://receiver.example:/", "one port"),
        ("https://receiver.example:443:443/", "one port"),
        ("https://user:pass@receiver.example/", "user name"),
        ("https://receiver.example@127.0.0.1/", "user name"),
        ("https://receiver.example/#part", "fragment"),
        ("https://receiver.example#@127.0.0.1/", "fragment"),
        ("https://receiver.example\\@127.0.0.1/", "backslash"),
        ("https://receiver.example/a b", "spaces"),
        ("https://receiver.example/\r\nX: 1", "spaces"),
        ("https://receiver.example/\0", "spaces"),
        ("https://bücher.example/", "ASCII"),
        ("https://receiver。example/", "ASCII"),
        ("https://１２７.0.0.1/", "ASCII"),
        ("https://receiver%2eexample/", "valid host"),
        ("https://receiver..example/", "valid host"),
        ("https://receiver.example./", "valid host"),
        ("https://-receiver.example/", "valid host"),
        ("https://" + "a" * 64 + ".example/", "valid host"),
        ("https://" + "a." * 130 + "example/", "valid host"),
        ("https://receiver.example/" + "a" * (2048 - 24), "2048"),
        ("https://localhost/", "full domain"),
        ("https://metadata/", "full domain"),
        ("https://127.0.0.1/", "private"),
        ("https://10.0.0.8:8443/", "private"),
        ("https://169.254.169.254/latest/meta-data/", "private"),
        ("https://127.1/", "four decimal"),
        ("https://2130706433/", "four decimal"),
        ("https://0x7f000001/", "four decimal"),
        ("https://0x7f.0.0.1/", "four decimal"),
        ("https://0177.0.0.1/", "four decimal"),
        ("https://receiver.0x7f/", "four decimal"),
        ("https://[::1]/", "private"),
        ("https://[::ffff:127.0.0.1]/", "private"),
        ("https://[::10.0.0.1]/", "private"),
        ("https://[64:ff9b::7f00:1]/", "private"),
        ("https://[fe80::1%25eth0]/", "host"),
        ("https://[::g]/", "host"),
        ("https://[1:2]/", "valid IPv6"),
    ],
)
def test_any_other_url_is_refused_with_its_reason(url, reason):
    with pytest.raises(BadAddress, match=reason):
        check_url(url, NOTHING)


@pytest.mark.parametrize(
    ("allowed", "url"),
    [
        ("localhost", "http://localhost:5000/hooks"),
        ("localhost", "https://LOCALHOST/"),
        ("localhost:5000", "http://localhost:5000/"),
        (" receiver , 127.0.0.1:80 ", "http://127.0.0.1/"),
        ("[::1]:9000", "http://[::1]:9000/"),
        ("[::1]", "http://[0:0::1]:9000/"),
        ("::1", "http://[::1]/"),
        ("Receiver.Test", "http://receiver.test/"),
    ],
)
def test_an_allowed_host_may_use_plain_http_and_any_port_not_excluded(allowed, url):
    assert check_url(url, AllowList.parse(allowed)).trusted


@pytest.mark.parametrize(
    ("allowed", "url"),
    [
        ("localhost:5000", "http://localhost:5001/"),
        ("localhost:5000", "http://localhost/"),
        ("localhost", "http://notlocalhost/"),
        ("receiver.test", "http://sub.receiver.test/"),
        ("receiver.test", "http://receiver.test.evil.example/"),
        ("receiver.test", "http://receiver.test@evil.example/"),
        ("127.0.0.1", "http://127.1/"),
        ("", "http://localhost/"),
    ],
)
def test_only_the_exact_host_is_allowed(allowed, url):
    with pytest.raises(BadAddress):
        check_url(url, AllowList.parse(allowed))


@pytest.mark.parametrize("entry", ["http://localhost", "*", "*.example.com", "localhost:", "a:99999", "a b"])
def test_an_allow_list_entry_that_is_no_host_is_named(entry):
    with pytest.raises(ValueError, match="allowed host") as caught:
        AllowList.parse(f"good.example,{entry}")
    assert entry in str(caught.value)


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "93.184.215.14", "100.63.255.255", "172.32.0.1", "2606:4700::1111", "::ffff:8.8.8.8"],
)
def test_public_addresses_are_public(address):
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",  # noqa: S104 - judged here, bound nowhere
        "0.1.2.3",
        "10.0.0.1",
        "100.64.0.1",
        "100.100.100.200",
        "127.0.0.1",
        "127.255.255.254",
        "168.63.129.16",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.8",
        "192.0.0.192",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::10.0.0.1",
        "::8.8.8.8",
        "::ffff:10.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:0:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "64:ff9b::a00:1",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:2::1",
        "2001:10::1",
        "2001:db8::1",
        "2002:a00:1::1",
        "3fff::1",
        "5f00::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
        "localhost",
        "127.1",
        "",
    ],
)
def test_every_other_address_is_not(address):
    assert not is_public(address)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0),
        ("30", 30),
        (" 30 ", 30),
        ("600", 600),
        ("601", 600),
        ("86400", 600),
        ("86401", None),
        ("Sun, 01 Mar 2026 12:00:45 GMT", 45),
        ("Sunday, 01-Mar-26 12:00:45 GMT", 45),
        ("Sun Mar  1 12:00:45 2026", 45),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0),
        ("Sun, 01 Mar 2026 13:00:00 GMT", 600),
        ("Fri, 01 Jan 2100 00:00:00 GMT", None),
        ("Sun, 99 Mar 2026 12:00:45 GMT", None),
        (None, None),
        ("", None),
        ("-1", None),
        ("+5", None),
        ("1e3", None),
        ("5.0", None),
        ("5, 6", None),
        ("NaN", None),
        ("9" * 5_000, None),
        ("٣", None),
        ("tomorrow", None),
    ],
)
def test_a_retry_after_is_seconds_or_a_date_within_reason(value, seconds):
    assert parse_retry_after(value, NOW) == seconds


def test_an_excerpt_is_one_kilobyte_that_never_ends_in_half_a_character():
    assert excerpt_of(b"a" * 5_000) == "a" * 1024
    assert excerpt_of("é".encode() * 5_000) == "é" * 512
    assert excerpt_of(b"a" + "é".encode() * 5_000) == "a" + "é" * 511
    assert excerpt_of("é".encode()[:1]) == "\ufffd"

"""Links to other sites, over real sockets: what they answer, whom we never ask, and what is remembered."""

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.launch.gate_views import found, page_text, view_of
from tests.launch.strange_site import StrangeSite, strange_site

from holdfast.launch.gates import link_cache, link_probe
from holdfast.launch.gates.external_links import GATE
from holdfast.launch.gates.link_cache import Answered, LinkCache
from holdfast.launch.gates.link_probe import Limits, is_public, probe

QUICK = Limits(spacing=0.0, per_link=30.0, in_total=60.0)


@pytest.fixture(scope="module")
def shared() -> Iterator[StrangeSite]:
    with strange_site() as made:
        yield made


@pytest.fixture
def site(shared: StrangeSite) -> StrangeSite:
    shared.asked.clear()
    shared.headers.clear()
    shared.most_at_once = 0
    return shared


def is_here(address: str) -> bool:
    return address == "127.0.0.1"


def asked(site: StrangeSite, *paths: str, limits: Limits = QUICK) -> list[Answered]:
    answers = probe([site.url(path) for path in paths], limits, may_connect=is_here)
    assert list(answers) == [site.url(path) for path in paths]
    return list(answers.values())


@pytest.mark.parametrize(
    ("path", "verdict", "methods"),
    [
        ("/status/200", "ok", "HEAD"),
        ("/status/204", "ok", "HEAD"),
        ("/status/404", "broken", "HEAD GET"),
        ("/status/410", "broken", "HEAD GET"),
        ("/status/403", "unsure", "HEAD GET"),
        ("/status/500", "unsure", "HEAD GET"),
        ("/status/429", "unsure", "HEAD GET"),
        ("/head/405/200", "ok", "HEAD GET"),
        ("/head/403/200", "ok", "HEAD GET"),
        ("/head/501/404", "broken", "HEAD GET"),
        ("/head/404/200", "ok", "HEAD GET"),
        ("/busy/0", "ok", "HEAD HEAD"),
        ("/busy/3600", "unsure", "HEAD"),
        ("/huge/200", "ok", "HEAD GET"),
        ("/huge/404", "broken", "HEAD GET"),
        ("/reset", "unreachable", "HEAD GET"),
        ("/garbage", "unreachable", "HEAD GET"),
        ("/moved/302/moved/302/moved/302/status/200", "ok", "HEAD HEAD HEAD HEAD"),
        ("/found/chain/3", "ok", "HEAD HEAD HEAD HEAD HEAD"),
        ("/found/chain/99", "unreachable", "HEAD HEAD HEAD HEAD HEAD HEAD"),
        ("/found/file", "unchecked", "HEAD"),
        ("/found/keys", "unchecked", "HEAD"),
    ],
)
def test_a_site_is_asked_no_more_than_is_needed(site: StrangeSite, path: str, verdict: str, methods: str) -> None:
    (answered,) = asked(site, path)

    assert answered.verdict == verdict, answered
    assert [method for method, _ in site.asked] == methods.split()
    assert not any("authorization" in one or "cookie" in one for one in site.headers)
    assert all(one["user-agent"].startswith("holdfast/") for one in site.headers)


def test_where_a_link_has_moved_for_good_is_told_and_a_detour_is_not(site: StrangeSite) -> None:
    for_good, twice, for_now, mixed, loop = asked(
        site, "/moved/301/status/200", "/moved/308/moved/301/status/200", "/moved/302/status/200",
        "/moved/301/moved/302/status/200", "/moved/301/moved/301",
    )  # fmt: skip

    assert [one.moved for one in (for_good, twice, for_now)] == [site.url("/status/200")] * 2 + [""]
    assert mixed.moved == site.url("/moved/302/status/200")
    assert loop.verdict == "unreachable"


def test_a_redirect_to_another_address_of_our_network_is_not_followed(site: StrangeSite) -> None:
    (answered,) = asked(site, "/found/at/127.0.0.2")

    assert (answered.verdict, site.asked) == ("unchecked", [("HEAD", "/found/at/127.0.0.2")])
    (answered,) = asked(site, "/found/at/localhost")  # every address that the name has counts, on whatever machine
    assert answered.verdict in ("ok", "unchecked")


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "169.254.169.254", "10.0.0.1", "192.168.1.1", "[::1]", "0.0.0.0", "2130706433",
     "127.1", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[fe80::1]", "224.0.0.1",
     "[::127.0.0.1]", "[::ffff:0:127.0.0.1]", "[64:ff9b:1::7f00:1]", "[fec0::1]", "192.0.0.192"],
)  # fmt: skip
def test_doors_of_our_own_network_are_not_knocked_at(site: StrangeSite, host: str) -> None:
    (answered,) = probe([site.url("/status/200", host)], QUICK).values()

    assert answered.verdict in ("unchecked", "unreachable")  # some machines cannot even look the name up
    assert site.asked == []


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "64:ff9b::808:808"])
def test_addresses_of_the_public_internet_may_be_asked(address: str) -> None:
    assert is_public(address)


def test_strange_addresses_and_dead_hosts_are_unreachable(site: StrangeSite) -> None:
    urls = ["http://127.0.0.1:1/x", "http://[bad/", "http://127.0.0.1:99999/", f"https://127.0.0.1:{site.port}/"]
    answers = probe(urls, QUICK, may_connect=is_here)

    assert [one.verdict for one in answers.values()] == ["unreachable"] * 4
    assert "TLS" in answers[urls[3]].detail
    (answered,) = asked(site, "/ü b/200")
    assert (answered.verdict, site.asked[-1]) == ("ok", ("HEAD", "/%C3%BC%20b/200"))


def test_who_hangs_holds_up_nobody_for_longer_than_the_time_for_all(site: StrangeSite) -> None:
    limits = Limits(spacing=0.0, per_link=0.5, in_total=1.5, per_host=1)
    first = asked(site, "/hang", limits=limits)
    late = probe([site.url("/status/200")], Limits(in_total=0.0), may_connect=is_here)

    assert [one.verdict for one in first] == ["unreachable"]
    assert [one.verdict for one in late.values()] == ["unchecked"]
    assert ("HEAD", "/status/200") not in site.asked


def test_one_host_is_asked_by_two_at_once_at_most_and_with_pauses() -> None:
    began = time.monotonic()
    with strange_site() as site:
        limits = Limits(spacing=0.02, in_total=60.0, per_link=30.0)
        answers = asked(site, *(f"/n{number}/200" for number in range(8)), limits=limits)

    assert {one.verdict for one in answers} == {"ok"}
    assert site.most_at_once <= 2
    assert time.monotonic() - began >= 7 * 0.02


def test_a_host_that_wants_to_be_left_alone_is_waited_for_and_not_called_slow() -> None:
    host = link_probe.Host(threading.Semaphore(1))
    began = time.monotonic()
    host.leave_alone(0.1)

    assert not host.wait_for(0.0, began + 0.05)
    assert host.wait_for(0.0, began + 60)
    assert time.monotonic() - began >= 0.1


def test_an_address_that_is_not_ascii_is_followed_as_it_was_meant(site: StrangeSite) -> None:
    (answered,) = asked(site, "/found/ü")

    assert (answered.verdict, site.asked[-1][1]) == ("ok", "/%C3%BC/200")


# --- what is remembered ------------------------------------------------------------------------------------------


def test_answers_are_remembered_for_their_time(tmp_path: Path) -> None:
    path = tmp_path / "links.json"
    answers = {"a": Answered("ok", "fine", "b"), "c": Answered("broken", "404"), "d": Answered("unchecked")}
    LinkCache(path).keep(answers)

    assert [LinkCache(path).get(url) for url in "acd"] == [answers["a"], answers["c"], None]
    rows = json.loads(path.read_text())
    for age, known in ((2 * 24 * 3600, [answers["a"], None]), (8 * 24 * 3600, [None, None]), (-60, [None, None])):
        path.write_text(json.dumps({url: row | {"at": time.time() - age} for url, row in rows.items()}))
        assert [LinkCache(path).get(url) for url in "ac"] == known
        assert LinkCache(path).get("c", stale=True) == answers["c"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff",
        b"[]",
        b'{"a": 1}',
        b'{"a": {"verdict": "ok"}}',
        b'{"a": {"verdict": [], "detail": "", "moved": "", "at": 1}}',
        b'{"a": ',
        b"[" * 100_000,
    ],
)
def test_a_broken_cache_is_an_empty_one(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "links.json"
    path.write_bytes(content)
    cache = LinkCache(path)

    assert cache.get("a") is None
    cache.keep({"a": Answered("ok")})
    assert LinkCache(path).get("a") == Answered("ok")


def test_a_cache_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    cache = LinkCache(tmp_path / "file" / "links.json")
    cache.keep({"a": Answered("ok")})

    assert cache.get("a") is None


def test_several_at_once_lose_nothing_and_the_oldest_go_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "links.json"
    caches = [LinkCache(path) for _ in range(8)]
    threads = [
        threading.Thread(target=cache.keep, args=({f"u{number}": Answered("ok")},))
        for number, cache in enumerate(caches)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(LinkCache(path).get(f"u{number}") for number in range(8))

    monkeypatch.setattr(link_cache, "_MOST", 3)
    LinkCache(path).keep({"new": Answered("ok")})
    assert len(json.loads(path.read_text())) == 3
    assert LinkCache(path).get("new")
    assert not list(tmp_path.glob("*.[0-9]*"))


# --- the gate ----------------------------------------------------------------------------------------------------


def gate(
    site: StrangeSite, *paths: str, profile: str = "ci", **links: Any
) -> tuple[list[tuple[str, str, int]], list[str]]:
    body = "\n".join(f"[x]({path if '://' in path else site.url(path)})" for path in paths) + "\n"
    view = view_of(page_text(body), profile=profile)
    view.links = {"private": True} | links
    checked = found(GATE, view)
    rows = [(finding.code, finding.anchor.rpartition("/")[2], finding.line) for finding in checked.findings]
    return rows, checked.notes


def test_the_gate_tells_what_is_broken_in_a_fixed_order_and_asks_each_address_once(site: StrangeSite) -> None:
    paths = [
        "/z/404",
        "/status/200#a",
        "/status/200#b",
        "/moved/301/status/201",
        "/a/410",
        "https://launch.example/docs/x/",
    ]
    rows, notes = gate(site, *paths)

    assert rows == [
        ("EXTERNAL_LINK_BROKEN", "410", 11),
        ("EXTERNAL_LINK_MOVED", "201", 10),
        ("EXTERNAL_LINK_BROKEN", "404", 7),
    ]
    assert site.asked.count(("HEAD", "/status/200")) == 1
    assert notes[0] == "4 links to other sites: 2 ok, 2 broken"
    assert {*GATE.severities["prod"].values()} == {"warn", "info"}


def test_what_is_known_is_not_asked_again_and_offline_nothing_is(site: StrangeSite, tmp_path: Path) -> None:
    cache = str(tmp_path / "links.json")
    first, _ = gate(site, "/c/404", "/c/200", cache=cache)
    site.asked.clear()
    second, notes = gate(site, "/c/404", "/c/200", cache=cache)
    offline, told = gate(site, "/c/404", "/c/200", "/new/404", cache=cache, offline=True)

    assert first == second == offline
    assert site.asked == []
    assert sum("known from before" in note for note in notes) == 2
    assert told[0] == "3 links to other sites: 1 ok, 1 broken, 1 unchecked"


def test_without_the_setting_nobody_in_our_network_is_asked(site: StrangeSite) -> None:
    rows, notes = gate(site, "/status/404", private=False)

    assert (rows, site.asked) == ([], [])
    assert notes[0] == "1 link to other sites: 1 unchecked"


def test_in_the_profile_local_nobody_is_asked() -> None:
    assert GATE.check(view_of(page_text("[x](http://127.0.0.1:1/)\n"))).skipped

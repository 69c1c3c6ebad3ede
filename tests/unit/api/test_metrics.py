"""The page of counters: complete, well formed, and not to be blown up by clients."""

from holdfast.api.metrics import Metrics


def lines(metrics: Metrics, host: dict[str, object] | None = None) -> list[str]:
    return metrics.render(host).decode().splitlines()


def test_a_histogram_counts_upwards_to_everything() -> None:
    metrics = Metrics()
    for seconds in (0.001, 0.3, 500.0):
        metrics.finished("/a", "GET", 200, seconds)
    page = lines(metrics)

    assert 'holdfast_http_request_duration_seconds_bucket{route="/a",le="0.001"} 1' in page
    assert 'holdfast_http_request_duration_seconds_bucket{route="/a",le="0.5"} 2' in page
    assert 'holdfast_http_request_duration_seconds_bucket{route="/a",le="+Inf"} 3' in page
    assert 'holdfast_http_request_duration_seconds_count{route="/a"} 3' in page


def test_methods_that_nobody_has_heard_of_are_one() -> None:
    metrics = Metrics()
    for number in range(100):
        metrics.finished("other", f"M{number}", 405, 0.0)

    assert 'holdfast_http_requests_total{route="other",method="other",status="405"} 100' in lines(metrics)


def test_the_numbers_of_the_host_are_named_by_the_way_to_them() -> None:
    host = {
        "restartCount": 2,
        "degraded": True,
        "state": "ready",
        "counters": {"workers_lost": 1},
        "a b": {"c": 0.5},
    }
    page = lines(Metrics(), dict(host))

    assert "holdfast_host_up 1" in page
    assert "holdfast_host_restart_count 2" in page
    assert "holdfast_host_degraded 1" in page
    assert "holdfast_host_counters_workers_lost 1" in page
    assert "holdfast_host_a_b_c 0.5" in page
    assert not [line for line in page if "ready" in line]


def test_every_series_is_introduced_once() -> None:
    introduced = [line for line in lines(Metrics(), {"x": 1}) if line.startswith("# TYPE")]

    assert len(introduced) == len(set(introduced)) >= 8

"""When NVML is let go of so that a laptop's GPU can fall asleep, and when it is taken up again."""

from __future__ import annotations

from gpumon_gui.telemetry.nvml.rest import FIRST_RETRY_S, GRACE_S, IDLE_S, LAST_RETRY_S, RestPolicy


def idle_until_release(policy: RestPolicy, start_s: float, limit_s: float = 2000.0) -> float | None:
    """Seconds of idleness, one look a second, until the policy lets go."""
    for passed in range(int(limit_s)):
        if policy.should_release(start_s + passed, idle=True):
            return float(passed)
    return None


def test_an_idle_gpu_is_let_go_after_a_while() -> None:
    assert idle_until_release(RestPolicy(), 100.0) == IDLE_S


def test_work_in_between_starts_the_wait_again() -> None:
    policy = RestPolicy()
    for second in range(int(IDLE_S)):
        assert not policy.should_release(float(second), idle=True)
    assert not policy.should_release(IDLE_S, idle=False)
    assert idle_until_release(policy, IDLE_S + 1) == IDLE_S


def test_it_stays_away_while_the_gpu_falls_asleep_and_sleeps() -> None:
    policy = RestPolicy()
    released = idle_until_release(policy, 0.0)
    assert released is not None
    for second in range(int(GRACE_S)):
        assert not policy.may_open(released + second, any_awake=second < 6)
    assert not policy.may_open(released + 3600, any_awake=False)
    assert policy.resting


def test_a_gpu_woken_by_somebody_is_looked_at_at_once() -> None:
    policy = RestPolicy()
    assert not policy.may_open(10.0, any_awake=False)
    assert policy.may_open(11.0, any_awake=True)
    assert not policy.resting


def test_a_gpu_that_does_not_fall_asleep_is_tried_later_and_later() -> None:
    policy = RestPolicy()
    now_s, gaps = 0.0, []
    for _ in range(7):
        waited = idle_until_release(policy, now_s)
        assert waited is not None
        gaps.append(waited)
        now_s += waited
        assert not policy.may_open(now_s + GRACE_S - 1, any_awake=True)  # still within the grace
        now_s += GRACE_S
        assert policy.may_open(now_s, any_awake=True)  # in vain: something else holds it
    assert gaps[0] == IDLE_S
    assert gaps[1] == FIRST_RETRY_S
    assert gaps[1:] == sorted(gaps[1:])
    assert gaps[-1] == LAST_RETRY_S


def test_work_makes_it_hopeful_again() -> None:
    policy = RestPolicy()
    now_s = 0.0
    for _ in range(5):
        now_s += idle_until_release(policy, now_s) or 0.0
        now_s += GRACE_S
        assert policy.may_open(now_s, any_awake=True)
    policy.should_release(now_s + 1, idle=False)
    now_s += LAST_RETRY_S
    assert idle_until_release(policy, now_s) == IDLE_S
    assert policy.may_open(now_s + IDLE_S + GRACE_S, any_awake=True)
    assert idle_until_release(policy, now_s + IDLE_S + GRACE_S) == FIRST_RETRY_S


def test_an_awake_gpu_is_opened_at_the_start() -> None:
    assert RestPolicy().may_open(0.0, any_awake=True)

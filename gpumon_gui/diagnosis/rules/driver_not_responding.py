"""Knows: a driver whose calls do not return. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.behaviour.parts import parts
from gpumon_gui.diagnosis.evidence import measured, told
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote


def _check(view: View) -> Outcome:
    responding = view.flag("driver.responding")
    stopped = view.signal("display-driver-stopped")
    if responding is False:
        return Hit(Confidence.HIGH, cite(view, "driver.responding", "driver.version") + quote(stopped))
    if stopped is not None:
        return Hit(Confidence.MEDIUM, quote(stopped) + cite(view, "driver.version"), severity=Severity.CRASHES)
    return CLEAR if responding else Lacks(("driver.responding",))


def _watch(view: View) -> Outcome:
    devices = [part for part in parts(view, "window.health.devices") if part.text("state") is not None]
    if not devices:
        return Lacks(("window.health.devices",))
    silent = [part for part in devices if part.text("state") == "not_answering"]
    if not silent:
        return CLEAR
    names = ", ".join(f"{part.label} ({part.text('name') or '?'})" for part in silent)
    return Hit(Confidence.HIGH, (measured(view, "window.health.devices", told(N_("{gpus}: no answer"), gpus=names)),))


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    if view.text("os.family") == "linux":
        return (
            advice.say(_LOG, "sudo dmesg | grep -Ei 'nvrm|xid|blocked for more than'"),
            advice.say(_RESTART),
            advice.say(_UPDATE),
        )
    return (advice.say(_WINDOWS_LOG), advice.say(_RESTART), advice.say(_UPDATE))


_LOG = N_("Read what the driver says in the kernel's log:")
_WINDOWS_LOG = N_("Look in Event Viewer, Windows Logs, System, for Display (4101) and nvlddmkm at that time.")
_RESTART = N_("Restart the computer; programs that hang in the driver cannot be ended otherwise.")
_UPDATE = N_("Install another version of the driver, and take back any overclocking.")

RULE = Rule(
    code="driver-not-responding",
    scope=Scope.MACHINE,
    step=4,
    severity=Severity.BLOCKS,
    title=N_("The GPU driver does not answer"),
    help=Help(
        what=N_("Whether calls into the driver return."),
        why=N_("While they hang, no program can start on the GPU, and running ones may stand still."),
        how=N_("A call that did not return in time, or the system's message that the driver stopped."),
        wrong=N_("A machine under extreme load can be slow to answer; one reset long ago does no harm now."),
        todo=N_("Restart, then update the driver; if it returns, check the card and its power."),
    ),
    check=_check,
    watch=_watch,
    watch_scope=Scope.MACHINE,
    advise=_advise,
    explains=("code-runs-on-cpu",),
)

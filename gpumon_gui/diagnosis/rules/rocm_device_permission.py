"""Knows: a user who may not open AMD's compute device. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, hardware
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote


def _check(view: View) -> Outcome:
    denied = next(
        (sign for sign in view.signals("kfd-open-failed") if "denied" in str(sign.values.get("reason", "")).lower()),
        None,
    )
    group = view.signal("rocm-not-in-group")
    if denied is not None or group is not None:
        return Hit(Confidence.HIGH, quote(denied, group) + cite(view, "gpus", "os.container"))
    access = view.text("rocm.kfd")
    if access is not None:
        return Hit(Confidence.HIGH, cite(view, "rocm.kfd", "rocm.groups", "gpus")) if access == "denied" else CLEAR
    if hardware.gpus(view) and "amd" not in hardware.vendors(view):
        return CLEAR
    return Lacks(("rocm.kfd",))


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    steps = [advice.say(_GROUPS, "sudo usermod -aG render,video $USER")]
    if hardware.in_container(view):
        command = (
            "docker run --device /dev/kfd --device /dev/dri --group-add $(getent group render | cut -d: -f3) IMAGE"
        )
        steps = [advice.say(_CONTAINER, command)]
    return (*steps, advice.check("rocminfo"))


_GROUPS = N_("Put yourself into the groups that may use the device, then log out and in again:")
_CONTAINER = N_("Give the container the devices and the number of the host's group render (numbers count, not names):")

RULE = Rule(
    code="rocm-device-permission",
    scope=Scope.MACHINE,
    step=4,
    severity=Severity.BLOCKS,
    title=N_("You may not open AMD's compute device /dev/kfd"),
    help=Help(
        what=N_("Whether the user may open /dev/kfd and the render devices."),
        why=N_("They belong to the groups render and video. Who is in neither gets no GPU, while another user does."),
        how=N_('"Permission denied" for /dev/kfd, or what rocminfo says about groups.'),
        wrong=N_('Another error than "Permission denied" (such as "Cannot allocate memory") has another cause.'),
        todo=N_("Join the groups, and log in again."),
    ),
    check=_check,
    advise=_advise,
    explains=("code-runs-on-cpu",),
)

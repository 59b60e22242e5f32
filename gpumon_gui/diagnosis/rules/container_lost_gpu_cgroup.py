"""Knows: a container that lost its right to the GPU while it ran. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, hardware, machine
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote


def _check(view: View) -> Outcome:
    unknown = view.signal("nvml-unknown-error")
    if unknown is None:
        return Lacks(("log",))
    if hardware.in_container(view) is False or view.signal("container-nvml-fails-at-start", "no-cgroups-setting"):
        return CLEAR
    reloaded = view.signal("systemd-reloaded")
    facts = cite(view, "os.container", "driver.nvidia_smi_works")
    if machine.is_wsl(view) and reloaded is None:
        return Hit(Confidence.LOW, quote(unknown) + facts)
    return Hit(Confidence.HIGH if reloaded else Confidence.MEDIUM, quote(unknown, reloaded) + facts)


def _advise(_view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(_RESTART, "docker restart CONTAINER"),
        advice.say(_LAST, "sudo nvidia-ctk system create-dev-char-symlinks --create-all"),
        advice.say(_DRIVER, '"exec-opts": ["native.cgroupdriver=cgroupfs"]'),
        advice.check("docker exec CONTAINER nvidia-smi"),
    )


_RESTART = N_("Restart the container, with its name in place of CONTAINER; that gives it the GPU again:")
_LAST = N_(
    "So that it lasts, create the links that systemd needs for the device files on the host (at each start of the "
    "host):"
)
_DRIVER = N_("Or let Docker manage control groups itself, in /etc/docker/daemon.json:")

RULE = Rule(
    code="container-lost-gpu-cgroup",
    scope=Scope.MACHINE,
    step=5,
    severity=Severity.BLOCKS,
    title=N_("The container lost access to the GPU while it ran"),
    help=Help(
        what=N_("Whether a running container lost its permission for the GPU's device files."),
        why=N_(
            "When systemd reloads its units (updates do that), it forgets device rules that were added by NVIDIA's "
            "hook."
        ),
        how=N_(
            '"Failed to initialize NVML: Unknown Error" inside the container only; surest when it worked at the '
            "start or a reload is in the log."
        ),
        wrong=N_("If it fails from the very start, the toolkit's setting no-cgroups is more likely."),
        todo=N_("Restart the container; make the device rules last."),
    ),
    check=_check,
    advise=_advise,
    explains=("code-runs-on-cpu", "container-started-without-gpu"),
    links=("https://github.com/NVIDIA/nvidia-container-toolkit/issues/48",),
)

"""Knows: a container toolkit told not to set device rules. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, hardware, machine
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote


def _check(view: View) -> Outcome:
    unknown = view.signal("nvml-unknown-error")
    setting = view.signal("no-cgroups-setting")
    start = view.signal("container-nvml-fails-at-start")
    if unknown is None and machine.is_wsl(view) and hardware.in_container(view):
        unknown = view.signal("nvml-blocked-by-system")  # what WSL says when its device may not be opened
    if unknown is None and setting is None:
        return Lacks(("log",))
    if hardware.in_container(view) is False and setting is None:
        return CLEAR
    facts = cite(view, "os.container", "os.wsl", "driver.nvidia_smi_works")
    if setting is not None:
        return Hit(Confidence.HIGH if unknown else Confidence.LOW, quote(setting, unknown) + facts)
    if start is not None:
        return Hit(Confidence.HIGH, quote(start) + facts)
    # WSL keeps no device rules that a reload could drop: there it fails from the start.
    return Hit(Confidence.MEDIUM if machine.is_wsl(view) else Confidence.LOW, quote(unknown) + facts)


def _advise(_view: View, _hit: Hit) -> tuple[Step, ...]:
    setting = (
        "sudo nvidia-ctk config --set nvidia-container-cli.no-cgroups=false --in-place && sudo systemctl restart docker"
    )
    return (
        advice.say(_SET, setting),
        advice.say(_ROOTLESS),
        advice.check("docker run --rm --gpus all ubuntu nvidia-smi"),
    )


_SET = N_("Set no-cgroups to false in /etc/nvidia-container-runtime/config.toml and restart Docker:")
_ROOTLESS = N_("Only rootless Docker or Podman needs no-cgroups = true.")

RULE = Rule(
    code="container-no-cgroups-misconfigured",
    scope=Scope.MACHINE,
    step=5,
    severity=Severity.BLOCKS,
    title=N_("Containers get no permission for the GPU: the toolkit's setting no-cgroups is on"),
    help=Help(
        what=N_("Whether NVIDIA's container toolkit is told not to set device rules."),
        why=N_(
            "With no-cgroups = true under a Docker that runs as root, the device files are there but may not be opened."
        ),
        how=N_('"Failed to initialize NVML: Unknown Error" inside a container from its start, or the setting itself.'),
        wrong=N_("The same error later in the life of a container is a lost device rule."),
        todo=N_("Turn the setting off and restart Docker."),
    ),
    check=_check,
    advise=_advise,
    explains=("code-runs-on-cpu", "container-started-without-gpu"),
)

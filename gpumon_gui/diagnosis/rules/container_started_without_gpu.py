"""Knows: a container that was given no GPU. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, hardware
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

_NO_DEVICE = (
    "torch-no-driver",
    "torch-no-gpus",
    "nvidia-smi-not-found",
    "tf-kernel-driver-not-running",
    "cuda-no-device",
    "cuda-error-303",
)


def _check(view: View) -> Outcome:
    inside = hardware.in_container(view)
    banner = view.signal("container-without-driver")
    if inside is False:
        return CLEAR
    if banner is not None:
        return Hit(Confidence.HIGH, quote(banner) + cite(view, "os.container"))
    if inside is None:
        return Lacks(("os.container",))
    refused = view.signal("docker-no-gpu-driver", "docker-runtime-unknown", "nvml-unknown-error", "cuda-error-804")
    if view.flag("driver.nvidia_smi_works") is True or refused is not None:
        return CLEAR
    files = view.get("driver.device_files")
    library = next((sign for sign in view.signals("library-missing") if sign.values.get("name") == "cuda"), None)
    none = view.signal(*_NO_DEVICE) or library
    facts = cite(view, "os.container", "driver.device_files", "driver.nvidia_smi_works", "gpu_count")
    if isinstance(files, list | tuple):
        own = [file for file in files if "/nvidia" in str(file) or "/dxg" in str(file)]
        return CLEAR if own else Hit(Confidence.HIGH, facts + quote(none))
    if none is not None:
        return Hit(Confidence.MEDIUM, quote(none) + facts)
    if view.flag("driver.nvidia_smi_works") is False and view.number("gpu_count") in (0, None):
        return Hit(Confidence.MEDIUM, facts)
    return Lacks(("driver.device_files",))


def _advise(_view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(_START, "docker run --gpus all IMAGE"),
        advice.say(_COMPOSE),
        advice.check("ls /dev/nvidia* && nvidia-smi"),
    )


_START = N_(
    "Start the container anew with its GPUs (Podman: --device nvidia.com/gpu=all), with your image in place of IMAGE:"
)
_COMPOSE = N_(
    "In a compose file, reserve them under deploy, resources, reservations, devices with the capability gpu; in "
    "Kubernetes, ask for nvidia.com/gpu."
)

RULE = Rule(
    code="container-started-without-gpu",
    scope=Scope.MACHINE,
    step=5,
    severity=Severity.BLOCKS,
    title=N_("The container was started without a GPU"),
    help=Help(
        what=N_("Whether the container was given the host's GPUs."),
        why=N_("A container sees no GPU unless it is asked for at its start. Nothing warns of it then."),
        how=N_("The program runs in a container and finds no device file /dev/nvidia*, or no driver."),
        wrong=N_("The host itself may have no working driver: run nvidia-smi there."),
        todo=N_("Start the container again and ask for its GPUs."),
    ),
    check=_check,
    advise=_advise,
    explains=("code-runs-on-cpu", "driver-module-not-loaded", "nvidia-smi-not-on-path", "no-gpu-in-this-machine"),
    links=("https://docs.docker.com/engine/containers/resource_constraints/#gpu",),
)

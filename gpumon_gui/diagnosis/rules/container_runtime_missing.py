"""Knows: a container engine that does not know NVIDIA's GPUs. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote


def _check(view: View) -> Outcome:
    refused = view.signal("docker-no-gpu-driver", "docker-runtime-unknown", "cdi-device-unknown")
    if refused is not None:
        return Hit(Confidence.HIGH, quote(refused) + cite(view, "driver.nvidia_smi_works", "os.name"))
    failed = view.signal("container-cli-failed")
    reason = str(failed.values.get("reason", "")).lower() if failed is not None else ""
    if failed is not None and "load library failed" in reason and not view.signal("smi-no-driver"):
        # The toolkit is there but finds no driver library: none on the host, or a snap's own view of the file system.
        return Hit(Confidence.LOW, quote(failed) + cite(view, "driver.nvidia_smi_works"))
    return Lacks(("log",))


def _advise(_view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(_INSTALL, "sudo apt install nvidia-container-toolkit"),
        advice.say(_CONFIGURE, "sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker"),
        advice.say(_CDI, "sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml"),
        advice.say(_SNAP, "snap list docker"),
        advice.check("docker run --rm --gpus all ubuntu nvidia-smi"),
    )


_INSTALL = N_("Install NVIDIA's container toolkit on the host (its package source must be set up first, see the link):")
_CONFIGURE = N_("Tell Docker of it and restart Docker:")
_CDI = N_("For Podman or CDI, describe the devices instead:")
_SNAP = N_(
    "Docker installed as a snap, or Docker Desktop on Linux, does not use it: install Docker Engine instead. See:"
)

RULE = Rule(
    code="container-runtime-missing",
    scope=Scope.MACHINE,
    step=5,
    severity=Severity.BLOCKS,
    title=N_(
        "The container engine cannot pass NVIDIA GPUs on: the NVIDIA Container Toolkit is missing or not configured"
    ),
    help=Help(
        what=N_("Whether the container engine knows NVIDIA's GPUs."),
        why=N_("Without the toolkit a container cannot be started with a GPU at all, although the host works."),
        how=N_(
            "What Docker or Podman says when it is asked for a GPU: no device driver with the capability gpu, no "
            "runtime nvidia, unknown CDI device."
        ),
        wrong=N_("Not wrong for these messages. Only the way of installation may differ."),
        todo=N_("Install and configure the toolkit on the host, then restart the engine."),
    ),
    check=_check,
    advise=_advise,
    explains=("container-started-without-gpu", "code-runs-on-cpu"),
    links=("https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/install-guide.html",),
)

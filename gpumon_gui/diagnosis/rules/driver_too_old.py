"""Knows: a driver older than the program's CUDA needs. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, hardware, machine
from gpumon_gui.diagnosis.compat.drivers import driver_runs, minimum_driver
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote
from gpumon_gui.diagnosis.versions import text

#: CUDA levels from here down are no NVIDIA driver of this decade: a stray libcuda on a machine with an AMD card.
_ODD_LEVEL = 10_020


def _check(view: View) -> Outcome:
    if hardware.has_nvidia(view) is False or hardware.no_driver(view):
        return CLEAR  # "insufficient" is also what is said where there is no driver at all
    printed = view.signal("torch-driver-too-old")
    asked = view.signal("container-needs-newer-driver", "cuda-error-222")
    insufficient = view.signal("cuda-error-35")
    level = machine.driver_cuda(view)
    for framework, path, build in hardware.builds(view):
        if level is not None and not driver_runs(level, build):
            evidence = cite(view, "driver.version", "driver.cuda_version", path) + quote(printed or insufficient)
            values = {"framework": framework, "build": text(build), "driver": text(level)}
            return Hit(Confidence.HIGH, evidence, values, title=_TITLE_KNOWN)
    if printed is not None:
        found = printed.values.get("found")
        odd = isinstance(found, int) and found <= _ODD_LEVEL and hardware.has_nvidia(view) is None
        evidence = quote(printed) + cite(view, "driver.version", "driver.cuda_version")
        return Hit(Confidence.MEDIUM if odd else Confidence.HIGH, evidence)
    if asked is not None:
        return Hit(Confidence.HIGH, quote(asked) + cite(view, "driver.version", "driver.cuda_version"))
    if insufficient is not None:
        # The same error comes without any driver and with a stub library.
        known = view.known("driver.version") or view.known("driver.cuda_version")
        return Hit(Confidence.HIGH if known else Confidence.MEDIUM, quote(insufficient) + cite(view, "driver.version"))
    if level is not None and hardware.builds(view):
        return CLEAR
    return Lacks(("driver.cuda_version",) if level is None else ("torch.cuda_build", "tensorflow.cuda_build"))


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    steps = []
    windows = advice.is_windows(view)
    needed = [minimum_driver(build, windows=windows or machine.is_wsl(view)) for _, _, build in hardware.builds(view)]
    known = [version for version in needed if version is not None]
    if known:
        steps.append(advice.say(_INSTALL_AT_LEAST, version=text(max(known))))
    else:
        steps.append(advice.say(_INSTALL))
    if hardware.in_container(view):
        steps.append(advice.say(_ON_THE_HOST))
    elif machine.is_wsl(view):
        steps.append(advice.say(_IN_WINDOWS))
    elif view.text("os.family") == "linux":
        steps.append(advice.say(_LINUX_COMMAND, "sudo ubuntu-drivers install && sudo reboot"))
    level = machine.driver_cuda(view)
    if view.known("torch.version") and level is not None:
        steps.append(advice.say(_OR_OLDER_BUILD, driver=text(level)))
    steps.append(advice.check("nvidia-smi"))
    return tuple(steps)


_TITLE_KNOWN = N_("The NVIDIA driver is too old: {framework} needs CUDA {build}, the driver offers CUDA {driver}")
_INSTALL = N_("Install the newest NVIDIA driver for your card from nvidia.com, then restart the computer.")
_INSTALL_AT_LEAST = N_("Install an NVIDIA driver of version {version} or newer, then restart the computer.")
_ON_THE_HOST = N_("The driver comes from the host: update it there; nothing inside the container helps.")
_IN_WINDOWS = N_("WSL uses the driver of Windows: update it in Windows; install no driver inside WSL.")
_LINUX_COMMAND = N_("On Ubuntu, this installs the recommended driver:")
_OR_OLDER_BUILD = N_("Or install a build of the framework made for CUDA {driver} or older.")

RULE = Rule(
    code="driver-too-old",
    scope=Scope.ENVIRONMENT,
    step=6,
    severity=Severity.BLOCKS,
    title=N_("The NVIDIA driver is too old for this program"),
    help=Help(
        what=N_("Whether the driver is new enough for the CUDA version that the framework was built with."),
        why=N_("A driver that does not know this CUDA version refuses to start it, so no GPU is found."),
        how=N_(
            "From CUDA 11 on, the driver must reach the first release of the build's major version (12.x runs on every "
            "driver that shows CUDA 12.0 or newer); before that, the build's own version. PyTorch's number is a CUDA "
            "level: 11040 means 11.4. PTX that a toolkit newer than the driver made is the exception."
        ),
        wrong=N_(
            'Not wrong when both versions are known. "Driver version is insufficient" alone also appears without any '
            "driver, and on machines whose only card is from another maker."
        ),
        todo=N_("Update the driver, in a container on the host and for WSL in Windows; or install an older build."),
    ),
    check=_check,
    advise=_advise,
    explains=("code-runs-on-cpu", "driver-module-not-loaded"),
    links=("https://docs.nvidia.com/deploy/cuda-compatibility/",),
)

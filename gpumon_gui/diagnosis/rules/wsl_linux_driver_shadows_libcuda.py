"""Knows: a Linux driver installed inside WSL. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

_WSL_FOLDER = "/usr/lib/wsl"


def _check(view: View) -> Outcome:
    wsl = view.flag("os.wsl")
    if wsl is False or view.text("os.family") in ("windows", "macos"):
        return CLEAR
    loaded = view.signal("libcuda-from")
    path = str(loaded.values.get("path", "")) if loaded is not None else ""
    package = view.signal("linux-driver-package")
    no_device = view.signal("cuda-no-device", "cuda-error-100", "torch-no-driver", "torch-no-gpus")
    facts = cite(view, "os.wsl", "driver.nvidia_smi_works", "driver.libcuda_copies")
    foreign = [copy for copy in view.items("driver.libcuda_copies") if _WSL_FOLDER not in str(copy)]
    if wsl is not True:
        return Lacks(("os.wsl",))
    if view.signal("nvml-blocked-by-system") is not None:
        return CLEAR
    if path:
        return CLEAR if path.startswith(_WSL_FOLDER) else Hit(Confidence.HIGH, quote(loaded) + facts)
    if package is not None or foreign:
        failing = no_device is not None or view.flag("torch.cuda_available") is False
        sure = package is not None or failing
        return Hit(Confidence.HIGH if sure else Confidence.LOW, quote(package, no_device) + facts)
    if no_device is not None and view.flag("driver.nvidia_smi_works") is True:
        return Hit(Confidence.MEDIUM, quote(no_device) + facts)
    return CLEAR if view.items("driver.libcuda_copies") else Lacks(("driver.libcuda_copies",))


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(
            _SEE, "ldconfig -p | grep libcuda.so; dpkg -l | grep -E 'nvidia-driver|libnvidia-compute|nvidia-dkms'"
        ),
        advice.say(_REMOVE, "sudo apt purge 'nvidia-driver-*' 'libnvidia-compute-*' 'nvidia-dkms-*' && sudo ldconfig"),
        advice.say(_RESTART, "wsl.exe --shutdown"),
        advice.check(advice.run_python(view, "import torch; print(torch.cuda.is_available())")),
    )


_SEE = N_("libcuda.so.1 must come from /usr/lib/wsl/lib. See which one is found and which packages brought another:")
_REMOVE = N_(
    "Remove the Linux driver from WSL (the CUDA toolkit may stay; of NVIDIA's packages install only cuda-toolkit "
    "there):"
)
_RESTART = N_("Restart WSL:")

RULE = Rule(
    code="wsl-linux-driver-shadows-libcuda",
    scope=Scope.MACHINE,
    step=4,
    severity=Severity.BLOCKS,
    title=N_("A Linux driver installed inside WSL hides the one that Windows provides"),
    help=Help(
        what=N_("Whether CUDA's driver library in WSL is the one that Windows puts there."),
        why=N_("A libcuda of a Linux driver finds no device in WSL, although nvidia-smi works."),
        how=N_(
            "Where libcuda.so.1 is loaded from, or packages of a Linux driver; weaker: no device although nvidia-smi "
            "works in WSL."
        ),
        wrong=N_("An empty CUDA_VISIBLE_DEVICES gives the same picture: look at it first."),
        todo=N_("Remove the Linux driver from WSL; the driver of Windows is enough."),
    ),
    check=_check,
    advise=_advise,
    explains=("code-runs-on-cpu", "driver-module-not-loaded"),
    links=("https://docs.nvidia.com/cuda/wsl-user-guide/",),
)

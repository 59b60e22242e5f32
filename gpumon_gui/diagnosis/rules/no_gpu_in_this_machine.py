"""Knows: a machine in which the system finds no GPU of any maker. Must not know: the other rules.

A code of its own: without a card there is no driver to repair and no build to replace. It *blocks* where a program
asked for a GPU and met neither card nor driver, and where an installed build could not use a GPU either: then it comes
first, since no other build helps here. Else it is information, beside whatever else is wrong.
"""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, hardware, machine
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

#: What programs with CUDA in them say when they ask for a GPU and there is no driver or no card.
_ASKED = ("torch-no-driver", "torch-no-gpus", "torch-driver-init-failed", "cuda-error-35", "cuda-error-100")


def _check(view: View) -> Outcome:
    if not view.known("gpus"):
        return Lacks(("gpus",))
    if not hardware.no_gpu(view) or view.flag("driver.nvidia_smi_works") is True:
        return CLEAR
    if view.text("os.family") == "macos" or machine.is_wsl(view):
        return Lacks(("gpus",))  # their GPUs are not on a bus that can be listed
    asked = view.signal(*_ASKED)
    facts = cite(view, "gpus", "driver.nvidia_smi_found", "driver.kernel_module_loaded", "driver.cuda_library_error")
    sure = hardware.surely_no_gpu(view)
    severity = Severity.BLOCKS if asked is not None else Severity.INFO
    return Hit(Confidence.HIGH if sure else Confidence.MEDIUM, quote(asked) + facts, severity=severity)


def _watch(view: View) -> Outcome:
    """A program with a framework that works, where the sampler sees no GPU at all."""
    devices = view.get("window.seen.devices")
    if not isinstance(devices, list | tuple) or view.text("job.program.framework") is None:
        return Lacks(("window.seen.devices", "job.program.framework"))
    if devices:
        return CLEAR
    # A GPU whose driver is missing is not seen either: the diagnosis tells the two apart.
    seen = cite(view, "job.program.framework", "job.cpu.cores")
    return Hit(Confidence.MEDIUM, seen, {"framework": view.text("job.program.framework") or ""}, title=_WATCHED)


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    look = (
        "Get-PnpDevice -Class Display"
        if advice.is_windows(view)
        else "for device in /sys/bus/pci/devices/*; do grep -H ^0x03 $device/class; done"
    )
    if view.is_job:
        return (advice.say(_DIAGNOSE, "gpumon diagnose"), advice.say(_WITHOUT))
    return (
        advice.say(_SHOULD_HAVE_ONE),
        advice.say(_VIRTUAL),
        advice.say(_WITHOUT),
        Step(_LOOK, command=look, check=True),
    )


_WATCHED = N_("GPUMon sees no GPU in this machine: the program ({framework}) computes on the CPU")
_DIAGNOSE = N_("If there should be one, this tells whether the card, its driver or its installation is missing:")
_SHOULD_HAVE_ONE = N_(
    "If there should be one: check that the card sits firmly, has its power cables and is not switched off in the "
    "firmware's settings. Then install its driver."
)
_VIRTUAL = N_(
    "In a virtual machine or in the cloud, the GPU must be handed to the machine from outside: choose an instance type "
    "with a GPU, or pass the card through."
)
_LOOK = N_("To see which graphics cards the system finds (no line: none):")
_WITHOUT = N_(
    "If there is none: nothing is broken. Builds with CUDA compute on the CPU here too, as long as the program does "
    'not insist on "cuda". To use a GPU, run the program on a machine that has one.'
)

RULE = Rule(
    code="no-gpu-in-this-machine",
    scope=Scope.MACHINE,
    step=4,
    severity=Severity.INFO,
    title=N_("No GPU was found in this machine, so programs can only compute on the CPU"),
    help=Help(
        what=N_("Whether the system lists a GPU of any maker."),
        why=N_(
            "Without a card no driver and no build helps. Frameworks then speak of a missing driver, which misleads."
        ),
        how=N_(
            "The devices on the bus, or those that Windows lists, have no GPU among them, and nvidia-smi does not "
            "answer. It counts as a fault only where a program asked for a GPU, or where an installed build could not "
            "use one either."
        ),
        wrong=N_(
            "A card that is switched off by a laptop's graphics mode, or not handed to a virtual machine, is not on "
            "the list either."
        ),
        todo=N_("Add a GPU or run elsewhere; or let the program compute on the CPU."),
    ),
    check=_check,
    watch=_watch,
    needs=(("gpus",),),
    advise=_advise,
    explains=("code-runs-on-cpu", "cuda-visible-devices-hides-gpu", "nvidia-smi-not-on-path"),
    precedes=(
        "cuda-torch-replaced-by-dependency",
        "ort-cpu-package-shadows-gpu",
        "ort-cuda-libs-missing",
        "tf-cpu-only-build",
        "tf-cuda-extra-not-installed",
        "tf-cuda-libs-not-found",
        "tf-native-windows-unsupported",
        "torch-cpu-only-build",
    ),
)

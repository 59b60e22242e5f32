"""Knows: an AMD card that ROCm does not support. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, hardware
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote


def _check(view: View) -> Outcome:
    kernel = view.signal("kfd-gpu-not-supported")
    library = view.signal("rocm-arch-not-built")
    if "amd" not in hardware.vendors(view) and kernel is None and library is None:
        return CLEAR if hardware.gpus(view) and None not in hardware.vendors(view) else Lacks(("gpus", "log"))
    facts = cite(view, "gpus", "torch.version", "torch.hip_build")
    values = {"gpu": hardware.name_of(view, "amd")}
    if kernel is not None:
        return Hit(Confidence.HIGH, quote(kernel) + facts, values)
    if library is not None:
        return Hit(Confidence.MEDIUM, quote(library) + facts, values, severity=Severity.CRASHES)
    return Lacks(("log",))


def _advise(_view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(_LOOK, "rocminfo | grep gfx; sudo dmesg | grep kfd"),
        advice.say(_OVERRIDE, "export HSA_OVERRIDE_GFX_VERSION=10.3.0"),
        advice.say(_OTHER),
    )


_LOOK = N_("See the card's generation (gfx…) and compare it with the list of supported cards (see the link):")
_OVERRIDE = N_(
    "A card that is a close relative of a supported one can often pass for it; this is the value for RDNA 2 (gfx1030):"
)
_OTHER = N_("Older generations work with no ROCm of today: use the CPU, Vulkan-based programs, or another card.")

RULE = Rule(
    code="amd-gpu-unsupported-by-rocm",
    scope=Scope.MACHINE,
    step=7,
    severity=Severity.BLOCKS,
    title=N_("ROCm does not support this AMD card: {gpu}"),
    help=Help(
        what=N_("Whether the AMD card is of a generation that ROCm was built for."),
        why=N_(
            "Without code for its generation neither the kernel's compute driver nor the libraries can use the card."
        ),
        how=N_('The kernel says "not supported in kfd", or ROCm\'s libraries have no code for the card.'),
        wrong=N_("A missing code for the card can also come from a build for other cards of a supported generation."),
        todo=N_("Look the card up in AMD's list; try a close relative's code; else use another way."),
    ),
    check=_check,
    advise=_advise,
    explains=("rocm-device-permission", "code-runs-on-cpu", "amd-gpu-with-cuda-build"),
    links=("https://rocm.docs.amd.com/projects/install-on-linux/en/latest/reference/system-requirements.html",),
)

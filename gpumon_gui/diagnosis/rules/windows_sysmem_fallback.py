"""Knows: more memory given out than the card has. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.formatters import memory, percent
from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.behaviour.parts import Part, parts
from gpumon_gui.diagnosis.evidence import measured, told
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import GPU_MEMORY, Confidence, Severity, Step
from gpumon_gui.diagnosis.out_of_memory import first_numbers, written
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote
from gpumon_gui.diagnosis.spilling import FULL_SHARE

#: Windows itself keeps tens of MB there.
_GROWN_BYTES = 128 << 20
#: So much lies there only when it did not fit: pinned buffers of training are smaller.
_MUCH_BYTES = 1 << 30
_MUCH_SHARE = 0.1
#: A card that waits for the computer's memory draws little while it reads as busy.
_BUSY, _LOW_POWER = 0.8, 0.6
_WATCHED = N_(
    "{gpu} is full and the driver moves memory of the program into the computer's memory: {shared} lie there now, "
    "{grown} more than before"
)


def _check(view: View) -> Outcome:
    found = first_numbers(view)
    if found is None:
        return Lacks(("log",))
    signal, numbers = found
    native_linux = view.text("os.family") == "linux" and view.flag("os.wsl") is not True
    if not numbers.beyond_the_card or (native_linux and view.flag("os.wsl") is False):
        return CLEAR
    # On native Linux the driver does not do this; without a word about WSL it may still be WSL.
    confidence = Confidence.MEDIUM if native_linux else Confidence.HIGH
    return Hit(confidence, quote(signal) + cite(view, "os.family", "os.wsl"), written(numbers))


def _watch(view: View) -> Outcome:
    family = view.text("os.family")
    native_linux = family == "linux" and view.flag("os.wsl") is not True
    devices = [part for part in parts(view, "job.memory.devices") if part.number("shared_bytes") is not None]
    if native_linux or (not devices and family in ("linux", "darwin")):
        return CLEAR
    if not devices:
        return Lacks(("job.memory.devices",))
    worst = max(devices, key=lambda part: part.number("shared_bytes") or 0.0)
    shared, grown = worst.number("shared_bytes") or 0.0, worst.number("shared_growth_bytes") or 0.0
    total, full = worst.number("total_bytes"), worst.number("dedicated_share")
    # Linux tells shared memory of cards too, which is another thing there.
    windows = family == "windows" or view.flag("os.wsl") is True or worst.text("shared_source") in ("pdh", "dxgi")
    if not windows or full is None or total is None:
        return Lacks(("os.family",)) if not windows else Lacks(("job.memory.devices",))
    grows = grown >= _GROWN_BYTES
    if full < FULL_SHARE or not (grows or shared >= max(_MUCH_BYTES, _MUCH_SHARE * total)):
        return CLEAR
    values = {"gpu": worst.label, "shared": memory(shared), "grown": memory(max(grown, 0.0))}
    power = worst.number("power_share")
    evidence = (
        measured(
            view,
            "job.memory.devices",
            told(N_("{gpu} dedicated {share} of {total}"), gpu=worst.label, share=percent(full), total=memory(total)),
            told(N_("shared {size} (+{grown})"), size=memory(shared), grown=memory(max(grown, 0.0))),
            told(N_("power {share} of its limit"), share=percent(power)) if power is not None else None,
        ),
    )
    return Hit(Confidence.HIGH if grows or _waits(view, worst) else Confidence.MEDIUM, evidence, values, title=_WATCHED)


def _waits(view: View, part: Part) -> bool:
    power, busy = part.number("power_share"), view.number("job.memory.gpu_busy_mean")
    return power is not None and busy is not None and busy >= _BUSY and power <= _LOW_POWER


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    need_less = advice.say(
        N_("Need less memory: a smaller batch or image, half precision, or fewer models loaded at once.")
    )
    if view.flag("os.wsl"):
        return (
            advice.say(
                N_("WSL spills too and ignores the setting of Windows' control panel: only needing less helps.")
            ),
            need_less,
        )
    return (
        advice.say(
            N_(
                "To get an error instead of a crawl: NVIDIA Control Panel, Manage 3D settings, CUDA - Sysmem Fallback "
                'Policy, choose "Prefer No Sysmem Fallback" for the program\'s python.exe (driver 546.01 and newer).'
            )
        ),
        need_less,
    )


RULE = Rule(
    code="windows-sysmem-fallback",
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.SLOWS,
    title=N_(
        "The driver moved GPU memory into the computer's memory: {allocated} are in use on a GPU that has {total}"
    ),
    help=Help(
        what=N_("Whether the driver puts GPU memory into the computer's memory when the card is full."),
        why=N_(
            "Since driver 532/535 Windows does so instead of failing; everything then crawls, about ten times slower."
        ),
        how=N_(
            "A message says that more memory is allocated than the card has. Watched: dedicated memory at least 93 "
            "percent full while shared memory grows, or at least 1 GB and a tenth of the card lies there."
        ),
        wrong=N_("Pinned buffers lie in shared memory too, without harm."),
        todo=N_("Need less memory, or forbid the fallback in the NVIDIA Control Panel."),
    ),
    check=_check,
    watch=_watch,
    needs=(("signal:torch-out-of-memory",),),
    advise=_advise,
    short_of=(GPU_MEMORY,),
    explains=(
        "oom-genuine",
        "oom-fragmentation",
        "oom-other-process",
        "gpu-memory-nearly-full",
        "host-to-device-transfer-bound",
    ),
    links=("https://nvidia.custhelp.com/app/answers/detail/a_id/5490",),
)

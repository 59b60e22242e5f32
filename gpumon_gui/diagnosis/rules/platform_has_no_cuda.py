"""Knows: systems that CUDA does not exist for. Must not know: builds, drivers."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, machine
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

_SIGNALS = ("torch-not-compiled-with-cuda", "pip-no-matching-version")


def _check(view: View) -> Outcome:
    system = machine.system(view)
    if system is None:
        return Lacks(("os.family",))
    if system != "macos":
        return CLEAR
    signal = view.signal("torch-not-compiled-with-cuda") or next(
        (found for found in view.signals("pip-no-matching-version") if "+cu" in str(found.values.get("wanted", ""))),
        None,
    )
    if signal is None and view.signal("mps-in-use") is not None:
        return CLEAR  # nobody asked for CUDA, and the GPU computes
    return Hit(Confidence.HIGH, cite(view, "os.family", "os.version") + quote(signal))


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(
            N_(
                'On Macs with Apple silicon PyTorch uses the GPU as device "mps" instead of "cuda"; TensorFlow '
                "through the package tensorflow-metal. For CUDA, use a machine with an NVIDIA GPU under Windows or "
                "Linux."
            )
        ),
        advice.check(advice.run_python(view, "import torch; print(torch.backends.mps.is_available())")),
    )


RULE = Rule(
    code="platform-has-no-cuda",
    scope=Scope.ENVIRONMENT,
    step=3,
    severity=Severity.BLOCKS,
    title=N_("There is no CUDA for macOS"),
    help=Help(
        what=N_("Whether CUDA exists for this operating system at all."),
        why=N_("NVIDIA ended CUDA for macOS with version 10.2. No current framework has a CUDA build for it."),
        how=N_("The operating system is macOS."),
        wrong=N_("Not wrong; very old Macs with NVIDIA GPUs and macOS 10.13 can run builds of that time."),
        todo=N_('Use the device "mps", or another machine.'),
    ),
    check=_check,
    needs=(("os.family",),),
    advise=_advise,
    explains=("torch-cpu-only-build", "pip-index-missing-for-cuda-wheel", "tf-cpu-only-build", "code-runs-on-cpu"),
    links=("https://developer.apple.com/metal/pytorch/",),
)

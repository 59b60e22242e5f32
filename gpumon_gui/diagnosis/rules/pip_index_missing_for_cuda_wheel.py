"""Knows: a CUDA wheel asked from an index that has none. Must not know: Pythons without a wheel."""

from __future__ import annotations

import re

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, machine, remedies
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, quote

_TAG = re.compile(r"\+(cu\d+)")
_PACKAGES = ("torch", "torchvision", "torchaudio", "xformers")


def _check(view: View) -> Outcome:
    for signal in view.signals("pip-no-matching-version"):
        offered = [str(version) for version in signal.values.get("offered", ())]
        wanted = str(signal.values.get("wanted", ""))
        if signal.values.get("package") not in _PACKAGES or not _TAG.search(wanted) or not offered:
            continue
        if any("+" in version for version in offered):
            return CLEAR  # the index has CUDA builds, only not this one
        if machine.system(view) == "macos":
            return CLEAR
        return Hit(Confidence.HIGH, quote(signal, view.signal("pip-index")), _values(wanted))
    for signal in view.signals("uv-no-version"):
        wanted = str(signal.values.get("wanted", ""))
        if _TAG.search(wanted):
            return Hit(Confidence.MEDIUM, quote(signal), _values(wanted))
    known = view.signal("pip-no-matching-version", "uv-no-version") is not None
    return CLEAR if known else Lacks(("log",))


def _values(wanted: str) -> dict[str, str]:
    tag = _TAG.search(wanted)
    return {"wanted": wanted.lstrip("="), "variant": tag.group(1) if tag else ""}


def _advise(view: View, hit: Hit) -> tuple[Step, ...]:
    variant, wanted = hit.values["variant"], hit.values["wanted"]
    index = f"{advice.PYTORCH_INDEX}/{variant}"
    packages = f"torch=={wanted}"
    mirror = advice.pip_install(view, packages, index=f"{remedies.PYTORCH_MIRROR}/{variant}")
    return (
        advice.step(advice.pip_install(view, packages, index=index)),
        Step(remedies.MIRROR, {"site": "download.pytorch.org"}, mirror),
        advice.check(advice.run_python(view, remedies.TORCH_WORKS)),
    )


RULE = Rule(
    code="pip-index-missing-for-cuda-wheel",
    scope=Scope.ENVIRONMENT,
    step=3,
    severity=Severity.BLOCKS,
    title=N_("The CUDA build {wanted} was asked from an index that has no CUDA builds"),
    help=Help(
        what=N_("Whether pip or uv looked for a +cu version where there is none."),
        why=N_("Versions such as 2.5.1+cu124 exist only on download.pytorch.org, not on PyPI or its mirrors."),
        how=N_(
            'pip lists the versions that it found, and they are plain ones. Were the list empty ("from versions: '
            "none\"), Python's version would be the cause."
        ),
        wrong=N_("A mirror of download.pytorch.org that is incomplete looks the same."),
        todo=N_("Give the index of that CUDA version with --index-url."),
    ),
    check=_check,
    needs=(("signal:pip-no-matching-version", "signal:uv-no-version"),),
    advise=_advise,
    frameworks=("torch",),
    links=("https://pytorch.org/get-started/previous-versions/",),
)

"""Knows: programs that want another cuDNN major than the one that is here. Must not know: no cuDNN at all."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, machine, remedies
from gpumon_gui.diagnosis.compat.cudnn import cudnn_major_of
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

_MISSING = "cudnn-library-missing"
#: CTranslate2 (faster-whisper, whisperX) before this one wants cuDNN 8, from it on 9 (its release notes).
_CT2_NINE = "4.5"


def _check(view: View) -> Outcome:
    missing = view.signal(_MISSING)
    if missing is None:
        return Lacks(("log",))
    wanted = cudnn_major_of(str(missing.values.get("file", "")))
    here = machine.cudnn_majors(view)
    if wanted is None or not here:
        return Lacks(("toolkit.cudnn_version", "torch.version"))
    if wanted in here:
        return CLEAR
    other = max(here)
    paths = sorted({*here.values(), "torch.version"})
    evidence = quote(missing) + cite(view, *paths)
    values = {"wanted": str(wanted), "here": str(other), "file": str(missing.values["file"])}
    return Hit(Confidence.HIGH, evidence, values)


def _advise(view: View, hit: Hit) -> tuple[Step, ...]:
    wanted = int(hit.values["wanted"])
    cuda = machine.torch_cuda(view)
    major = cuda[0] if cuda is not None else 12
    package = f"nvidia-cudnn-cu{major}"
    steps = []
    if machine.package_version(view, "ctranslate2", "faster-whisper") is not None or not view.known("packages"):
        requirement = f"ctranslate2{'<' if hit.values['here'] == '8' else '>='}{_CT2_NINE}"
        steps += [
            advice.say(
                N_(
                    "faster-whisper and other programs that use CTranslate2: take the version for cuDNN {here} (before "
                    "4.5 it wants 8, from 4.5 on it wants 9):"
                ),
                advice.pip_install(view, remedies.quoted(view, requirement)),
                here=hit.values["here"],
            )
        ]
    steps += [
        advice.say(
            N_(
                "Or give the program the cuDNN {wanted} that it wants, and put the folder of its files on the search "
                "path:"
            ),
            advice.pip_install(view, remedies.quoted(view, f"{package}=={wanted}.*"), options="--target cudnn-files"),
            wanted=str(wanted),
        ),
        advice.say(
            N_(
                "Do not replace the cuDNN of PyTorch with another major version: up to 2.3 it needs 8, from 2.4 on it "
                "needs 9."
            )
        ),
    ]
    return tuple(steps)


RULE = Rule(
    code="cudnn-major-mismatch",
    scope=Scope.ENVIRONMENT,
    step=8,
    severity=Severity.CRASHES,
    title=N_("The program wants cuDNN {wanted} ({file}), and cuDNN {here} is installed"),
    help=Help(
        what=N_("Whether the program wants the major version of cuDNN that is installed."),
        why=N_(
            "cuDNN 8 and 9 have different files, and one does not serve for the other. PyTorch up to 2.3 brings 8, "
            "from 2.4 on 9; CTranslate2 wants 9 from 4.5 on."
        ),
        how=N_("The name of the missing file tells the major version that is wanted; another one is known to be here."),
        wrong=N_("A copy that was not seen may be there and only not found."),
        todo=N_("Use the version of the program that wants the installed cuDNN, or add the wanted one."),
    ),
    check=_check,
    needs=((f"signal:{_MISSING}",),),
    advise=_advise,
    explains=("cudnn-missing-or-not-on-path",),
    links=("https://github.com/SYSTRAN/faster-whisper#gpu",),
)

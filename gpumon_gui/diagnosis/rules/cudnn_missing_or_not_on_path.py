"""Knows: cuDNN files that are nowhere on the search path. Must not know: other majors in their place."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, machine, remedies
from gpumon_gui.diagnosis.compat.cudnn import cudnn_files, cudnn_major_of, pip_package
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

_MISSING = "cudnn-library-missing"
_LOADS = "import ctypes; print(ctypes.CDLL('{}'))"


def _check(view: View) -> Outcome:
    missing = view.signal(_MISSING)
    if missing is None:
        return Lacks(("log",))
    file = str(missing.values.get("file", ""))
    wanted = cudnn_major_of(file)
    here = machine.cudnn_majors(view)
    values = {"file": file, "major": str(wanted or "")}
    evidence = quote(missing)
    if wanted in here:
        return Hit(Confidence.HIGH, evidence + cite(view, here[wanted]), values)
    if here:
        return CLEAR  # another major is here: another rule
    return Hit(Confidence.MEDIUM, evidence, values)


def _advise(view: View, hit: Hit) -> tuple[Step, ...]:
    cuda = machine.torch_cuda(view) or machine.toolkit_cuda(view)
    package = pip_package(cuda[0] if cuda is not None else 12) or "nvidia-cudnn-cu12"
    requirement = remedies.quoted(view, f"{package}=={hit.values['major']}.*") if hit.values["major"] else package
    if advice.is_windows(view):
        path = advice.say(
            N_("Then put the folder of its DLLs on PATH before the program starts:"),
            f'$env:PATH = "$({advice.python_of(view)} -c '
            '"import sysconfig; print(sysconfig.get_path(\'purelib\'))")\\nvidia\\cudnn\\bin;$env:PATH"',
        )
    else:
        path = advice.say(
            N_("Then put its folder on the loader's path before the program starts:"),
            f"export LD_LIBRARY_PATH=$({advice.python_of(view)} -c "
            "\"import sysconfig; print(sysconfig.get_path('purelib') + '/nvidia/cudnn/lib')\"):$LD_LIBRARY_PATH",
        )
    main = next(iter(cudnn_files(int(hit.values["major"] or 0), windows=advice.is_windows(view))), hit.values["file"])
    find = f"where.exe {main}" if advice.is_windows(view) else f'{advice.python_of(view)} -c "{_LOADS.format(main)}"'
    return (*remedies.pypi(view, requirement), path, advice.check(find))


RULE = Rule(
    code="cudnn-missing-or-not-on-path",
    scope=Scope.ENVIRONMENT,
    step=8,
    severity=Severity.CRASHES,
    title=N_("The cuDNN file {file} is missing, or not on the search path"),
    help=Help(
        what=N_("Whether the program finds the cuDNN that it wants."),
        why=N_(
            "Programs other than PyTorch (CTranslate2, ONNX Runtime, Paddle …) do not bring cuDNN. They look for it on "
            "the search path, and stop when they compute for the first time."
        ),
        how=N_(
            "The program names the file that it could not load, and no cuDNN of another major version is known to be "
            "here."
        ),
        wrong=N_("Another major version that was not seen may be installed instead."),
        todo=N_("Install the wanted major version into this environment, and put its folder on the search path."),
    ),
    check=_check,
    needs=((f"signal:{_MISSING}",),),
    advise=_advise,
    links=("https://docs.nvidia.com/deeplearning/cudnn/installation/latest/",),
)

"""Knows: CUDA files that are on PATH and that Python on Windows still does not find. Must not know: missing files."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, machine, remedies
from gpumon_gui.diagnosis.compat.drivers import cuda_of_library
from gpumon_gui.diagnosis.compat.tensorflow import LAST_WINDOWS_GPU
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote
from gpumon_gui.diagnosis.versions import at_least, same_series

#: From this Python on, PATH is not searched for the DLLs that a module needs.
_NOT_BY_PATH_FROM = (3, 8)


def _check(view: View) -> Outcome:
    system, version = machine.system(view), machine.tensorflow_version(view)
    if system is not None and system != "windows":
        return CLEAR
    if version is not None and version[:2] > LAST_WINDOWS_GPU:
        return CLEAR
    missing = machine.tensorflow_missing(view)
    if not missing:
        return Lacks(("log",))
    if system is None:
        return Lacks(("os.family",))
    on_path, toolkit = view.flag("toolkit.cuda_bin_on_path"), machine.toolkit_cuda(view)
    store = machine.is_store_python(view)
    if on_path is None and not store:
        return Lacks(("toolkit.cuda_bin_on_path",))
    if toolkit is None:
        return Lacks(("toolkit.cuda_version",))
    here = [
        signal
        for signal in missing
        if any(same_series(cuda, toolkit[:2]) for cuda in cuda_of_library(str(signal.values.get("library", ""))))
    ]
    if on_path is False or not here:
        return CLEAR
    python = machine.python_version(view)
    sure = (store and on_path is True) or (not store and python is not None and at_least(python, _NOT_BY_PATH_FROM))
    evidence = quote(here[0]) + cite(view, "toolkit.cuda_version", "toolkit.cuda_bin_on_path", "interpreter.version")
    values = {"library": str(here[0].values["library"])}
    return Hit(Confidence.HIGH if sure else Confidence.MEDIUM, evidence, values)


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    steps = []
    if machine.is_store_python(view):
        steps.append(
            advice.say(
                N_("Use the Python of python.org or conda: the one of the Microsoft Store is shut off from DLLs.")
            )
        )
    folder = view.text("toolkit.cuda_path") or "%CUDA_PATH%"
    steps += [
        advice.say(
            N_("Tell Python the folder before TensorFlow is imported, at the top of your program:"),
            f'import os; os.add_dll_directory(r"{folder}\\bin")'
            if "%" not in folder
            else 'import os; os.add_dll_directory(os.path.join(os.environ["CUDA_PATH"], "bin"))',
        ),
        advice.say(
            N_(
                "Or let conda bring the libraries: it puts them where Python looks. A DLL that this one depends on may "
                "be missing as well."
            )
        ),
        advice.check(advice.run_python(view, remedies.TF_WORKS)),
    ]
    return tuple(steps)


RULE = Rule(
    code="windows-dll-search-path",
    scope=Scope.ENVIRONMENT,
    step=8,
    severity=Severity.BLOCKS,
    title=N_("{library} is installed and on PATH, yet Python does not find it"),
    help=Help(
        what=N_("Whether a CUDA file that TensorFlow misses is there all the same."),
        why=N_(
            "From 3.8 on, Python on Windows does not search PATH for the DLLs of modules, and the Python of the "
            "Microsoft Store sees few folders."
        ),
        how=N_("The installed toolkit contains a file of this name, its bin folder is on PATH, and it was not found."),
        wrong=N_("The file may be damaged, or one that it depends on may be missing: Windows reports both alike."),
        todo=N_("Add the folder with os.add_dll_directory(), or use an environment that conda made."),
    ),
    check=_check,
    needs=(("signal:tf-library-not-found",),),
    advise=_advise,
    explains=("tf-cuda-libs-not-found",),
    frameworks=("tensorflow",),
    links=("https://docs.python.org/3/library/os.html#os.add_dll_directory",),
)

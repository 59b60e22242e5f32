"""Knows: ONNX Runtime's GPU package without its CUDA libraries. Must not know: the CPU package."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, machine, remedies
from gpumon_gui.diagnosis.compat.frameworks import LibraryNeeds, onnxruntime_gpu_wants
from gpumon_gui.diagnosis.facts import UNKNOWN, View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote
from gpumon_gui.diagnosis.versions import text

_SAID = "ort-cuda-libs-missing"
_WANTS = "ort-wants"  # printed when they fail to load
_CUDA = "CUDAExecutionProvider"
_DRIVERS_OWN = ("libcuda.so", "nvcuda.dll")
_PRELOAD = N_("ONNX Runtime finds its CUDA libraries only after preload_dlls()")
_LOAD_FIRST = N_("Then load them before the first session, in your program:")
_PRELOAD_CALL = "import onnxruntime; onnxruntime.preload_dlls()"


def _check(view: View) -> Outcome:
    said = view.signals(_SAID, _WANTS)
    sessions = view.get("onnxruntime.session_providers")
    available = view.items("onnxruntime.available_providers")
    evidence = cite(view, "onnxruntime.version", "onnxruntime.available_providers", "onnxruntime.session_providers")
    if _CUDA in view.items("onnxruntime.preloaded_session_providers"):
        paths = ("onnxruntime.session_providers", "onnxruntime.preloaded_session_providers")
        return Hit(Confidence.HIGH, cite(view, *paths), severity=Severity.INFO, title=_PRELOAD)
    if said and all(str(signal.values.get("library") or "").startswith(_DRIVERS_OWN) for signal in said):
        return CLEAR  # the CUDA libraries load; what is missing belongs to the driver
    if said:
        named = next((signal for signal in said if signal.values.get("library")), said[0])
        library = str(named.values.get("library") or "CUDA, cuDNN")
        return Hit(Confidence.HIGH, quote(named) + evidence, {"library": library})
    if sessions is UNKNOWN:
        return Lacks(("onnxruntime.session_providers", "log"))
    if _CUDA in available and _CUDA not in view.items("onnxruntime.session_providers"):
        if not machine.nvidia_gpus(view) and view.known("gpus"):
            return CLEAR  # nothing to use
        return Hit(Confidence.MEDIUM, evidence, {"library": "CUDA, cuDNN"})
    return CLEAR


def _needs(view: View) -> LibraryNeeds | None:
    version = view.version("onnxruntime.version") or machine.package_version(view, "onnxruntime-gpu")
    return onnxruntime_gpu_wants(version) if version is not None else None


def _advise(view: View, hit: Hit) -> tuple[Step, ...]:
    if hit.title == _PRELOAD:
        return (advice.say(_LOAD_FIRST, _PRELOAD_CALL),)
    needs = _needs(view)
    asked = view.signal(_WANTS)
    steps = []
    if needs is not None:
        steps.append(
            advice.say(
                N_("ONNX Runtime {version} wants CUDA {cuda} and cuDNN {cudnn} (their major versions count)."),
                version=view.text("onnxruntime.version")
                or text(machine.package_version(view, "onnxruntime-gpu") or ()),
                cuda=text(needs.cuda),
                cudnn=text(needs.cudnn),
            )
        )
    elif asked is not None:
        steps.append(
            advice.say(
                N_("This ONNX Runtime wants CUDA {cuda} and cuDNN {cudnn}."),
                cuda=str(asked.values.get("cuda")),
                cudnn=str(asked.values.get("cudnn")),
            )
        )
    if needs is None or needs.extra:
        extra = remedies.quoted(view, "onnxruntime-gpu[cuda,cudnn]")
        steps += remedies.pypi(view, extra)
        steps.append(
            advice.say(_LOAD_FIRST, _PRELOAD_CALL),
        )
    else:
        major = needs.cuda[0]
        steps += remedies.pypi(
            view, f"nvidia-cuda-runtime-cu{major} nvidia-cublas-cu{major} nvidia-cufft-cu{major} nvidia-cudnn-cu{major}"
        )
        steps.append(
            advice.say(N_("Import torch first when it has the same CUDA major version: its libraries then serve."))
        )
    # get_device() names the build; only a session tells, and that is what GPUMon opens.
    steps.append(advice.check(f"gpumon diagnose --python {advice.python_of(view)}"))
    return tuple(steps)


RULE = Rule(
    code="ort-cuda-libs-missing",
    scope=Scope.ENVIRONMENT,
    step=8,
    severity=Severity.SLOWS,
    title=N_("ONNX Runtime cannot load its CUDA libraries ({library}) and runs on the CPU"),
    help=Help(
        what=N_("Whether a session of ONNX Runtime really runs on CUDA."),
        why=N_(
            "get_available_providers() only says what the package was built with. When CUDA or cuDNN cannot be loaded, "
            "the session falls back to the CPU without an error."
        ),
        how=N_(
            "ONNX Runtime says that the library of its CUDA provider failed to load; or the providers of a session "
            "lack CUDA although the package has it."
        ),
        wrong=N_("A session may have been asked for the CPU on purpose."),
        todo=N_("Install the CUDA and cuDNN major versions that this ONNX Runtime wants."),
    ),
    check=_check,
    needs=(("onnxruntime.session_providers", f"signal:{_SAID}", f"signal:{_WANTS}"),),
    advise=_advise,
    explains=("code-runs-on-cpu",),
    frameworks=("onnxruntime",),
    links=("https://onnxruntime.ai/docs/execution-providers/CUDA-ExecutionProvider.html",),
)

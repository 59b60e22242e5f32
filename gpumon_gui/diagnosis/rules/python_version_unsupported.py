"""Knows: Pythons that a framework has no wheel for. Must not know: indexes without CUDA builds."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, machine, remedies
from gpumon_gui.diagnosis.compat.tensorflow import newest_tensorflow, tensorflow_releases, tensorflow_wants
from gpumon_gui.diagnosis.compat.torch import newest_with_python, torch_release, torch_releases
from gpumon_gui.diagnosis.facts import Signal, View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote
from gpumon_gui.diagnosis.versions import Version, parse_version, text

_NONE_FOUND = ("pip-no-matching-version", "pip-no-version")
_SAID = ("uv-no-wheel-for-python", "pip-other-python", "pip-wheel-not-for-platform")
_TORCH = ("torch", "pytorch", "torchvision", "torchaudio")
_TENSORFLOW = ("tensorflow", "tensorflow-gpu", "tensorflow-cpu", "tensorflow_gpu", "tensorflow-intel")
_OTHERS = ("jax", "jaxlib", "onnxruntime-gpu", "onnxruntime_gpu", "xformers", "cupy-cuda12x")
_NARROW = 32
#: The PEP 425 tag "cp310" names 3.10: the first digit is the major number.
_TAG_MAJOR_DIGITS = 1


def _check(view: View) -> Outcome:
    python = _python(view)
    said = next((signal for signal in view.signals(*_SAID) if _framework(signal)), None)
    failed = next(
        (signal for signal in view.signals(*_NONE_FOUND) if _framework(signal) and not _offered(signal)), None
    )
    signal = said or failed
    if signal is None:
        return _by_facts(view)
    values = {"package": str(signal.values.get("package", "")), "python": text(python) if python else "?"}
    evidence = quote(signal) + cite(view, "interpreter.version", "interpreter.bits", "interpreter.free_threaded")
    if view.number("interpreter.bits") == _NARROW or view.flag("interpreter.free_threaded") is True:
        return Hit(Confidence.HIGH, evidence, values)
    if said is not None:
        if said.kind == "pip-wheel-not-for-platform" and _tag_fits(said, python):
            return CLEAR  # the platform is the reason
        sure = said.kind != "pip-wheel-not-for-platform" or python is not None
        return Hit(Confidence.HIGH if sure else Confidence.MEDIUM, evidence, values)
    supported = _has_wheel(view, signal, python)
    if supported is False:
        return Hit(Confidence.HIGH, evidence, values)
    if supported is True:
        return CLEAR
    # An index that cannot be reached, or that lacks the package, prints the same.
    return Hit(Confidence.MEDIUM if signal.kind == "pip-no-matching-version" else Confidence.LOW, evidence, values)


def _by_facts(view: View) -> Outcome:
    """A 32-bit Python without frameworks: none of them has a wheel for it."""
    if view.number("interpreter.bits") == _NARROW:
        if any(view.text(f"{name}.version") for name in ("torch", "tensorflow", "jax")):
            return CLEAR
        values = {"package": "torch", "python": text(_python(view) or ()) or "?"}
        return Hit(Confidence.MEDIUM, cite(view, "interpreter.bits", "interpreter.version"), values)
    if any(isinstance(view.get(f"{name}.version"), str) for name in ("torch", "tensorflow", "jax")):
        return CLEAR
    return Lacks(("log",))


def _framework(signal: Signal) -> bool:
    return str(signal.values.get("package", "")).lower() in (*_TORCH, *_TENSORFLOW, *_OTHERS)


def _offered(signal: Signal) -> bool:
    return bool(signal.values.get("offered"))


def _python(view: View) -> Version | None:
    printed = view.signal("python-version", "pip-other-python")
    stated = machine.python_version(view)
    if stated is not None or printed is None:
        return stated
    return parse_version(str(printed.values.get("version") or printed.values.get("python") or ""))


def _tag_fits(signal: Signal, python: Version | None) -> bool:
    tag = str(signal.values.get("tag", ""))
    if python is None or len(tag) <= _TAG_MAJOR_DIGITS:
        return False
    return (int(tag[:1]), int(tag[1:])) == python[:2]


def _has_wheel(view: View, signal: Signal, python: Version | None) -> bool | None:
    """Whether there is a wheel of what was asked for this Python; None when the tables do not say."""
    package = str(signal.values.get("package", "")).lower()
    wanted = parse_version(str(signal.values.get("wanted", "")).lstrip("=<>~!"))
    system = machine.system(view) or "linux"
    if python is None:
        return None
    if package in _TORCH:
        if package in ("torch", "pytorch") and wanted is not None and len(wanted) > 1:
            release = torch_release(wanted)
            return release.has_python(python, system) if release is not None else None
        return newest_with_python(python, system) is not None
    if package in _TENSORFLOW:
        windows = system == "windows"
        if wanted is not None and len(wanted) > 1:
            build = tensorflow_wants(wanted)
            return build.has_python(python, windows=windows) if build is not None else None
        return newest_tensorflow(python) is not None
    return None


def _advise(view: View, hit: Hit) -> tuple[Step, ...]:
    if view.number("interpreter.bits") == _NARROW:
        return (
            advice.say(N_("This Python is a 32-bit program. Install the 64-bit Python, and make a new environment.")),
        )
    if view.flag("interpreter.free_threaded") is True:
        return (
            advice.say(
                N_("This is a free-threaded Python, which few packages support. Use the usual build of the same one.")
            ),
        )
    package = hit.values["package"].lower()
    wanted, pythons = _range(view, package)
    steps = [
        advice.say(
            N_("{package} {version} has wheels for Python {first} to {last}. Make an environment with such a Python:"),
            _new_environment(view, remedies.usual_python(pythons)),
            package=package,
            version=wanted,
            first=text(pythons[0]),
            last=text(pythons[-1]),
        ),
        advice.say(N_("Activate it, then install into it what you need.")),
    ]
    return tuple(steps)


def _range(view: View, package: str) -> tuple[str, tuple[Version, ...]]:
    signal = next((found for found in view.signals(*_SAID, *_NONE_FOUND) if _framework(found)), None)
    stated = signal.values.get("wanted") or signal.values.get("version") if signal is not None else None
    wanted = parse_version(str(stated or "").lstrip("=<>~!"))
    system = machine.system(view) or "linux"
    if package in _TENSORFLOW:
        build = (tensorflow_wants(wanted) if wanted else None) or tensorflow_releases()[-1]
        return build.latest, build.python_windows if system == "windows" else build.python
    release = (
        torch_release(wanted) if package == "torch" and wanted and len(wanted) > 1 else None
    ) or torch_releases()[-1]
    # Packages without a table of their own follow PyTorch's choice of Pythons closely enough for a first try.
    return (release.latest if package == "torch" else ""), release.python[system]


def _new_environment(view: View, python: Version) -> str:
    version = text(python)
    if view.text("interpreter.kind") == "conda":
        return f"conda create --name gpu python={version}"
    if advice.uses_uv(view):
        return f"uv venv --python {version}"
    if advice.is_windows(view):
        return f"py -{version} -m venv gpu-env"
    return f"python{version} -m venv gpu-env"


RULE = Rule(
    code="python-version-unsupported",
    scope=Scope.ENVIRONMENT,
    step=3,
    severity=Severity.BLOCKS,
    title=N_("There is no wheel of {package} for this Python ({python})"),
    help=Help(
        what=N_("Whether the framework is published for this Python: its version, 64 bits, and not free-threaded."),
        why=N_("Frameworks support a new Python months after it appears, and drop old ones. pip then finds nothing."),
        how=N_(
            'pip says "from versions: none" with an index that has the framework, or names the Pythons that it wants; '
            "the table of releases is compared with the Python."
        ),
        wrong=N_("An index that cannot be reached, or a mirror without the package, leads to the same message."),
        todo=N_("Make an environment with a Python that the framework supports."),
    ),
    check=_check,
    needs=(
        (
            "interpreter.bits",
            "torch.version",
            "tensorflow.version",
            "jax.version",
            *(f"signal:{kind}" for kind in (*_NONE_FOUND, *_SAID)),
        ),
    ),
    advise=_advise,
    explains=("pip-index-missing-for-cuda-wheel",),
    links=("https://pytorch.org/get-started/locally/", "https://www.tensorflow.org/install/source#gpu"),
)

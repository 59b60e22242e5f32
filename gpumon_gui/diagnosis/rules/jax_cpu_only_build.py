"""Knows: a JAX without CUDA in it. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, machine
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, quote

_SAYS = "jax-cuda-missing"
_NO_GPU = "jax-no-gpu-found"


def _check(view: View) -> Outcome:
    said, silent = view.signal(_SAYS), view.signal(_NO_GPU)
    if said is not None:
        return Hit(Confidence.HIGH, quote(said))
    # Releases before 0.4.7 say only this, whether CUDA or the driver is missing.
    if silent is None:
        return Lacks(("log",))
    return CLEAR if machine.only_other_vendors(view) else Hit(Confidence.LOW, quote(silent))


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    steps: tuple[Step, ...] = ()
    if advice.is_windows(view):
        steps = (advice.say(N_("JAX has no build with CUDA for Windows itself: do the following inside WSL2.")),)
    level = machine.driver_cuda(view)
    wanted = "cuda13" if level is not None and level >= (13, 0) else "cuda12"
    command = advice.pip_install(view, f'"jax[{wanted}]"', options="--upgrade")
    return (*steps, advice.step(command), advice.check(advice.run_python(view, "import jax; print(jax.devices())")))


RULE = Rule(
    code="jax-cpu-only-build",
    scope=Scope.ENVIRONMENT,
    step=3,
    severity=Severity.BLOCKS,
    title=N_("The installed JAX is a CPU build: the parts with CUDA are missing"),
    help=Help(
        what=N_("Whether JAX is installed together with its parts for CUDA."),
        why=N_('"pip install jax" brings a JAX for the CPU only, whatever driver or toolkit is installed.'),
        how=N_("JAX itself says that an NVIDIA GPU may be present and that no jaxlib with CUDA is installed."),
        wrong=N_("Older releases only say that no GPU was found: then the driver may be the cause as well."),
        todo=N_("Install JAX with the extra for CUDA 12 or 13, as the driver allows."),
    ),
    check=_check,
    needs=((f"signal:{_SAYS}", f"signal:{_NO_GPU}"),),
    advise=_advise,
    frameworks=("jax",),
    links=("https://docs.jax.dev/en/latest/installation.html",),
)

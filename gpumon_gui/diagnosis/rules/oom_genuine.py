"""Knows: memory that is too small for what one process needs. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import GPU_MEMORY, Confidence, Severity, Step
from gpumon_gui.diagnosis.out_of_memory import first_numbers, written
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, quote

_PLAIN = ("cuda-out-of-memory", "tf-out-of-memory", "xla-out-of-memory", "torch-out-of-memory")
_HANDLE = "cublas-handle-failed"

_NUMBERS = N_("The GPU's memory is too small for this program: it holds {held} of {total} and asked for {request} more")


def _check(view: View) -> Outcome:
    found = first_numbers(view)
    if found is not None:
        signal, numbers = found
        if numbers.beyond_the_card or numbers.others_are_the_cause or numbers.fragmented:
            return CLEAR
        most = numbers.held >= 0.7 * numbers.total or numbers.request > numbers.total
        confidence = Confidence.HIGH if most else Confidence.MEDIUM
        return Hit(confidence, quote(signal), written(numbers), title=_NUMBERS)
    refused = view.signal("tf-out-of-memory", "xla-out-of-memory")
    if refused is not None:  # the framework's own pool is full: this process took it
        return Hit(Confidence.MEDIUM, quote(refused))
    plain = view.signal("torch-out-of-memory", "cuda-out-of-memory")
    # Without numbers somebody else may hold the memory; that this process does is only the most frequent case.
    if plain is None:  # under torch, cuBLAS fails to start mostly because nothing is left for its workspace
        plain = next((signal for signal in view.signals(_HANDLE) if signal.framework == "torch"), None)
    return Hit(Confidence.LOW, quote(plain)) if plain is not None else Lacks(("log",))


def _advise(_view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(N_("See first who holds the memory: nvidia-smi lists the processes."), "nvidia-smi"),
        advice.say(
            N_(
                "Then need less: a smaller batch (with gradient accumulation), shorter inputs, mixed precision, "
                "gradient checkpointing, torch.no_grad() for evaluation, a smaller or quantised model."
            )
        ),
    )


RULE = Rule(
    code="oom-genuine",
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.CRASHES,
    title=N_("The GPU's memory is too small for what the program needs"),
    help=Help(
        what=N_("Whether the program itself needs more memory than the GPU has."),
        why=N_("It is the most frequent reason of an out-of-memory error, and no setting makes the memory larger."),
        how=N_(
            "From the numbers in the message: this process holds most of the memory, little of it lies idle, and "
            "others hold less than 30 percent. Without numbers it is only a guess. The hint at max_split_size_mb and "
            "fragmentation is printed with every such error and proves nothing."
        ),
        wrong=N_("A leak, such as losses kept with their graph, looks the same in one message."),
        todo=N_("Reduce what one step needs, or use a GPU with more memory."),
    ),
    check=_check,
    needs=(tuple(f"signal:{kind}" for kind in (*_PLAIN, _HANDLE)),),
    advise=_advise,
    short_of=(GPU_MEMORY,),
    explains=("gpu-memory-nearly-full",),
    links=("https://pytorch.org/docs/stable/notes/cuda.html#memory-management",),
)

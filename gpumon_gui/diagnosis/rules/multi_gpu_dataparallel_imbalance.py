"""Knows: torch's DataParallel. Must not know: the other rules."""

from __future__ import annotations

import re

from gpumon_gui.core.formatters import memory
from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.behaviour.parts import parts
from gpumon_gui.diagnosis.evidence import measured, told
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote
from gpumon_gui.diagnosis.script.sign import Sign, with_script
from gpumon_gui.diagnosis.script.sign import advise as better

_WRAPPER = "training.wrapper"
_GATHERS = "torch-dataparallel-in-use"
_CODE = "multi-gpu-dataparallel-imbalance"
_DDP = N_("One process per GPU, started by torchrun ({place}):")
_DDP_CODE = (
    'torch.distributed.init_process_group("nccl")\n'
    'local_rank = int(os.environ["LOCAL_RANK"])\n'
    "torch.cuda.set_device(local_rank)\n"
    "model = DistributedDataParallel(model.to(local_rank), device_ids=[local_rank])"
)
_WRAPS = N_("The script wraps its model in DataParallel, which gathers everything on GPU 0 ({place})")
_IN_SCRIPT = (
    Sign("script-data-parallel", Confidence.MEDIUM, _DDP, _DDP_CODE, title=_WRAPS),
    Sign("script-data-parallel-fallback", Confidence.LOW, _DDP, _DDP_CODE, title=_WRAPS, severity=Severity.INFO),
)
_DATA_PARALLEL = re.compile(r"(?i)(?:^|[^a-z])data ?parallel|^dp$")
#: GPU 0 holds outputs and gradients of all; a third more is no accident of the allocator.
_MORE, _ALIKE = 1.33, 1.2
_WORKS = 0.1
_ONE_GPU = 1.15
_WATCHED = N_(
    "One process drives {count} GPUs and {first} holds {more} where the others hold {size}: like DataParallel"
)


def _check(view: View) -> Outcome:
    count = view.number("gpu_count") or float(len(view.items("gpus")))
    return with_script(view, _known(view), _CODE, () if count == 1 else _IN_SCRIPT)


def _known(view: View) -> Outcome:
    gathers = view.signal(_GATHERS)
    wrapper = view.text(_WRAPPER)
    if gathers is not None:
        return Hit(Confidence.MEDIUM, quote(gathers))
    if wrapper is None:
        return Lacks((_WRAPPER,))
    if not _DATA_PARALLEL.search(wrapper):
        return CLEAR
    count = view.number("gpu_count") or float(len(view.items("gpus")))
    if not count:
        return Lacks(("gpu_count",))
    return CLEAR if count < 2 else Hit(Confidence.MEDIUM, cite(view, _WRAPPER, "gpu_count"))


def _watch(view: View) -> Outcome:
    devices = sorted(parts(view, "job.groups.devices"), key=lambda part: part.number("index") or 0.0)
    processes = view.number("job.groups.processes")
    if len(devices) < 2:
        return CLEAR if devices else Lacks(("job.groups.devices",))
    sizes = [size for part in devices if (size := part.number("memory_bytes")) is not None]
    if processes is None or len(sizes) < len(devices):
        return Lacks(("job.groups.devices",))
    framework = view.text("job.program.framework")
    works = all((part.number("busy") or 0.0) >= _WORKS for part in devices)
    turns = (view.number("job.groups.busy_sum") or 0.0) <= _ONE_GPU
    if processes != 1 or not works or turns or (framework and "pytorch" not in framework.lower()):
        return CLEAR
    first, others = sizes[0], sizes[1:]
    if first < _MORE * max(others) or max(others) > _ALIKE * min(others):
        return CLEAR
    values = {
        "count": str(len(devices)),
        "first": devices[0].label,
        "more": memory(first),
        "size": memory(max(others)),
    }
    held = (told("{gpu} {size}", gpu=part.label, size=memory(size)) for part, size in zip(devices, sizes, strict=True))
    # How it wraps the model is not seen: two GPUs that differ may have another reason.
    return Hit(
        Confidence.MEDIUM if len(devices) > 2 and framework else Confidence.LOW,
        (measured(view, "job.groups.devices", *held),),
        values,
        title=_WATCHED,
    )


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        *better(view, _IN_SCRIPT),
        advice.say(
            N_(
                "Use DistributedDataParallel, one process per GPU, also on one computer: it shares memory and work "
                "evenly and is faster."
            ),
            "torchrun --nproc_per_node=gpu train.py",
        ),
        advice.say(N_("Until then let the model return the loss, so that only small results are gathered on GPU 0.")),
    )


RULE = Rule(
    code=_CODE,
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.SLOWS,
    title=N_("DataParallel gathers everything on GPU 0: it fills first and the others wait"),
    help=Help(
        what=N_("Whether several GPUs are used through DataParallel."),
        why=N_(
            "One process drives all GPUs, and GPU 0 also holds outputs and gradients: twice the memory, less speed."
        ),
        how=N_("From what is known of the training, a warning that only DataParallel prints, or a script."),
        wrong=N_("With small outputs the imbalance is small."),
        todo=N_("Use DistributedDataParallel."),
    ),
    check=_check,
    watch=_watch,
    advise=_advise,
    frameworks=("torch",),
    links=("https://pytorch.org/docs/stable/generated/torch.nn.DataParallel.html",),
)

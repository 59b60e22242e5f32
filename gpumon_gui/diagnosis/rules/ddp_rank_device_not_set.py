"""Knows: ranks of a distributed training that do not choose their GPU. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.formatters import memory
from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.behaviour.parts import Part, parts
from gpumon_gui.diagnosis.evidence import measured, told
from gpumon_gui.diagnosis.facts import Signal, View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, quote
from gpumon_gui.diagnosis.script.sign import Sign, needs, with_script
from gpumon_gui.diagnosis.script.sign import advise as better

_UNKNOWN = "ddp-device-unknown"
_DUPLICATE = "nccl-duplicate-gpu"
_ROW = "smi-process"
#: A context without work; the largest seen is about 600 MiB.
_CONTEXT_MIB = 1000
_CODE = "ddp-rank-device-not-set"
_SET = N_("First thing in each rank, before any CUDA call ({place}):")
_SET_CODE = 'local_rank = int(os.environ["LOCAL_RANK"])\ntorch.cuda.set_device(local_rank)'
_IN_SCRIPT = (
    Sign(
        "script-ddp-bare-cuda",
        Confidence.MEDIUM,
        _SET,
        _SET_CODE,
        title=N_("The script puts every rank on the same GPU: none chooses its own ({place})"),
    ),
    Sign(
        "script-ddp-no-set-device",
        Confidence.LOW,
        _SET,
        _SET_CODE,
        title=N_("The script never calls torch.cuda.set_device: ranks may also open GPU 0 ({place})"),
    ),
)
#: A context works on nothing; single readings of 1 percent are noise.
_IDLE = 0.02
_SAME = N_("Several ranks use the same GPU: each must choose its own")


def _check(view: View) -> Outcome:
    return with_script(view, _printed(view), _CODE, _IN_SCRIPT)


def _printed(view: View) -> Outcome:
    duplicate = view.signal(_DUPLICATE)
    if duplicate is not None:
        return Hit(Confidence.HIGH, quote(duplicate), severity=Severity.CRASHES, title=_SAME)
    rows = view.signals(_ROW)
    strays = _strays(rows)
    unknown = view.signal(_UNKNOWN)
    if strays:
        return Hit(Confidence.HIGH if len(strays) > 1 or unknown else Confidence.MEDIUM, quote(*strays[:4], unknown))
    if unknown is not None:
        return Hit(Confidence.MEDIUM, quote(unknown))
    return CLEAR if rows else Lacks(("log",))


def _strays(rows: tuple[Signal, ...]) -> list[Signal]:
    """Small entries on GPU 0 of processes that work on another GPU."""
    elsewhere = {row.values["pid"] for row in rows if row.values["gpu"] != 0 and row.values["mib"] > _CONTEXT_MIB}
    return [
        row
        for row in rows
        if row.values["gpu"] == 0 and row.values["pid"] in elsewhere and row.values["mib"] <= _CONTEXT_MIB
    ]


def _watch(view: View) -> Outcome:
    devices = parts(view, "job.groups.devices")
    if len(devices) < 2:
        return CLEAR if devices else Lacks(("job.groups.devices",))
    strays = [part for part in parts(view, "job.groups.strays") if _is_context(part)]
    if not strays:
        return CLEAR
    evidence = measured(
        view,
        "job.groups.strays",
        *(
            told(
                N_("process {pid} of GPU {home} holds {size} on GPU {gpu}"),
                pid=f"{part.number('pid') or 0:.0f}",
                home=f"{part.number('home') or 0:.0f}",
                size=memory(part.number("bytes") or 0.0),
                gpu=f"{part.number('index') or 0:.0f}",
            )
            for part in strays[:6]
        ),
    )
    together = len({part.number("index") for part in strays}) == 1
    return Hit(Confidence.HIGH if together and len(strays) > 1 else Confidence.MEDIUM, (evidence,))


def _is_context(part: Part) -> bool:
    held, home, busy = part.number("bytes"), part.number("home_bytes"), part.number("busy")
    small = held is not None and held <= _CONTEXT_MIB * 2**20 and (home is None or held < home)
    return small and (busy is None or busy <= _IDLE)


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        *better(view, _IN_SCRIPT),
        advice.say(
            N_(
                'First thing in each rank, before any CUDA call: torch.cuda.set_device(int(os.environ["LOCAL_RANK"])). '
                'Load checkpoints with map_location="cpu", and use .to(local_rank) instead of .cuda().'
            )
        ),
        advice.check("nvidia-smi"),
    )


RULE = Rule(
    code=_CODE,
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.SLOWS,
    title=N_("Ranks of the distributed training also open GPU 0: they do not set their own device first"),
    help=Help(
        what=N_("Whether each rank of a distributed training keeps to its own GPU."),
        why=N_(
            "Every rank that opens GPU 0 takes some 500 MB there, so that GPU 0 runs out of memory first; collectives "
            "can hang when two ranks share a GPU."
        ),
        how=N_(
            "In the table of nvidia-smi, processes of other GPUs have a small entry on GPU 0; or torch warns that it "
            "does not know a rank's device; or NCCL finds two ranks on one GPU. In a script: DistributedDataParallel "
            "without torch.cuda.set_device. Watched: ranks hold a small idle entry on the GPU of another rank."
        ),
        wrong=N_("A program that uses several GPUs from one process looks similar in the table."),
        todo=N_("Call torch.cuda.set_device(local_rank) first in each rank."),
    ),
    check=_check,
    watch=_watch,
    needs=((f"signal:{_UNKNOWN}", f"signal:{_DUPLICATE}", f"signal:{_ROW}", *needs(*_IN_SCRIPT)),),
    advise=_advise,
    frameworks=("torch",),
    links=("https://pytorch.org/docs/stable/notes/ddp.html",),
)

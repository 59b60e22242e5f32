"""Knows: what frameworks say about loading data too slowly. Must not know: the other rules."""

from __future__ import annotations

from dataclasses import replace

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, in_profile
from gpumon_gui.diagnosis.behaviour.causes import input_pipeline as behaviour
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote
from gpumon_gui.diagnosis.script.sign import Sign, with_script
from gpumon_gui.diagnosis.script.sign import advise as better

_FEW = "lightning-few-workers"
_MANY = "torch-too-many-workers"
_WORKERS = "training.num_workers"

_CODE = "input-pipeline-bound"
_AUTOTUNE = "dataset = dataset.map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(64).prefetch(tf.data.AUTOTUNE)"
_FEW_IN_SCRIPT = N_("The script loads its data in the training process itself: the GPU may wait for it ({place})")
_MANY_IN_SCRIPT = N_("The script starts {workers} workers to load data: more than computers run well ({place})")
_TF_IN_SCRIPT = N_(
    "The script's input pipeline works on one element after the other: the GPU may wait for it ({place})"
)
_PYTHON_IN_SCRIPT = N_("The script's data comes from a Python generator, one process and one core ({place})")
_MANY_WORKERS = Sign(
    "script-loader-many-workers",
    Confidence.MEDIUM,
    N_("Begin with as many workers as there are free cores per GPU, mostly 4 to 16 ({place})."),
    title=_MANY_IN_SCRIPT,
)
_IN_SCRIPT = (
    _MANY_WORKERS,
    Sign(
        "script-keras-generator",
        Confidence.MEDIUM,
        N_(
            "Replace the generator by tf.data with parallel map and prefetch; a keras.utils.PyDataset (Sequence) can "
            "have workers ({place}):"
        ),
        _AUTOTUNE,
        title=_PYTHON_IN_SCRIPT,
    ),
    Sign(
        "script-tf-map-serial",
        Confidence.MEDIUM,
        N_("Let map work on several elements at once, cache what does not change, prefetch at the end ({place}):"),
        _AUTOTUNE,
        title=_TF_IN_SCRIPT,
    ),
    Sign(
        "script-tf-no-prefetch",
        Confidence.LOW,
        N_("Prepare the next batches while the GPU computes ({place}):"),
        "dataset = dataset.prefetch(tf.data.AUTOTUNE)",
        title=N_("The script prepares no batch ahead: the GPU may wait for data ({place})"),
    ),
    Sign(
        "script-tf-from-generator",
        Confidence.LOW,
        N_(
            "from_generator runs Python under its lock on one core. Keep only names or indexes in it and load in a "
            "parallel map, or store the data as TFRecord ({place}):"
        ),
        _AUTOTUNE,
        title=_PYTHON_IN_SCRIPT,
    ),
    Sign(
        "script-loader-no-workers",
        Confidence.LOW,
        N_("Load in processes of their own ({place}):"),
        "DataLoader(dataset, batch_size=64, shuffle=True, num_workers=4, pin_memory=True, persistent_workers=True)",
        title=_FEW_IN_SCRIPT,
    ),
    Sign(
        "script-loader-prefetch",
        Confidence.LOW,
        N_("Let each worker keep more than one batch ready ({place}):"),
        "DataLoader(..., prefetch_factor=4)",
        title=N_("The script lets each worker prepare a single batch ahead ({place})"),
    ),
)

_TOO_MANY = N_("The data loader starts {workers} workers, more than the {suggested} that this computer can run well")
_NO_WORKERS = N_("Data is loaded in the training process itself (num_workers=0): the GPU may wait for it")


_WORKERS_ADVICE = N_(
    "Then try DataLoader(num_workers=4, persistent_workers=True, pin_memory=True) and a few other numbers: too many "
    "workers are as slow as too few, and each needs memory of its own. On Windows the program's start must stand "
    'under if __name__ == "__main__".'
)


def _check(view: View) -> Outcome:
    outcome = with_script(view, _known(view), _CODE, _signs(view))
    return in_profile.weighed(in_profile.waiting_for_data(view), outcome)


def _signs(view: View) -> tuple[Sign, ...]:
    """Any number of workers above that of the cores is too many, where it is known."""
    cores = view.number("host.cpu_count")
    workers = view.signal("script-loader-workers")
    if cores is None or workers is None or int(workers.values["workers"]) <= cores:
        return _IN_SCRIPT
    return (*_IN_SCRIPT, replace(_MANY_WORKERS, kind="script-loader-workers"))


def _known(view: View) -> Outcome:
    few = view.signal(_FEW)
    if few is not None:
        return Hit(Confidence.MEDIUM, quote(few) + cite(view, _WORKERS, "host.cpu_count"))
    many = view.signal(_MANY)
    if many is not None:
        values = {name: str(many.values[name]) for name in ("workers", "suggested")}
        return Hit(Confidence.MEDIUM, quote(many), values, title=_TOO_MANY)
    workers, cores = view.number(_WORKERS), view.number("host.cpu_count")
    if workers is None:
        return Lacks((_WORKERS,))
    if workers == 0 and cores is not None and cores >= 4:
        return Hit(Confidence.LOW, cite(view, _WORKERS, "host.cpu_count"), title=_NO_WORKERS)
    return CLEAR


def _advise(view: View, hit: Hit) -> tuple[Step, ...]:
    if view.is_job:
        return behaviour.advise(view, hit)
    scripted = better(view, _signs(view))
    if view.known("profile"):
        return (*scripted, *in_profile.better(view, "workers", "cheaper-transforms", "slow-storage"))
    return (
        *scripted,
        advice.say(
            N_(
                "Measure first: time the loop over the data loader alone. If that is as slow as training, the data is "
                "the limit."
            )
        ),
        *(() if scripted else (advice.say(_WORKERS_ADVICE),)),
        advice.say(N_("Watch the process for a minute: GPU use in teeth (0 and 90 percent in turns) confirms it.")),
    )


RULE = Rule(
    code=_CODE,
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.SLOWS,
    title=N_("Loading the data may be slower than the GPU: the framework warns that too few workers load it"),
    help=Help(
        what=N_("Whether the GPU waits for data."),
        why=N_("Reading, decoding and augmenting on few CPU cores is the most frequent reason for low GPU use."),
        how=N_(
            "Warnings of PyTorch Lightning and torch about the number of workers, and num_workers itself; in a "
            "script how its data is loaded. In a profile: at least 15 percent of the time the GPU is idle while the "
            "program is in its data loader. Watched: the GPU works less than 85 percent of the time with kernels that "
            "fill it, while loading processes or the program itself have full cores, or the disk is read."
        ),
        wrong=N_(
            "The warnings look at numbers only: with small data in memory they mean nothing. Measurements over time "
            "decide."
        ),
        todo=N_("Measure the loader alone, then change the number of workers or store the data ready to use."),
    ),
    check=_check,
    watch=behaviour.watch,
    advise=_advise,
    links=("https://pytorch.org/docs/stable/data.html#multi-process-data-loading",),
)

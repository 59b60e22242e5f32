"""Knows: the sentences on how the sampler is doing. Must not know: the sampler, where they are shown.

Each says what happened, what GPUMon does and, where there is something, what the user can do.
"""

from __future__ import annotations

from gpumon_gui.core.messages import N_, _

#: A source as the start of a sentence.
SOURCE_NAME: dict[str, str] = {
    "nvml": N_("The NVIDIA driver (nvml)"),
    "pdh": N_("Windows' performance counters (pdh)"),
    "dxgi": N_("Windows' list of display adapters (dxgi)"),
    "drm": N_("The graphics drivers of Linux (drm)"),
    "host": N_("The operating system's list of processes (host)"),
}
ANY_SOURCE = N_("The source “{name}”")

#: Code of a sampler's status → one or two sentences. Placeholders: source, seconds, next, detail.
STATUS_TEXT: dict[str, str] = {
    "starting": N_("Reading the GPUs for the first time."),
    "restarting": N_("GPUMon's sampler starts again."),
    "source-silent": N_("{source} has not answered for {seconds} s."),
    "sampler-silent": N_("GPUMon's sampler has said nothing for {seconds} s."),
    "sweep-fails": N_("Reading fails because of a fault in GPUMon ({detail}); please report it."),
    "hung": N_("{source} did not answer for {seconds} s. GPUMon starts its sampler again without it."),
    "skipped-hung": N_(
        "{source} does not answer. The other sources go on; GPUMon tries it again in {next} s. "
        "If it stays like this, restart the computer."
    ),
    "skipped-crash": N_(
        "{source} ended GPUMon's sampler several times. The other sources go on; GPUMon tries it again in {next} s. "
        "If it stays like this, reinstall the driver."
    ),
    "trying-again": N_("{source} did not work. The other sources go on while GPUMon tries it again."),
    "died": N_("GPUMon's sampler ended unexpectedly ({detail}). It starts again in {next} s."),
    "died-in-source": N_("{source} ended GPUMon's sampler ({detail}). It starts again in {next} s."),
    "stuck": N_("GPUMon's sampler did not move for {seconds} s and was ended. It starts again in {next} s."),
    "damaged": N_("GPUMon's sampler sent something unreadable and was ended. It starts again in {next} s."),
    "start-failed": N_(
        "GPUMon's sampler cannot be started ({detail}). GPUMon tries again in {next} s. "
        "A virus scanner or a lack of memory may be the cause."
    ),
    "start-timeout": N_("GPUMon's sampler did not start within {seconds} s. GPUMon tries again in {next} s."),
    "other-version": N_("GPUMon was updated while it was running. Close it and start it again."),
    "bug": N_("An internal fault in GPUMon stopped the readings ({detail}); please report it."),
    "paused": N_("Paused."),
    "stopped": N_("Reading has ended."),
}
LAST_VALUES = N_("{sentence} Shown are the last values.")
LEFT_BEHIND = N_(
    "A driver call does not return, so GPUMon's sampler (process {pid}) cannot be ended. It goes when the driver "
    "answers or the computer is restarted."
)


def status_text(
    code: str, *, source: str = "", seconds: float = 0.0, next_s: float | None = None, detail: str = ""
) -> str:
    """The sentence in the user's language; empty for an empty or unknown code.

    ``seconds`` is how long it has lasted, ``next_s`` the time until the next try.
    """
    words = _(STATUS_TEXT.get(code, ""))
    return words.format(
        source=source_name(source), seconds=max(0, round(seconds)), next=max(1, round(next_s or 0.0)), detail=detail
    )


def stale_text(sentence: str) -> str:
    """The sentence with the remark that old values are on show."""
    return _(LAST_VALUES).format(sentence=sentence)


def left_behind_text(pid: int) -> str:
    """What to say when the program ends and its sampler cannot."""
    return _(LEFT_BEHIND).format(pid=pid)


def source_name(source: str) -> str:
    """A source as the user may know it, with its short name."""
    known = SOURCE_NAME.get(source)
    return _(known) if known else _(ANY_SOURCE).format(name=source)

"""Knows: every option there is, in the order of the settings page. Must not know: who uses it, how it is shown.

A new option is one entry here; the file, the page and the repair follow.
"""

from __future__ import annotations

from typing import Final

from gpumon_gui.core.messages import N_
from gpumon_gui.settings.option import Choice, Flag, Number, Option, Texts

#: Section → its title, in their order.
SECTIONS: Final[tuple[tuple[str, str], ...]] = (
    ("general", N_("General")),
    ("performance", N_("Performance")),
    ("tray", N_("Tray")),
    ("alerts", N_("Alerts")),
    ("history", N_("History")),
    ("diagnostics", N_("Diagnostics")),
)

_MINUTES: Final = N_("{value} min")
_SECONDS: Final = N_("{value} s")
_CELSIUS: Final = "{value} °C"
_GIGABYTES: Final = "{value} GB"
_PERCENT: Final = "{value} %"
_HOURS: Final = N_("{value} h")
_DAYS: Final = N_("{value} days")

_GENERAL: Final = (
    Option(
        "general.language",
        Choice("system", (("system", N_("As the system")), ("en", "English"), ("zh_CN", "简体中文"))),
        N_("Language"),
        section="general",
    ),
    Option(
        "general.theme",
        Choice("system", (("system", N_("As the system")), ("light", N_("Light")), ("dark", N_("Dark")))),
        N_("Theme"),
        N_("High contrast always follows the system."),
        section="general",
    ),
    Option(
        "general.update_speed",
        Choice("normal", (("high", N_("High")), ("normal", N_("Normal")), ("low", N_("Low")))),
        N_("Update speed"),
        N_("High: twice a second. Normal: once a second. Low: every four seconds."),
        section="general",
    ),
    Option(
        "general.page",
        Choice(
            "performance",
            (
                ("last", N_("The one shown last")),
                ("performance", N_("Performance")),
                ("processes", N_("Processes")),
                ("diagnostics", N_("Diagnostics")),
                ("history", N_("History")),
            ),
        ),
        N_("Page at the start"),
        section="general",
    ),
    Option(
        "general.start_hidden",
        Flag(default=False),
        N_("Start with the window hidden"),
        N_("In the tray; where there is none, minimised."),
        section="general",
    ),
    Option(
        "general.temperature",
        Choice("celsius", (("celsius", N_("Celsius (°C)")), ("fahrenheit", N_("Fahrenheit (°F)")))),
        N_("Temperatures in"),
        section="general",
    ),
    Option(
        "general.last_page",
        Choice(
            "performance",
            tuple((page, "") for page in ("performance", "processes", "diagnostics", "history", "settings")),
        ),
    ),
    Option("general.welcomed", Flag(default=False)),
)

_PERFORMANCE: Final = (
    Option(
        "performance.engines",
        Choice("busiest", (("busiest", N_("The busiest ones")), ("fixed", N_("3D, Copy, Video Encode, Video Decode")))),
        N_("Engines shown at first"),
        N_("The busiest ones show Compute or CUDA when a framework runs. Each chart can show another engine."),
        section="performance",
    ),
    Option(
        "performance.sleep",
        Choice("let_sleep", (("let_sleep", N_("Never wake it")), ("keep", N_("Read it while the window is open")))),
        N_("A sleeping laptop GPU"),
        N_("Reading the values of a sleeping GPU wakes it and costs battery."),
        section="performance",
    ),
)

_TRAY: Final = (
    Option(
        "tray.stay",
        Flag(default=False),
        N_("Keep running in the tray when the window is closed"),
        section="tray",
    ),
    Option(
        "tray.icon",
        Choice("live", (("live", N_("Live: utilization and GPU memory")), ("still", N_("A still icon")))),
        N_("Icon"),
        section="tray",
    ),
    Option("tray.mini_on_top", Flag(default=True), N_("Mini monitor stays above other windows"), section="tray"),
    Option("tray.mini_place", Texts()),
    Option("tray.hint_shown", Flag(default=False)),
)

_ALERTS: Final = (
    Option(
        "alerts.on",
        Flag(default=True),
        N_("Show notifications"),
        N_("Off: alerts are only listed in the window."),
        section="alerts",
    ),
    Option(
        "alerts.quiet_minutes", Number(10, 1, 24 * 60, 1, _MINUTES), N_("Say the same again after"), section="alerts"
    ),
    Option("alerts.run_ended.on", Flag(default=True), N_("A run on the GPU ended"), section="alerts"),
    Option(
        "alerts.run_ended.minutes",
        Number(2, 0, 24 * 60, 1, _MINUTES),
        N_("… that took at least"),
        section="alerts",
        needs="alerts.run_ended.on",
    ),
    Option(
        "alerts.held_idle.on", Flag(default=True), N_("A program holds GPU memory and does nothing"), section="alerts"
    ),
    Option(
        "alerts.held_idle.minutes",
        Number(10, 1, 24 * 60, 1, _MINUTES),
        N_("… for"),
        section="alerts",
        needs="alerts.held_idle.on",
    ),
    Option("alerts.memory_full.on", Flag(default=True), N_("GPU memory will soon be full"), section="alerts"),
    Option(
        "alerts.memory_full.minutes",
        Number(10, 1, 24 * 60, 1, _MINUTES),
        N_("… within"),
        section="alerts",
        needs="alerts.memory_full.on",
    ),
    Option("alerts.spill.on", Flag(default=True), N_("CUDA spills into shared memory (Windows)"), section="alerts"),
    Option("alerts.throttle.on", Flag(default=True), N_("Heat or power holds the clocks down"), section="alerts"),
    Option("alerts.temperature.on", Flag(default=True), N_("The GPU is hot"), section="alerts"),
    Option(
        "alerts.temperature.celsius",
        Number(90, 40, 120, 1, _CELSIUS, whole=False, is_celsius=True),
        N_("… at"),
        section="alerts",
        needs="alerts.temperature.on",
    ),
    Option("alerts.lost.on", Flag(default=True), N_("A GPU is lost or the driver does not answer"), section="alerts"),
)

_HISTORY: Final = (
    Option("history.on", Flag(default=True), N_("Keep a history"), section="history"),
    Option(
        "history.most_gigabytes",
        Number(1.0, 0.1, 100.0, 0.1, _GIGABYTES, whole=False),
        N_("At most"),
        N_("When it is full, the oldest values go first."),
        section="history",
        needs="history.on",
    ),
    Option(
        "history.fine_hours",
        Number(48, 1, 24 * 14, 1, _HOURS),
        N_("Every second, for"),
        section="history",
        needs="history.on",
    ),
    Option(
        "history.middle_days",
        Number(14, 1, 90, 1, _DAYS),
        N_("Every 10 seconds, for"),
        section="history",
        needs="history.on",
    ),
    Option(
        "history.coarse_days",
        Number(365, 7, 3650, 1, _DAYS),
        N_("Every minute, for"),
        section="history",
        needs="history.on",
    ),
)

_DIAGNOSTICS: Final = (
    Option(
        "diagnostics.interpreters",
        Texts(),
        N_("Further Python interpreters"),
        N_("Those that are found by themselves need not stand here."),
        section="diagnostics",
    ),
    Option("diagnostics.left_out", Texts()),
    Option(
        "diagnostics.proof",
        Flag(default=True),
        N_("Prove the GPU by a short computation"),
        section="diagnostics",
    ),
    Option(
        "diagnostics.proof_seconds",
        Number(10, 3, 60, 1, _SECONDS),
        N_("… that takes at most, for each GPU"),
        section="diagnostics",
        needs="diagnostics.proof",
    ),
    Option(
        "diagnostics.proof_memory_percent",
        Number(25, 1, 25, 1, _PERCENT),
        N_("… and at most this share of the free memory"),
        section="diagnostics",
        needs="diagnostics.proof",
    ),
)

OPTIONS: Final[tuple[Option, ...]] = (*_GENERAL, *_PERFORMANCE, *_TRAY, *_ALERTS, *_HISTORY, *_DIAGNOSTICS)
BY_KEY: Final[dict[str, Option]] = {option.key: option for option in OPTIONS}

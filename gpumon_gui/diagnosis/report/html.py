"""Knows: a report as one self-contained HTML file. Must not know: how it was made; it gets the redacted document."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import jinja2

from gpumon_gui.core.messages import _
from gpumon_gui.core.resources import resource_root
from gpumon_gui.diagnosis.report import environments, fact_words, text, words


def html(report: Mapping[str, Any]) -> str:
    """The page; everything that came from the machine is escaped, nothing is loaded from elsewhere."""
    loader = jinja2.FileSystemLoader(resource_root() / "report")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("report.html").render(
        report=report,
        title=_("GPUMon report"),
        text={"help": _("How this was decided"), "facts": _("All facts"), "environments": _("Python environments")},
        machine=text.machine(report),
        help_parts=[(part, _(label)) for part, label in words.HELP],
        verdicts=text.verdicts(report),
        status=text.status,
        about=lambda finding: text.about(finding, report),
        fact=fact_words,
        evidence_head=lambda evidence: text.evidence_lines(evidence)[0],
        environments=environments.listed(report),
        summary=text.summary(report),
        sections=report.get("sections", ()),
        facts=json.dumps(report["facts"], ensure_ascii=False, indent=2),
    )

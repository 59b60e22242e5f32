"""Knows: a proof as facts (``torch.proof`` …, see FACTS.md). Must not know: sentences, rules."""

from __future__ import annotations

from typing import Any

from gpumon_gui.diagnosis.probes.base import known
from gpumon_gui.diagnosis.proof.claims import Run
from gpumon_gui.diagnosis.proof.evidence import Other, Seen
from gpumon_gui.diagnosis.proof.judge import DeviceProof, Proof
from gpumon_gui.diagnosis.proof.series import Contrast, Steps


def facts_of(proof: Proof) -> dict[str, Any]:
    """Both sides and the verdict, as JSON values."""
    claims = proof.claims
    found = known(
        verdict=proof.outcome.value,
        why=proof.why.value,
        version=claims.version or None,
        pid=min(claims.pids, default=None),
        error=claims.error or None,
        problem=claims.problem or None,
        stage=claims.stage if claims.problem else None,
        cpu=_run(claims.cpu) if claims.cpu is not None else None,
    )
    if proof.devices:
        found["devices"] = [_device(device, claims.cpu) for device in proof.devices]
    return found


def _device(device: DeviceProof, cpu: Run | None) -> dict[str, Any]:
    claim, seen = device.claim, device.seen
    fastest = claim.fastest
    fp32 = next((run for run in claim.runs if run.precision == "fp32" and not run.problem), None)
    is_figure = cpu is not None and not cpu.problem and not cpu.busy and cpu.flops_per_s > 0
    gain = fp32.flops_per_s / cpu.flops_per_s if fp32 and cpu and is_figure else None
    share = device.proportion
    return known(
        verdict=device.outcome.value,
        why=device.why.value,
        confidence=device.confidence.value,
        index=claim.index,
        name=claim.name or None,
        bus=claim.pci,
        uuid=claim.uuid,
        system_index=seen.device.index if seen.device is not None else None,
        error=claim.error or next((run.error_text for run in claim.runs if run.error_text), None),
        problem=claim.problem or None,
        claimed=known(
            where=claim.where or (fastest.where if fastest else None) or None,
            fastest=fastest.precision if fastest else None,
            runs={run.precision: _run(run) for run in claim.runs},
            times_cpu=round(gain, 2) if gain else None,
            free_bytes=claim.free_bytes or None,
            budget_bytes=claim.budget_bytes or None,
            loads=sum(phase.load and phase.end is not None for phase in claim.phases),
        ),
        seen=_seen(seen, device.hides_processes),
        expected=known(
            precision=share.precision,
            flops_per_s=share.flops_per_s,
            peak_flops_per_s=share.peak_flops_per_s,
            share=round(share.share, 4) if share.share is not None else None,
            limit=share.limit or None,
            at_highest_clock=share.at_highest_clock or None,
            pstate=seen.pstate,
            clock_mhz=seen.clock_mhz,
            clock_max_mhz=seen.clock_max_mhz,
        )
        if share is not None
        else None,
    )


def _run(run: Run) -> dict[str, Any]:
    if run.problem:
        return known(problem=run.problem, error=run.error_text or None)
    return {
        "side": run.side,
        "flops_per_s": run.flops_per_s,
        "seconds": run.seconds,
        "error": run.error if run.error < 1e30 else 1e30,
        "tolerance": run.tolerance,
        "right": run.right,
        **({"busy": True} if run.busy else {}),
    }


def _seen(seen: Seen, hides: bool) -> dict[str, Any]:
    return known(
        device=seen.device.key if seen.device is not None else None,
        name=seen.device.name if seen.device is not None else None,
        by_name=seen.by_name or None,
        samples=seen.samples,
        source=seen.own_source or next((source for source in seen.sources.values() if source), None),
        listed=seen.listed,
        hides_processes=hides or None,
        own_utilization=_contrast(seen.own),
        own_memory_bytes=seen.own_memory_bytes,
        free_before_bytes=seen.free_before_bytes,
        own_steps=_steps(seen.own_steps),
        device_steps=_steps(seen.steps),
        activity={name: _contrast(contrast) for name, contrast in seen.activity.items()},
        busy_idle=seen.busy_idle,
        others=[_other(other) for other in seen.others] or None,
        elsewhere=[_other(other) for other in seen.elsewhere] or None,
    )


def _contrast(contrast: Contrast | None) -> dict[str, Any] | None:
    if contrast is None:
        return None
    return {
        "load": round(contrast.load, 4),
        "idle": round(contrast.idle, 4),
        "chance": round(contrast.chance, 4),
        "delay_s": contrast.delay_s,
        "rises": contrast.rises,
    }


def _steps(steps: Steps | None) -> dict[str, Any] | None:
    if steps is None:
        return None
    return {
        "asked_bytes": list(steps.asked),
        "seen_bytes": list(steps.seen),
        "fitting": steps.fitting,
        "match": steps.match,
    }


def _other(other: Other) -> dict[str, Any]:
    return {"pid": other.pid, "name": other.name, "device": other.device, "work": _contrast(other.work)}

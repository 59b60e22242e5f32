"""Knows: how GPUMon and two other programs answer on the same real environments. Must not know: how rules decide.

    python -m tests.benchmarks.side_by_side [--save FOLDER] [NAME ...]

The environments are those of :mod:`tests.probes.building`, on a machine without GPU and driver, and a virtual
environment whose Python was removed. The others look at the interpreter they run in only, so each is installed by pip
into a copy of the environment; *cannot be installed* is a result.

**What counts.** A finding is what a program itself marks as an error or a warning: GPUMon's causes that are neither
information nor a symptom, cuda-doctor's diagnoses and issues of severity error or warning, env-doctor's lines with a
warning sign or a cross. Each is judged by the first line of :data:`JUDGEMENTS` that fits:

- *cause*: it names the environment's true cause;
- *true*: it is so, and bears on the use of a GPU there ("no driver" on this machine counts everywhere);
- *false*: what it says is measurably not so;
- *irrelevant*: true, but about something that is not installed, not asked for, or without effect there.

A finding that no line judges is printed as such and makes the command fail: then look at it and add a line. Of GPUMon
everything that is neither the true cause nor "no GPU in this machine" is false. The exit code is 0 when GPUMon names
every true cause first and has no more false and irrelevant findings than either of the others.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.probes import building

TIMEOUT_S: Final = 600
BROKEN: Final = "broken-interpreter"


@dataclass(frozen=True)
class Truth:
    """``cause`` in words and as GPUMon's ``code``; ``named`` matches other programs' findings that name it."""

    cause: str
    code: str
    named: str = r"(?!)"


_NO_DRIVER = r"No NVIDIA Driver detected|GPU001"
TRUTHS: Final[Mapping[str, Truth]] = {
    "torch-cpu": Truth("torch is a CPU build", "torch-cpu-only-build", r"D003 .*CPU-only|TORCH003"),
    "torch-cuda": Truth("no GPU, no driver", "no-gpu-in-this-machine", _NO_DRIVER),
    "torch-numpy2": Truth("NumPy 2 under a torch made for 1", "numpy-abi-mismatch", r"(?i)numpy"),
    "tensorflow-cpu": Truth("TensorFlow is a CPU build", "tf-cpu-only-build", r"(?i)tensorflow.*cpu"),
    "tensorflow-cuda": Truth("TensorFlow's CUDA libraries are missing", "tf-cuda-libs-not-found", r"(?i)libcudart\b"),
    "tensorflow-2.10": Truth("TensorFlow's CUDA libraries are missing", "tf-cuda-libs-not-found", r"(?i)libcudart\b"),
    "protobuf-clash": Truth("protobuf is too new", "protobuf-version-conflict", r"(?i)protobuf"),
    "ort-both": Truth("onnxruntime hides onnxruntime-gpu", "ort-cpu-package-shadows-gpu", r"(?i)onnxruntime"),
    "jax-cupy": Truth("no GPU, no driver", "no-gpu-in-this-machine", _NO_DRIVER),
    BROKEN: Truth("the environment's Python was removed", "python-interpreter-broken"),
}

#: (environments, text, judgement, reason); the first that fits counts. After the true cause.
JUDGEMENTS: Final[tuple[tuple[str, str, str, str], ...]] = (
    (r".*", r"^no-gpu-in-this-machine|No NVIDIA Driver detected|GPU001", "true", "there is neither GPU nor driver"),
    (r".*", r"(?i)^System CUDA \(nvcc\) NOT found", "irrelevant", "wheels need no toolkit"),
    (r".*", r"^(torch|tensorflow|jax) is NOT installed", "irrelevant", "nothing asks for this framework"),
    (r"tensorflow-(cuda|2\.10)", r"LD_LIBRARY_PATH is unset", "true", "TensorFlow's libraries are not found"),
    (r".*", r"LD_LIBRARY_PATH is unset", "irrelevant", "wheels bring their libraries, or have no CUDA in them"),
    (r"torch-cuda", r"^D003 .*(?i:undetermined|unable to determine)", "true", "CUDA is not available; no cause named"),
)


@dataclass(frozen=True)
class Said:
    """One finding of a program and what is thought of it."""

    text: str
    judgement: str
    reason: str = ""


class NotInstallable(Exception):  # noqa: N818
    """pip refuses to install the program there."""


def judged(name: str, texts: Sequence[str]) -> list[Said]:
    """Each finding by the true cause, then by the table."""
    result = []
    for text in texts:
        if re.search(TRUTHS[name].named, text):
            result.append(Said(text, "cause"))
            continue
        if "nvcc) not found" in text.lower() and shutil.which("nvcc"):
            result.append(Said(text, "false", "nvcc is on PATH"))
            continue
        found = ((j, why) for where, what, j, why in JUDGEMENTS if re.fullmatch(where, name) and re.search(what, text))
        result.append(Said(text, *next(found, ("unjudged", ""))))
    return result


# -- the programs ----------------------------------------------------------------------------------------------------


def run(words: list[str], **more: Any) -> subprocess.CompletedProcess[str]:
    """Its output; what it prints in colour for terminals comes plain."""
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200", "PYTHONUTF8": "1"}
    return subprocess.run(
        words, capture_output=True, text=True, timeout=TIMEOUT_S, check=False, env=environment, **more
    )


def gpumon(name: str, python: Path, save: Path | None) -> list[Said]:
    """Its findings, first the primary one."""
    done = run([sys.executable, "-m", "gpumon_gui", "--lang", "en", "diagnose", "--python", str(python), "--json"])
    keep(save, f"{name}.gpumon.json", done.stdout)
    faults = [
        entry
        for entry in json.loads(done.stdout)["findings"]
        if entry["severity"] != "info" and entry["symptom_of"] is None
    ]
    result = []
    place = 0  # that there is no GPU is true too, and comes first
    for entry in faults:
        text = f"{entry['code']} ({entry['confidence']}): {entry['title']}"
        if entry["code"] == TRUTHS[name].code:
            result.append(Said(text, "cause" if place == 0 else "cause, not first"))
        elif entry["code"] == "no-gpu-in-this-machine":
            result += judged(name, [text])
            continue
        else:
            result.append(Said(text, "false"))
        place += 1
    return result


def env_doctor(name: str, python: Path, save: Path | None) -> list[Said]:
    """The lines with a warning sign or a cross."""
    script = python.with_name("env-doctor")
    with tempfile.TemporaryDirectory() as folder:  # it scans the current folder
        done = run([str(script), "check"], cwd=folder)
    keep(save, f"{name}.env-doctor.txt", done.stdout + done.stderr)
    if "DIAGNOSIS" not in done.stdout:
        return [Said(f"failed: {(done.stderr.strip() or done.stdout.strip()).splitlines()[-1][:120]}", "false")]
    marks = re.compile(r"^\s*(?:\u26a0\ufe0f?|\u274c)\s*(.+?)\s*$")
    return judged(name, [match.group(1) for line in done.stdout.splitlines() if (match := marks.match(line))])


def cuda_doctor(name: str, python: Path, save: Path | None) -> list[Said]:
    """Diagnoses and issues of severity error or warning."""
    done = run([str(python.with_name("cuda-doctor")), "diagnose", "--format", "json"])
    keep(save, f"{name}.cuda-doctor.json", done.stdout + done.stderr)
    report = json.loads(done.stdout)
    # What a diagnosis replaces is not shown to its users.
    hidden = {code for entry in report["diagnoses"] for code in entry["presentation_suppressed_issue_codes"]}
    shown = [*report["diagnoses"], *(entry for entry in report["issues"] if entry["code"] not in hidden)]
    return judged(
        name,
        [
            f"{entry['code']} {entry['title']}: {entry.get('summary') or entry.get('description')}"
            for entry in shown
            if entry["severity"] in ("ERROR", "WARNING", "CRITICAL")
        ],
    )


OTHERS: Final = {"env-doctor": ("env-doctor==0.3.5", env_doctor), "cuda-doctor": ("cuda-doctor==0.2.0", cuda_doctor)}


def installed_copy(name: str, python: Path, program: str) -> Path:
    """The python of a copy of the environment with this program in it. Raises NotInstallable, CalledProcessError."""
    requirement = OTHERS[program][0]
    source = python.parent.parent
    copy = building.cache() / "side-by-side" / f"{source.name}.{requirement}"
    mine = copy / "bin/python"
    if (copy / "complete-with-program").exists():
        return mine
    shutil.rmtree(copy, ignore_errors=True)
    # pip replaces files and never writes into them, so hard links are safe.
    shutil.copytree(source, copy, symlinks=True, copy_function=os.link)
    done = run([str(mine), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement])
    if done.returncode:
        shutil.rmtree(copy, ignore_errors=True)
        wants = re.search(r"Requires-Python (>=[\d.]+)", done.stderr)
        if wants or "different python version" in done.stderr:
            raise NotInstallable(f"cannot be installed there: it needs Python {wants.group(1) if wants else 'newer'}")
        done.check_returncode()
    (copy / "complete-with-program").write_text("\n", encoding="utf-8")
    return mine


def keep(folder: Path | None, name: str, text: str) -> None:
    """For who wants to read what was said."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


# -- the table -------------------------------------------------------------------------------------------------------


def python_of(name: str, folder: Path) -> Path:
    """The interpreter to examine; the broken one is made anew below ``folder``."""
    if name != BROKEN:
        return building.made(name)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "env")], check=True)
    python = folder / "env/bin/python"
    python.unlink()
    python.symlink_to(folder / "removed/python3")
    return python


Answer = list[Said] | str  #: the findings, or why the program cannot be installed there


def findings(answer: Answer) -> list[Said]:
    """None where the program did not run."""
    return [] if isinstance(answer, str) else answer


def noise(said: list[Said]) -> int:
    """How many are false or irrelevant."""
    return sum(one.judgement in ("false", "irrelevant") for one in said)


def cell(answer: Answer) -> str:
    """What stands in the table."""
    if isinstance(answer, str):
        return answer
    places = [place for place, one in enumerate(answer) if one.judgement == "cause"]
    named = "not named" if not places else "cause first" if places[0] == 0 else "cause named"
    return f"{named}; {len(answer)} said, {noise(answer)} false or irrelevant"


def main(arguments: list[str] | None = None) -> int:
    """Print the table; 1 unless GPUMon is right first everywhere and no other has less noise."""
    parser = argparse.ArgumentParser(description="GPUMon beside two other programs on real environments")
    parser.add_argument("--save", type=Path, help="keep what each program printed in this folder")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(TRUTHS)}; all when none is given")
    given = parser.parse_args(arguments)
    unknown = set(given.names) - TRUTHS.keys()
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    if Path("/proc/driver/nvidia/version").exists():
        parser.error("the true causes hold on a machine without an NVIDIA driver")
    programs = ("GPUMon", *OTHERS)
    answers: dict[str, dict[str, Answer]] = {}
    for name in given.names or TRUTHS:
        with tempfile.TemporaryDirectory() as folder:
            python = python_of(name, Path(folder))
            answers[name] = {"GPUMon": gpumon(name, python, given.save)}
            for program, (_requirement, ask) in OTHERS.items():
                try:
                    if name == BROKEN:
                        raise NotInstallable("cannot be installed there: no Python runs")
                    answers[name][program] = ask(name, installed_copy(name, python, program), given.save)
                except NotInstallable as refused:
                    answers[name][program] = str(refused)
    return show(answers, programs)


def show(answers: Mapping[str, Mapping[str, Answer]], programs: tuple[str, ...]) -> int:
    """The table, then every finding with its judgement, then the sums."""
    print("| environment | true cause | " + " | ".join(programs) + " |")
    print("| --- " * (len(programs) + 2) + "|")
    for name, row in answers.items():
        print(f"| {name} | {TRUTHS[name].cause} | " + " | ".join(cell(row[program]) for program in programs) + " |")
    print()
    for name, row in answers.items():
        for program in programs:
            for one in findings(row[program]):
                print(
                    f"{name}, {program}: {one.judgement}: {one.text[:110]}" + (f" ({one.reason})" if one.reason else "")
                )
    print()
    for program in programs:
        ran = [answer for row in answers.values() if not isinstance(answer := row[program], str)]
        kinds = [one.judgement for said in ran for one in said]
        print(
            f"{program}: ran in {len(ran)} of {len(answers)}; the true cause is named in "
            f"{sum(any(one.judgement == 'cause' for one in said) for said in ran)}, first in {firsts(ran)}; "
            f"false {kinds.count('false')}, irrelevant {kinds.count('irrelevant')}, unjudged {kinds.count('unjudged')}"
        )
    own, *others = ([one for row in answers.values() for one in findings(row[program])] for program in programs)
    is_first = firsts([findings(row["GPUMon"]) for row in answers.values()]) == len(answers)
    is_quiet = all(noise(own) <= noise(other) for other in others)
    is_judged = all(one.judgement != "unjudged" for said in (own, *others) for one in said)
    return 0 if is_first and is_quiet and is_judged else 1


def firsts(answers: Sequence[list[Said]]) -> int:
    """In how many the first finding names the true cause."""
    return sum(bool(said) and said[0].judgement == "cause" for said in answers)


if __name__ == "__main__":
    sys.exit(main())

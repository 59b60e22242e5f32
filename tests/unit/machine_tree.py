"""Knows: the text form of a machine's kernel files (tests/machines/README.md). Must not know: what is tested."""

from __future__ import annotations

from pathlib import Path


def plant(text: str, root: Path) -> None:
    """Make the files and links of a tree below ``root``; existing ones are replaced."""
    path, kind, lines = "", "", [""]

    def finish() -> None:
        if not kind:
            return
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if kind == "===":
            target.write_text("\n".join(lines) + "\n", encoding="utf-8")
        elif kind == "---":
            target.unlink()
        else:
            target.symlink_to(lines[0])

    for line in text.splitlines():
        if line[:4] in ("=== ", "--> ", "--- "):
            finish()
            kind, path, lines = line[:3], line[4:], []
        else:
            lines.append(line)
    finish()

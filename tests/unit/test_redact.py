"""What may not leave the machine in a report or a recording that is passed on."""

from __future__ import annotations

import pytest

from gpumon_gui.core.redact import Private, hide_addresses, hide_secrets, redact_text

PRIVATE = Private(("李雷",), ("/home/李雷",), ("lab-pc", "lab-pc.example.org"))


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("/home/李雷/train.py", "~/train.py"),
        (r"C:\Users\Maria\miniconda3\python.exe", r"C:\Users\user\miniconda3\python.exe"),
        ("/home/other/x", "/home/user/x"),
        ("lab-pc$ whoami 李雷", "host$ whoami user"),
        ("torch 2.5.1+cu124, CUDA 12.4", "torch 2.5.1+cu124, CUDA 12.4"),
    ],
)
def test_people_and_machines(text: str, clean: str) -> None:
    assert redact_text(text, PRIVATE) == clean


def test_ids_of_cards_stay_distinct() -> None:
    one, two = "GPU-11111111-2222-3333-4444-555555555555", "GPU-11111111-2222-3333-4444-555555555556"
    assert redact_text(one, PRIVATE) != one
    assert redact_text(one, PRIVATE) == redact_text(one, PRIVATE) != redact_text(two, PRIVATE)


def test_addresses() -> None:
    assert hide_addresses("master 10.1.2.3:29500 at fe80:0:0:1:2:3:4:5") == "master 0.0.0.0:29500 at ::"
    assert hide_addresses("127.0.0.1 and 12:30:45") == "127.0.0.1 and 12:30:45"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("HF_TOKEN=hf_abcdef", "HF_TOKEN=***"),
        ("wandb_api_key: 0123", "wandb_api_key: ***"),
        ("Serial Number : 1652922014567", "Serial Number : 0"),
        ("CUDA_PATH=/usr/local/cuda", "CUDA_PATH=/usr/local/cuda"),
        ("tokenizers==0.20.1", "tokenizers==0.20.1"),
    ],
)
def test_secrets_and_serial_numbers(text: str, clean: str) -> None:
    assert hide_secrets(text) == clean

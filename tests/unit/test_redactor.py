"""What somebody else may read of a report: no people, no machines, no folders of theirs; all that helps stays."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpumon_gui.core import redactor
from gpumon_gui.core.redact import Private, Replaced, Secret, redact_text
from gpumon_gui.core.redactor import Redactor

ROOT = Path(__file__).parents[2]
PRIVATE = Private(("wei",), ("/home/wei", "C:\\Users\\wei"), ("lab-7",))

#: A line, and how it is passed on.
LINES = (
    # tracebacks
    (
        '  File "/data/bob/My Project/train.py", line 3, in <module>',
        '  File "/data/folder1/folder2/train.py", line 3, in <module>',
    ),
    ("  File '/mnt/ssd2/carol/net.py', line 3", "  File '/mnt/ssd2/folder1/net.py', line 3"),
    (r'  File "D:\clients\acme\train.py", line 7, in main', r'  File "D:\folder1\folder2\train.py", line 7, in main'),
    (r"'D:\\clients\\acme\\train.py'", r"'D:\\folder1\\folder2\\train.py'"),
    (r"D:\clients\Big Bank Project\train.cu(12): error", r"D:\folder1\folder2\train.cu(12): error"),
    ("~/thesis/run.py:12: UserWarning", "~/folder1/run.py:12: UserWarning"),
    ("at ../aten/src/ATen/native/cuda/Loss.cu:242", "at ../aten/src/ATen/native/cuda/Loss.cu:242"),
    ("(/data/bob/x.so)", "(/data/folder1/x.so)"),
    # installations stay readable
    (
        "/mnt/ssd2/carol/envs/dl/lib/python3.11/site-packages/torch/cuda/__init__.py",
        "/mnt/ssd2/folder1/envs/dl/lib/python3.11/site-packages/torch/cuda/__init__.py",
    ),
    (
        r'Error loading "D:\ml\acme\.venv\Lib\site-packages\torch\lib\c10.dll" or one of its dependencies',
        r'Error loading "D:\folder1\folder2\.venv\Lib\site-packages\torch\lib\c10.dll" or one of its dependencies',
    ),
    (
        r"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v12.4\bin;D:\acme tools\bin;C:\Windows\System32",
        r"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v12.4\bin;D:\folder1\bin;C:\Windows\System32",
    ),
    (
        "/usr/local/cuda-12.4/lib64:/opt/conda/lib:/opt/acme/lib:/data/bob/lib",
        "/usr/local/cuda-12.4/lib64:/opt/conda/lib:/opt/folder1/lib:/data/folder2/lib",
    ),
    ("-I/data/bob/include -L/usr/lib/wsl/lib", "-I/data/folder1/include -L/usr/lib/wsl/lib"),
    (
        r"C:\Users\Maria Müller\AppData\Local\Programs\Python\Python311\python.exe",
        r"C:\Users\user2\AppData\Local\Programs\Python\Python311\python.exe",
    ),
    ("/root/.pyenv/versions/3.11.7/bin/python3.11", "/root/.pyenv/versions/3.11.7/bin/python3.11"),
    ("/dev/nvidia0 /proc/driver/nvidia/version /sys/bus/pci", "/dev/nvidia0 /proc/driver/nvidia/version /sys/bus/pci"),
    ("/workspace/src/train.py /content/drive/MyDrive/x.py", "/workspace/src/train.py /content/drive/MyDrive/x.py"),
    # the account of this machine and those of others
    ("/home/wei/x.py /home/carol/x.py /export/home/dan/x", "~/x.py /home/user2/x.py /export/home/user3/x"),
    (r"C:\Users\wei\x.py C:\Users\Public\x.py", r"~\x.py C:\Users\Public\x.py"),
    ("lab-7 of wei", "host of user"),
    ("~carol/x/y.py", "~user2/x/y.py"),
    (r"E:\anaconda3\envs\dl\Lib\json\decoder.py", r"E:\anaconda3\envs\dl\Lib\json\decoder.py"),
    ("/mnt/lib/acme/x.py /var/lib/acme/x.py", "/mnt/lib/folder1/x.py /var/lib/folder1/x.py"),
    # other ways to write a path
    ("/mnt/c/Users/Bob Smith/proj/x.py", "/mnt/c/Users/user2/folder1/x.py"),
    (r"\\wsl$\Ubuntu\home\bob\proj\x.py", r"\\wsl$\Ubuntu\home\user2\folder1\x.py"),
    (r"\\?\D:\clients\x.py", r"\\?\D:\folder1\x.py"),
    (r"\\nas01\share\acme\run3", r"\\host2\share\folder1\run3"),
    (r"\\?\UNC\nas01\team\x.py", r"\\?\UNC\host2\folder1\x.py"),
    ("//nas01/share/acme/x.txt", "//host2/share/folder1/x.txt"),
    ("file:///D:/clients/acme%20corp/train.py", "file:///D:/folder1/folder2/train.py"),
    ("file://nas01/share/x.py", "file://host2/share/x.py"),
    ("/data/bob/My\\ Project/train.py", "/data/folder1/folder2/train.py"),
    ("/Volumes/Bob's SSD/ml/train.py", "/Volumes/folder1/folder2/train.py"),
    (
        "/Users/张三/项目/训练.py 文件在/data/张三/项目里，请看",
        "/Users/user2/folder1/训练.py 文件在/data/user2/folder2，请看",
    ),
    (
        "--data_dir=/mnt/acme/set -v /data/bob:/workspace nvcr.io/x/y",
        "--data_dir=/mnt/folder1/folder2 -v /data/folder3:/workspace nvcr.io/x/y",
    ),
    ("C:/Users/Bob/OneDrive - Acme Corp/x.py", "C:/Users/user2/folder1/x.py"),
    ("file:///home/%E5%BC%A0%E4%B8%89/x.py", "file:///home/user2/x.py"),
    (r"D:\项目\张三\训练.py", r"D:\folder1\folder2\训练.py"),
    # prompts and what else shows that a word is a name; from then on it is hidden wherever it is
    (
        "(base) bob@lab-pc:~/work$ python x.py # bob on lab-pc",
        "(base) user2@host2:~/work$ python x.py # user2 on host2",
    ),
    ("bob@lab-pc:/data/bob/My Project$ python x.py", "user2@host2:/data/user2/folder1$ python x.py"),
    ("[carol@gpu01 secret proj]$ nvidia-smi", "[user2@host2 folder1]$ nvidia-smi"),
    ("carol@Carols-Mac ~ % python x.py", "user2@host2 ~ % python x.py"),
    ("root@0a1b2c3d4e5f:/workspace# python x.py", "root@0a1b2c3d4e5f:/workspace# python x.py"),
    ("┌──(bob㉿box)-[~/x]", "┌──(user2㉿host2)-[~/x]"),
    (r"PS D:\clients\Big Bank> python train.py", r"PS D:\folder1\folder2> python train.py"),
    ("scp model.pt bob@gpu01:/data/acme/", "scp model.pt user2@host2:/data/folder1/"),
    ("Dec  1 03:44:55 lab-pc kernel: NVRM: Xid 79", "Dec  1 03:44:55 host2 kernel: NVRM: Xid 79"),
    ("Dec 1 03:44:55 lab-pc kernel: NVRM: Xid 79", "Dec 1 03:44:55 host2 kernel: NVRM: Xid 79"),
    ("2026-12-01T03:44:55.123+01:00 lab-pc python[7]: x", "2026-12-01T03:44:55.123+01:00 host2 python[7]: x"),
    (
        "gpu-node07:2211:2214 [0] NCCL INFO cudaDriverVersion 12040",
        "host2:2211:2214 [0] NCCL INFO cudaDriverVersion 12040",
    ),
    ("  host      : node01.cluster.acme.edu", "  host      : host2"),
    ("Linux lab-pc 5.15.0-91-generic #101-Ubuntu SMP", "Linux host2 5.15.0-91-generic #101-Ubuntu SMP"),
    ("failed to connect to [lab-pc]:29500", "failed to connect to [host2]:29500"),
    ("COMPUTERNAME=DESKTOP-AB12 USERNAME=bob", "COMPUTERNAME=host2 USERNAME=user2"),
    ("host=lab-pc user=bob", "host=host2 user=user2"),
    ("Host Name:                 DESKTOP-AB12", "Host Name:                 host2"),
    ("wandb: Currently logged in as: alice (acme-ai)", "wandb: Currently logged in as: user2 (user3)"),
    (r"The user ACME\bob has no rights", r"The user host2\user2 has no rights"),
    ("contact alice.smith@acme-corp.com or alice.smith", "contact user2@host2 or user2"),
    ("ssh bob@10.1.2.3 # bob", "ssh user2@0.0.0.0 # user2"),
    ("carol@192.168.1.9:~/y to carol@192.168.1.9", "user2@0.0.0.0:~/y to user2@0.0.0.0"),
    ("scp alice@gpu7:/data/x /tmp", "scp user2@host2:/data/x /tmp"),
    ("on DESKTOP-8F3K2L1, LAPTOP-ABC1234, WIN-0ABCDEFGH12", "on host2, host3, host4"),
    ("on Bobs-MacBook-Pro and ip-172-31-4-5", "on host2 and host3"),
    ("(lab.acme.local:29500)", "(host2:29500)"),
    ("host: lab-ws-18 is slow, node gpu-node-03, Hostname lab8", "host: host2 is slow, node host4, Hostname host3"),
    ("Bob Miller <bob@acme.com> wrote", "user2 <user3@host2> wrote"),
    # addresses on the net
    ("git@github.com:bobmiller/secretproj.git", "git@github.com:user2/folder1.git"),
    ("https://github.com/bobmiller/secretproj/issues/3", "https://github.com/user2/folder1/issues/3"),
    ("git+https://github.com/bobmiller/secretproj@main", "git+https://github.com/user2/folder1@main"),
    ("https://huggingface.co/datasets/bobmiller/scans", "https://huggingface.co/datasets/user2/folder1"),
    ("https://bobmiller.github.io/x bobmiller", "https://user2.github.io/x user2"),
    (
        "https://download.pytorch.org/whl/cu124 https://pip.acme.com/simple?token=abc",
        "https://download.pytorch.org/whl/cu124 https://host2/folder1?***",
    ),
    ("git+https://bob:pw@git.acme.com/team-x/net", "git+https://***@host2/folder1/folder2"),
    ("tcp://node01:29500 http://localhost:8888/lab", "tcp://host2:29500 http://localhost:8888/folder1"),
    ("tcp://10.1.2.3:29500 fe80::a1b2:1", "tcp://0.0.0.0:29500 ::"),
    # secrets
    ("HF_TOKEN=hf_abc wandb login --api-key 0123abcd", "HF_TOKEN=*** wandb login --api-key ***"),
    ('"token": "hf_abc", Authorization: Bearer abc.def', '"token": "***", Authorization: Bearer ***'),
    ("login with hf_ABCDEFGHIJKLMNOP", "login with ***"),
    ("mail; token: 0123456789abcdef0123456789abcdef01234567", "mail; token: ***"),
    ("serial 1322621012345, Serial No. 1322621012345", "serial 0, Serial No. 0"),
)
#: Lines that say nothing of anybody.
KEPT = (
    "torch 2.5.1+cu124, torch@2.5, torch @ https://download.pytorch.org/whl/cu124/torch-2.5.1.whl",
    "git+https://github.com/pytorch/pytorch@v2.5.1 gcc@9.4.0 image@sha256:0123abcd memcpy@GLIBC_2.14 pci@0000:01:00.0",
    "https://github.com/NVIDIA/apex.git https://huggingface.co/openai/clip https://mirrors.nju.edu.cn/pytorch/whl/cu126",
    "node 3 of 4; node rank 0; serial numbers; cudnn@8.9.7.29 gpu7 threading.local:12 train.py:29500 token: 29871",
    "nvidia-cudnn-cu12 8.9.7.29, nvidia-cusolver 12.0.4.66 /opt/rocm/lib/rocblas/library/TensileLibrary.dat",
    "GUID: 381b4222-f694-41f0-9685-ff5bb260df2e (Balanced)",
    "y = x@self.weight.T + q@k.transpose(-2,-1) + x@w",
    "/job:localhost/replica:0/task:0/device:GPU:0 /device:GPU:0 /physical_device:GPU:0",
    "Node (/model/layers.0/self_attn/MatMul) Op (MatMul)",
    "GPU/CPU/内存 显卡/驱动/系统 and/or 3/4 12.5 it/s /help /c",
    "nvidia-cublas-cu12==12.4.5.8 cudnn 9.1.0.70 Driver Version: 31.0.15.52 127.0.0.1:8888",
    "max_tokens: 2048 tokens=512 pad_token=<pad> num_token: 7",
    "CPU times: user 1.2 s, sys: 3 ms; host: update it",
    "RuntimeError: CUDA error: device-side assert triggered; c10::Error std::bad_alloc at::cuda",
    "for device in /sys/bus/pci/devices/*; do grep -H ^0x03 $device/class; done",
)


def passed_on(text: str, private: Private = PRIVATE, replaced: Replaced | None = None) -> str:
    made = Redactor(private)
    made.text(text)
    made.replaced = replaced
    return made.text(text)


@pytest.mark.parametrize(("line", "clean"), LINES)
def test_people_machines_and_their_folders_are_replaced(line: str, clean: str) -> None:
    assert passed_on(line) == clean
    assert passed_on(clean) == clean  # nothing more to find


@pytest.mark.parametrize("line", KEPT)
def test_what_helps_stays(line: str) -> None:
    assert passed_on(line) == line


def test_no_sentence_of_this_program_is_touched() -> None:
    read_po = pytest.importorskip("babel.messages.pofile").read_po  # translations are made elsewhere than on Windows
    sentences: list[str] = []
    for file in (ROOT / "resources/locale").glob("*/LC_MESSAGES/*.po"):
        with file.open("rb") as stream:
            for message in read_po(stream):
                for text in (message.id, message.string) if message.id else ():  # the head has none
                    sentences += [text] if isinstance(text, str) else list(text or ())
    assert len(sentences) > 1000
    assert [text for text in sentences if passed_on(text, Private()) != text] == []


def test_two_paths_can_be_told_apart_and_one_is_the_same_in_all_texts() -> None:
    made = Redactor(PRIVATE)
    assert made.text("/data/bob/a.py") == made.text("/data/bob/a.py") == "/data/folder1/a.py"
    assert made.text("/data/carol/a.py") == "/data/folder2/a.py"
    assert made.text("file:///data/bob/b.py") == "file:///data/folder1/b.py"


def test_a_name_that_is_shown_later_is_hidden_before_it() -> None:
    assert passed_on("/data/bob/a.py: by bob\nbob@lab-pc:~$ ls") == "/data/user2/a.py: by user2\nuser2@host2:~$ ls"


def test_a_path_with_blanks_is_known_in_a_sentence() -> None:
    made = Redactor(PRIVATE)
    made.learn_path("/data/bob/My Project/.venv/bin/python")
    said = made.text("PyTorch in /data/bob/My Project/.venv/bin/python cannot use the GPU.")
    assert said == "PyTorch in /data/folder1/folder2/.venv/bin/python cannot use the GPU."
    assert made.environment("My Project/.venv") == "folder2/.venv"
    assert made.environment("dl") == "dl"


def test_the_folder_of_an_environment_stays_unless_it_is_a_name() -> None:
    made = Redactor(PRIVATE)
    made.keep("labenv")
    made.keep("wei")
    assert made.text("/data/acme/labenv/bin/python") == "/data/folder1/labenv/bin/python"
    assert made.text("/data/acme/wei/bin/python") == "/data/folder1/user/bin/python"


def test_in_what_is_known_to_be_ours_nothing_is_guessed() -> None:
    made = Redactor(PRIVATE)
    made.text("/data/acme/x/bin/python bob@lab-pc:~$")
    said = "'/data/acme/x/bin/python' -m pip install --index-url https://pip.new.com/simple /data/new -n bob"
    assert made.known(said) == said.replace("acme", "folder1").replace("bob", "user2")


def test_the_own_name_is_hidden_even_if_it_is_short() -> None:
    assert passed_on("by li, in parallel", Private(("li",), ("/home/li",))) == "by user, in parallel"


@pytest.mark.parametrize("name", ["torch", "gpu", "train", "info", "x", "it"])
def test_a_name_that_is_a_word_of_every_log_does_not_eat_the_log(name: str) -> None:
    text = "x torch gpu it train info: 1"
    assert passed_on(text, Private((name,), (f"/home/{name}",), (name,))) == text
    assert passed_on(f"{name}@{name}:~$ {text}").endswith(text)


@pytest.mark.parametrize("name", ["max", "adam", "numpy", "install"])
def test_a_name_that_is_a_word_of_programs_is_hidden_only_where_it_stands_for_somebody(name: str) -> None:
    redactor = Redactor(Private(users=(name,)))
    for line in (f"torch.{name}(x)", f"--{name}-len 3 {name}_split_size_mb:128", f"TORCH_{name.upper()}_X=1"):
        assert redactor.text(line) == line
    for line in (f"{name}@lab7:~$ ls", f"/data/{name}/x.py", rf"C:\Users\{name}\x", f"USER={name}", f"{name}@acme.com"):
        assert name not in redactor.text(line)
    private = Private(users=(name,))
    assert redact_text(f"python --{name}-len 3 torch.{name}(1)", private) == f"python --{name}-len 3 torch.{name}(1)"
    assert name not in redact_text(f"/scratch/{name}/run.py USER={name} {name}@gpu1:/x", private)


@pytest.mark.parametrize(
    ("code", "later"),
    [
        ("def f(user: str, login: bool): pass", "str(x) bool(y)"),
        ("hostname=args.host", "args.lr"),
        ("hostname: str = 'x'", "str"),
        ("user=dict(a=1)", "dict"),
        ("/home/compile/x.py", "model = torch.compile(model)"),
        ("hostname: dataloader", "DataLoader(data, num_workers=8)"),
        ("user: install", "pip install --upgrade torch"),
    ],
)
def test_code_and_everyday_names_take_no_word_from_later_texts(code: str, later: str) -> None:
    redactor = Redactor(Private())
    redactor.text(code)
    assert redactor.text(later) == later


def test_what_was_replaced_is_noted_word_by_word() -> None:
    replaced = Replaced()
    text = "/data/bob/x.py \\\\nas01\\share bob@lab-pc:~$ /data/acme/y.py /home/wei/z.py of wei"
    text += " from 10.1.2.3 with HF_TOKEN=abc"
    passed_on(text, replaced=replaced)
    assert {(kind, word): (instead, count) for (kind, word, instead), count in replaced.counts.items()} == {
        (Secret.USER, "bob"): ("user2", 2),
        (Secret.USER, "wei"): ("user", 1),
        (Secret.FOLDER, "acme"): ("folder1", 1),
        (Secret.HOME, "/home/wei"): ("~", 1),
        (Secret.ADDRESS, "10.1.2.3"): ("0.0.0.0", 1),
        (Secret.SECRET, "HF_TOKEN=abc"): ("HF_TOKEN=***", 1),
        (Secret.HOST, "lab-pc"): ("host2", 1),
        (Secret.HOST, "nas01"): ("host3", 1),
    }


PATTERNS = ("/", "\\", "a@", "/a", "/a b", "a:", "a:b:", "token_", '"/', "'/a ", "http://", "a.", "a@a.", "/d/x y z/")
MORE_PATTERNS = (
    "C:\\a b ",
    "user:",
    "host:",
    " ",
    "a",
    "_",
    "b@l-c:~",
    "//a",
    "\\\\a",
    "1.1.1.1 ",
    "[a@b ",
    "张/",
    "a=",
)


def pieces(text: str) -> Iterator[str]:
    yield from redactor._pieces(text)


@pytest.mark.parametrize("pattern", [*PATTERNS, *MORE_PATTERNS])
def test_a_long_line_holds_nobody_up(pattern: str) -> None:
    """The time of one piece: while a pattern is looked for, no other thread runs. The median, since others work too."""
    line = (pattern * (1 << 20))[: 1 << 18]
    made, times = Redactor(PRIVATE), []
    for piece in pieces(line):
        start = time.thread_time()
        made.text(piece)
        times.append(time.thread_time() - start)
    assert sorted(times)[len(times) // 2] < 0.05


def test_many_names_hold_nobody_up() -> None:
    made = Redactor(PRIVATE)
    text = "".join(
        f"u{n}x{n * 7919}@h{n}.example.com node{n}abc:{n}:{n} [0] NCCL INFO /home/张{n}伟/x\n" for n in range(1000)
    )
    start = time.thread_time()
    made.text(text)
    clean = made.text(text)
    assert time.thread_time() - start < 4
    assert clean.startswith("user2@host3 host2:0:0 [0] NCCL INFO /home/user3/x\n")


def test_a_name_is_hidden_however_it_is_written() -> None:
    made = Redactor(Private(("Jörg Müller", "bob", "bob-2")))
    said = "by Jo\u0308rg Mu\u0308ller, J%C3%B6rg%20M%C3%BCller, BOB, bob-2, bob-22, bobby"
    assert made.text(said) == "by user, user, user, user, user-22, bobby"


def test_pieces_are_the_whole_text() -> None:
    text = "a b" * 10_000 + "\n" + os.linesep + "x" * 20_000
    assert "".join(pieces(text)) == text

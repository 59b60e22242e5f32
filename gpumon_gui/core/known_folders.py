"""Knows: names (of folders, files, sites, plain words) that are everybody's, so that they tell nothing. Must not know:
texts.

What is here stays in a report that is passed on; whatever else a folder is called, a person chose.
"""

from __future__ import annotations

import re
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Top folders below which a system or its software lies, and nothing of a person.
SYSTEM: Final = _words(
    """
    applications bin boot dev etc lib lib32 lib64 library nix proc sbin snap sys system usr windows
    """
) | {"program files", "program files (x86)", "programdata"}
#: Folders whose content is software, wherever they lie: how it is laid out tells a helper what is wrong.
SOFTWARE: Final = _words(
    """
    site-packages dist-packages system32 syswow64 winsxs driverstore windowsapps drivers conda-meta pkgs
    """
) | {"nvidia gpu computing toolkit", "nvidia corporation"}
#: Folders that hold the folders of accounts.
ACCOUNTS: Final = frozenset({"home", "homes", "users", "用户"})
#: Names in :data:`ACCOUNTS` that are nobody's.
NOBODY: Final = frozenset({"public", "default", "all users", "default user", "shared"})
#: Folders that hold environments by name; the name is what people call theirs.
ENVIRONMENTS: Final = _words("envs venvs virtualenvs .virtualenvs versions conda_envs")

_FOLDERS: Final = _words(
    """
    root tmp temp var opt srv mnt media run private folders volumes volume cygdrive data datas dataset datasets
    scratch work working workspace workspaces shared share storage nfs lustre gpfs cluster export exports sw apps
    app software content kaggle input drive mydrive desktop documents downloads pictures videos music onedrive
    dropbox appdata local roaming locallow programs packages microsoft startmenu localcache localstate library
    caches preferences bin sbin lib lib32 lib64 libs libexec include src source sources build dist out output
    outputs result results log logs model models weights checkpoint checkpoints notebook notebooks script scripts
    example examples experiment experiments runs project projects repo repos git github gitlab code test tests train
    val tools tool utils docs etc config configs core common cache resources assets images tmp_trainer wandb mlruns
    lightning_logs tensorboard api aten c10 thc nn csrc conda-bld onnxruntime_src path to native distributed
    providers session compiler runtime framework platform stream_executor displaydriver win10 win11 international
    x64 x86_64 common_runtime blobs snapshots _work actions-runner builder feedstock_root build_artifacts env envs
    venv venvs virtualenv virtualenvs .env .venv .envs .venvs .virtualenvs conda_envs conda anaconda miniconda
    miniforge mambaforge micromamba mamba pyenv .pyenv pyenv-win versions uv .uv pip pipx pypoetry poetry .poetry
    hatch spack easybuild modules scoop choco homebrew cellar python pythoncore site-packages dist-packages
    __pycache__ __pypackages__ jupyter ipykernel kernels .cache .config .local .conda .nv .keras .torch .triton
    .ipython .jupyter .git .vscode .vscode-server .cursor .idea .cargo .rustup .npm .docker .kube .ssh .aws .ollama
    .trash .dotnet .nuget nvidia nvidia_hub nvcc nvvm cuda cudnn tensorrt nccl nvhpc hpc_sdk cutlass intel amd rocm
    hip rocblas hipblas hipblaslt miopen capi google protobuf generic
    lambda torch pytorch tensorflow jax jaxlib keras onnxruntime cupy triton torch_extensions torchinductor
    huggingface hub transformers diffusers accelerate comfyui ollama vllm colab ipython steam blender gpumon gpumon_gui
    issues pull discussions tree blob raw resolve commit commits releases download wiki main master
    """
) | {"google drive", "application support", "my documents", "nvidia gpu computing toolkit", "start menu", "open-webui"}
#: The same with a number: ``data2``, ``v12.4``, ``3.11.7``; a folder for a moment; what stands for a name already.
_NUMBERED: Final = re.compile(
    r"v?\d{1,3}(?:\.\d+){0,3}(?:-?cuda[-.\d]+)?|nvme\d+n\d+|tmp[a-z0-9_]{8}|(?:folder|user|host)\d*|"
    r"(?:ssd|hdd|nvme|disk|drive|data|vol|volume|home|scratch|raid|storage|nas|mnt|tmp|gpu|run|exp|version|checkpoint|"
    r"epoch|step|part)[-_.]?\d+"
)
#: Software with its version: ``cuda-12.4``, ``Python311``, ``miniconda3``.
_OF_SOFTWARE: Final = re.compile(
    r"(?:python|cuda|cudnn|nccl|tensorrt|torch|pytorch|tensorflow|jax|pypy|gcc|llvm|clang|rocm|nvidia|lib|venv|env|py|tf|"
    r"anaconda|miniconda|miniforge|mambaforge)[-_.]?v?\d+(?:[._-]\d+){0,3}t?|"
    r"(?:cpython|pythonsoftwarefoundation\.python|python\.\d)[-\w.+]*"
)
#: Files are told from folders by these endings.
_FILE: Final = re.compile(
    r"[^.].*\.(?:py[cdiwx]?|pth?|ipynb|so|dll|exe|dylib|sys|ko|json[lc]?|ya?ml|toml|txt|log|out|err|md|rst|csv|tsv|np[yz]|"
    r"ckpt|safetensors|gguf|onnx|pb|pbtxt|h5|hdf5|keras|pkl|pickle|joblib|bin|dat|gz|xz|bz2|zst|zip|tar|tgz|7z|rar|whl|"
    r"egg|cfg|conf|ini|env|sh|bash|zsh|fish|bat|cmd|ps1|c|cc|cpp|cxx|cu|cuh|h|hpp|ptx|cubin|o|a|obj|f90|jl|lua|rs|go|"
    r"java|jar|js|ts|mat|png|jpe?g|gif|bmp|tiff?|webp|mp[34]|avi|mkv|wav|flac|parquet|arrow|feather|tfrecords?|db|sqlite3?|"
    r"sock|lock|pid|html?|xml|svg|pdf|trace|nsys-rep|qdrep|ncu-rep|slurm|sbatch|service|rules|bak|tmp)"
    r"(?:\.\d+){0,3}",
    re.IGNORECASE,
)
_PROGRAMS: Final = _words(
    """
    python pythonw python2 python3 pip pip3 conda mamba uv nvcc nvidia-smi jupyter ipython torchrun accelerate
    activate bash sh zsh fish node git make cmake ninja gcc g++ clang ld ldconfig readme license makefile dockerfile
    """
)
#: Folders whose entries are programs.
_OF_PROGRAMS: Final = frozenset({"bin", "sbin", "scripts", "condabin"})


def tells_nothing(folder: str) -> bool:
    """Whether a folder's name is everybody's."""
    low = folder.casefold()
    is_known = low in _FOLDERS or low in ACCOUNTS or not low.strip(".…")
    return is_known or _NUMBERED.fullmatch(low) is not None or _OF_SOFTWARE.fullmatch(low) is not None


def is_file(name: str, folder: str) -> bool:
    """Whether the last part of a path is a file's name. ``folder`` is the one that it lies in."""
    is_program = name.casefold() in _PROGRAMS or (folder.casefold() in _OF_PROGRAMS and " " not in name)
    return is_program or _FILE.fullmatch(name) is not None


#: Words that logs and facts are made of. A person or a machine of that name is not hidden: nothing could be read then.
_PLAIN: Final = _words(
    """
    ai ml cv it pc os io ip to in is of on or at by no if go do as an be we me my up us gb mb kb tb hz id py cu tf
    pt so am pm ms ns vs en zh cn uv nv hf sm gpu gpus cpu cpus rank world worker workers master node nodes server
    client cloud device devices driver drivers kernel machine host localhost user username admin administrator
    ubuntu debian fedora centos linux windows macos wsl container root guest nobody none null true false yes unknown
    info high medium low error errors warning debug fatal trace note file line module class function version system
    default name type path memory batch epoch loss step nvml nvrm smi pci pcie sha256 md5 git svn ssh http https tcp
    udp main self cls model tensor layer loader blocks crashes slows claimed proven fails environment unlisted venv
    store found missing failed ok the and for from with not are was has have you your this that all any can will ray
    slurm mpi gloo sshd root.cache jovyan vscode colab kaggle runner jenkins build service daemon systemd
    str int bool float bytes dict list tuple set optional any object args nvlink
    """
)
#: Words of commands, of code and of advice that may also be the name of a person or a computer.
_EVERYDAY: Final = _words(
    """
    activate adam adamw amp apex apt autocast batch batch_size bert bf16 bitsandbytes bus cache cached clip clock clocks
    commit compile conda core cores create cuda cudnn cufft cublas data dataloader ddp deepspeed dist dropout dtype env
    export extra-index-url flash-attn float16 float32 force-reinstall fp16 fp32 fsdp gpt graph half index-url inf
    install jax keras limit llama load lora loss matmul max mean memory min mix mkl mode modprobe nan nccl nouveau numpy
    num_workers ops optim pandas peft persistent pin_memory pip pod power prefetch python pytorch rate read ready reduce
    requirements reserved reset resnet run sample save scale scipy sdpa seed set shard shared size sklearn slow smi
    split start stats step stop stream sudo sum sync systemctl temp tensorflow test time torch torchaudio torchvision
    total train trainer training triton unet uninstall unset upgrade used vae val wait warp watch whl write xformers xla
    """
)
#: Sites that everybody uses; which of their pages it is tells what went wrong.
_SITES: Final = _words(
    """
    pytorch.org nvidia.com nvidia.cn nvcr.io github.com github.io githubusercontent.com gitlab.com pypi.org
    pythonhosted.org python.org tensorflow.org google.com google.dev jax.dev huggingface.co hf.co hf-mirror.com
    anaconda.org anaconda.com anaconda.cloud conda.io conda-forge.org microsoft.com aka.ms windows.com
    onnxruntime.ai onnx.ai cupy.dev readthedocs.io amd.com intel.com docker.com docker.io ubuntu.com debian.org
    kernel.org fedoraproject.org redhat.com archlinux.org stackoverflow.com stackexchange.com wikipedia.org
    lightning.ai ray.io ultralytics.com apache.org gnu.org w3.org astral.sh brew.sh ollama.com tsinghua.edu.cn
    ustc.edu.cn nju.edu.cn sjtu.edu.cn bfsu.edu.cn huaweicloud.com kaggle.com bitbucket.org gitee.com hf.space
    mirrors.aliyun.com mirrors.cloud.tencent.com gmail.com outlook.com qq.com 163.com
    """
)
#: Sites where anybody has repositories: ``/OWNER/NAME``.
_REPOSITORIES: Final = _words(
    "github.com raw.githubusercontent.com gist.github.com gitlab.com bitbucket.org gitee.com huggingface.co hf.co "
    "hf-mirror.com kaggle.com"
)
#: Owners of what everybody uses, and first words of pages that are nobody's.
_OWNERS: Final = _words(
    """
    pytorch tensorflow keras-team google google-research google-deepmind deepmind jax-ml openai nvidia nvlabs
    nvidia-ai-iot microsoft facebookresearch facebook meta-llama huggingface dao-ailab vllm-project sgl-project
    unslothai unsloth bitsandbytes-foundation timdettmers ultralytics lightning-ai cupy numba numpy scipy pandas-dev
    scikit-learn onnx deepspeedai hpcaitech open-mmlab comfyanonymous comfy-org automatic1111 lllyasviel oobabooga
    ggml-org ggerganov abetlen ollama ray-project apache conda conda-forge anaconda pypa python psf astral-sh docker
    moby kubernetes rocm amd intel oneapi-src triton-lang openxla rapidsai dmlc paddlepaddle modelscope qwenlm qwen
    deepseek-ai mistralai stabilityai runwayml compvis black-forest-labs tiiuae bigscience eleutherai thudm zai-org
    internlm baichuan-inc allenai bigcode google-bert google-t5 facebookai openai-community distilbert
    sentence-transformers timm laion state-spaces mit-han-lab thebloke pyg-team rusty1s kornia wandb mlflow tqdm actions
    docs blog models papers settings orgs topics features login marketplace collections tasks learn search explore
    """
)


def is_plain(word: str) -> bool:
    """Whether a word is too common to be hidden wherever it stands."""
    low = word.casefold()
    is_known = low in _PLAIN or low in _FOLDERS or _OF_SOFTWARE.fullmatch(low) is not None
    return is_known or (word.isascii() and len(word) < 2) or re.fullmatch(r"(?:gpu|cuda)\d|rank\d*", low) is not None


def is_everyday(word: str) -> bool:
    """Whether a word means something else in texts about programs: as a name it is hidden only where one stands."""
    low = word.casefold()
    return is_plain(word) or low in _EVERYDAY or re.fullmatch(r"cu\d{2,3}|python[\d.]+", low) is not None


def is_site(host: str) -> bool:
    """Whether a host is one that everybody knows."""
    low = host.casefold()
    return any(low == site or low.endswith(f".{site}") for site in _SITES)


def has_repositories(host: str) -> bool:
    """Whether a site is one where anybody has repositories."""
    return host.casefold() in _REPOSITORIES


def is_known_owner(owner: str) -> bool:
    """Whether repositories are of somebody whom everybody knows."""
    return owner.casefold() in _OWNERS

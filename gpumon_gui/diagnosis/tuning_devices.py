"""Knows: what to do about GPU memory, several GPUs, heat and power, with code for the framework of the program.
Must not know: which rule advises it.
"""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Step

_TORCH, _TENSORFLOW, _JAX = "PyTorch", "TensorFlow", "JAX"


def loaded(view: View, framework: str) -> bool | None:
    """Whether the program has this framework loaded; None where it is not known which it has."""
    found = view.text("job.program.framework")
    return None if not found else framework.lower() in found.lower()


def for_framework(
    view: View, torch: tuple[Step, ...] = (), tensorflow: tuple[Step, ...] = (), jax: tuple[Step, ...] = ()
) -> tuple[Step, ...]:
    """The steps of the program's framework; those of PyTorch and TensorFlow where it is not known, or another one."""
    chosen = tuple(
        step
        for framework, steps in ((_TORCH, torch), (_TENSORFLOW, tensorflow), (_JAX, jax))
        if loaded(view, framework)
        for step in steps
    )
    return chosen or (*torch, *tensorflow)


def memory_snapshot(view: View) -> tuple[Step, ...]:
    """Find out which line of the program allocated what is still alive."""
    return for_framework(
        view,
        torch=(
            advice.say(
                N_(
                    "PyTorch: record who allocates for some steps, then open the file with GPUMon's diagnose --profile:"
                ),
                "torch.cuda.memory._record_memory_history(max_entries=100000)\n"
                "# ... a few hundred steps ...\n"
                'torch.cuda.memory._dump_snapshot("memory.pickle")',
            ),
        ),
        tensorflow=(
            advice.say(
                N_("TensorFlow: print what it uses after each epoch, to see in which part it rises:"),
                'print(tf.config.experimental.get_memory_info("GPU:0"))',
            ),
        ),
        jax=(
            advice.say(
                N_("JAX: write down what is alive, at two moments, and compare:"),
                'jax.profiler.save_device_memory_profile("memory.prof")',
            ),
        ),
    )


def keep_no_graph(view: View) -> tuple[Step, ...]:
    """The usual leak of a training loop."""
    return for_framework(
        view,
        torch=(
            advice.say(
                N_(
                    "PyTorch: keep numbers, not tensors with their graph, across steps; evaluate under "
                    "torch.no_grad(); delete what you no longer need:"
                ),
                "running_loss += loss.detach()\nwith torch.no_grad():\n    validate(model)",
            ),
        ),
        tensorflow=(
            advice.say(
                N_(
                    "TensorFlow: a @tf.function that is called with ever new Python values is traced anew each time; "
                    "give it tensors, and keep numbers (float(loss)) in lists:"
                ),
                "history.append(float(loss))",
            ),
        ),
        jax=(
            advice.say(N_("JAX: lists of arrays keep them on the GPU; keep numbers:"), "history.append(float(loss))"),
        ),
    )


def release_memory(view: View) -> tuple[Step, ...]:
    """Give back what is not needed while the program lives on."""
    return for_framework(
        view,
        torch=(
            advice.say(
                N_("PyTorch: to give it back while the program goes on (in a notebook too):"),
                "del model, optimizer, batch\nimport gc; gc.collect()\ntorch.cuda.empty_cache()",
            ),
        ),
        tensorflow=(
            advice.say(
                N_("TensorFlow gives memory back only when its process ends: restart the notebook's kernel, or:"),
                "tf.keras.backend.clear_session()",
            ),
        ),
        jax=(advice.say(N_("JAX gives memory back only when its process ends: restart it or the notebook's kernel.")),),
    )


def need_less_memory(view: View) -> tuple[Step, ...]:
    """Fit into what there is, at the same effective batch size."""
    return for_framework(
        view,
        torch=(
            advice.say(
                N_(
                    "PyTorch: halve the batch and add gradients up over two steps; mixed precision and checkpointing "
                    "save more:"
                ),
                "loss = model(x, y) / 2\nloss.backward()\nif step % 2:\n"
                "    optimizer.step(); optimizer.zero_grad(set_to_none=True)",
            ),
            advice.say(
                N_("PyTorch: against waste between its blocks, set before the program starts:"),
                advice.set_variable(view, "PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"),
            ),
        ),
        tensorflow=(
            advice.say(
                N_("TensorFlow: halve the batch and let Keras add gradients up; mixed precision saves more:"),
                "optimizer = keras.optimizers.Adam(gradient_accumulation_steps=2)\n"
                'keras.mixed_precision.set_global_policy("mixed_float16")',
            ),
        ),
        jax=(
            advice.say(N_("JAX: a smaller batch, and rematerialisation of the largest layers:"), "jax.checkpoint(f)"),
        ),
    )


def limit_memory(view: View) -> tuple[Step, ...]:
    """Let others have a part of the GPU's memory."""
    return for_framework(
        view,
        torch=(
            advice.say(
                N_("PyTorch: give one process no more than a share, here a half:"),
                "torch.cuda.set_per_process_memory_fraction(0.5)",
            ),
        ),
        tensorflow=(
            advice.say(
                N_("TensorFlow: take memory as it is needed (first thing in the program) …"),
                'for gpu in tf.config.list_physical_devices("GPU"):\n'
                "    tf.config.experimental.set_memory_growth(gpu, True)",
            ),
            advice.say(
                N_("… or a fixed part of it, here 4 GB:"),
                'gpu = tf.config.list_physical_devices("GPU")[0]\n'
                "tf.config.set_logical_device_configuration(\n"
                "    gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=4096)])",
            ),
        ),
        jax=(
            advice.say(
                N_("JAX: take memory as it is needed (set before Python starts):"),
                advice.set_variable(view, "XLA_PYTHON_CLIENT_PREALLOCATE", "false"),
            ),
            advice.say(
                N_("… or a share of it, here 40 percent:"),
                advice.set_variable(view, "XLA_PYTHON_CLIENT_MEM_FRACTION", ".40"),
            ),
        ),
    )


def use_all_gpus(view: View) -> tuple[Step, ...]:
    """One process per GPU."""
    return for_framework(
        view,
        torch=(
            advice.say(
                N_("PyTorch: one process per GPU with DistributedDataParallel (not DataParallel), started so:"),
                "torchrun --nproc_per_node=gpu train.py",
            ),
            advice.say(
                N_("… and in the script:"),
                'torch.distributed.init_process_group("nccl")\n'
                'rank = int(os.environ["LOCAL_RANK"])\n'
                "torch.cuda.set_device(rank)\n"
                "model = DistributedDataParallel(model.to(rank), device_ids=[rank])\n"
                "sampler = DistributedSampler(dataset)",
            ),
        ),
        tensorflow=(
            advice.say(
                N_("TensorFlow: build and compile the model inside a strategy:"),
                "strategy = tf.distribute.MirroredStrategy()\nwith strategy.scope():\n"
                "    model = build_model()\n    model.compile(...)",
            ),
        ),
        jax=(
            advice.say(
                N_("JAX: shard the batch over all devices:"),
                'mesh = jax.make_mesh((jax.device_count(),), ("batch",))\n'
                'batch = jax.device_put(batch, NamedSharding(mesh, PartitionSpec("batch")))',
            ),
        ),
    )


def faster_exchange(view: View) -> tuple[Step, ...]:
    """Exchange less, or hide it."""
    return (
        *for_framework(
            view,
            torch=(
                advice.say(
                    N_("PyTorch: exchange half the bytes, and only every few steps:"),
                    "from torch.distributed.algorithms.ddp_comm_hooks import default_hooks\n"
                    "model.register_comm_hook(None, default_hooks.bf16_compress_hook)\n"
                    "with model.no_sync():  # for all but the last of the steps that are added up\n"
                    "    loss.backward()",
                ),
                advice.say(
                    N_(
                        "PyTorch: larger buckets suit fast links; gradients as views of the buckets save a copy; a "
                        "static graph overlaps better:"
                    ),
                    "DistributedDataParallel(\n"
                    "    model, bucket_cap_mb=100, gradient_as_bucket_view=True, static_graph=True)",
                ),
            ),
            tensorflow=(
                advice.say(
                    N_("TensorFlow: a larger batch per GPU, so that the exchange happens less often, and NCCL for it:"),
                    "tf.distribute.MirroredStrategy(cross_device_ops=tf.distribute.NcclAllReduce())",
                ),
            ),
        ),
        advice.say(
            N_(
                "See which way the data takes: NV is NVLink, PIX or PXB one switch, SYS the way through the processors:"
            ),
            "nvidia-smi topo -m",
        ),
    )


def nccl_debug(view: View) -> tuple[Step, ...]:
    """Find the collective that hangs."""
    return (
        advice.say(
            N_("Start it again with NCCL's own messages, to see what each rank waits for:"),
            "\n".join(
                advice.set_variable(view, name, value)
                for name, value in (("NCCL_DEBUG", "INFO"), ("TORCH_NCCL_BLOCKING_WAIT", "1"))
            ),
        ),
        advice.say(
            N_(
                "If it then works with this, GPUs do not reach each other directly (IOMMU or ACS of the mainboard is "
                "on):"
            ),
            advice.set_variable(view, "NCCL_P2P_DISABLE", "1"),
        ),
    )


def cool() -> tuple[Step, ...]:
    """Heat."""
    return (
        advice.say(
            N_(
                "Let air in: clean fans and filters, raise a notebook from the table, choose the maker's performance "
                "fan mode. A power limit 10 to 20 percent lower costs little speed and much heat."
            )
        ),
        advice.check("nvidia-smi -q -d PERFORMANCE,TEMPERATURE"),
    )

"""Knows: what to change in a program, by topic and framework, with the code to write. Must not know: when that is
advised.

``steps(view, "workers", "amp")`` gives the steps of those topics for the framework seen in the program; where none was
seen, those of PyTorch and TensorFlow, each with its name. A topic without a variant for a framework gives its general
steps (key ``""``), else nothing. Sources: PyTorch's performance tuning guide and torch.utils.data, TensorFlow's guides
"Better performance with the tf.data API", "Mixed precision" and "Use a GPU", JAX's GPU performance tips and its page on
GPU memory allocation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Step

TORCH: Final[str] = "PyTorch"
TENSORFLOW: Final[str] = "TensorFlow"
JAX: Final[str] = "JAX"
ANY: Final[str] = ""
LEARNING: Final = (TORCH, TENSORFLOW, JAX)

_Advice = tuple[tuple[str, str], ...]

#: Topic → framework → steps (text, code). ``$WORKERS`` is filled in with a number.
TOPICS: Final[Mapping[str, Mapping[str, _Advice]]] = {
    "measure-loader": {
        TORCH: (
            (
                N_(
                    "Measure first: time the loop over the data alone. If it is as slow as training, data are the "
                    "limit."
                ),
                "for batch in loader:\n    pass",
            ),
        ),
        TENSORFLOW: (
            (
                N_(
                    "Measure first: time the loop over the data alone. If it is as slow as training, data are the "
                    "limit."
                ),
                "for batch in dataset:\n    pass",
            ),
        ),
    },
    "workers": {
        TORCH: (
            (
                N_(
                    "PyTorch: load data in processes of their own that live on between epochs and work ahead. On "
                    'Windows the program\'s start must stand under if __name__ == "__main__".'
                ),
                "DataLoader(dataset, batch_size=…, num_workers=$WORKERS, pin_memory=True,\n"
                "           persistent_workers=True, prefetch_factor=4)",
            ),
        ),
        TENSORFLOW: (
            (
                N_("TensorFlow: decode and augment in parallel, read files side by side, and work ahead."),
                "files.interleave(tf.data.TFRecordDataset, num_parallel_calls=tf.data.AUTOTUNE)\\\n"
                "     .map(decode, num_parallel_calls=tf.data.AUTOTUNE)\\\n"
                "     .batch(…).prefetch(tf.data.AUTOTUNE)",
            ),
        ),
        JAX: (
            (
                N_(
                    "JAX: load data in processes of their own and hand batches over ahead of time, for example with "
                    "Grain."
                ),
                "grain.DataLoader(data_source=…, sampler=…, operations=…, worker_count=$WORKERS)",
            ),
        ),
    },
    "cheaper-transforms": {
        TORCH: (
            (
                N_(
                    "PyTorch: more processes do not help once all cores are full: make each sample cheaper. Store "
                    "images at the size that is used, decode them on the GPU, and do what is possible with the whole "
                    "batch there."
                ),
                "images = torchvision.io.decode_jpeg(data, device='cuda')\n"
                "batch = torchvision.transforms.v2.RandomHorizontalFlip()(batch.to('cuda', non_blocking=True))",
            ),
        ),
        TENSORFLOW: (
            (
                N_(
                    "TensorFlow: more parallel calls do not help once all cores are full: make each sample cheaper. "
                    "Keep decoded data with cache(), and augment on the GPU with layers inside the model."
                ),
                "dataset = dataset.map(decode).cache().shuffle(…).batch(…)\n"
                "model = tf.keras.Sequential([tf.keras.layers.RandomFlip(), backbone])",
            ),
        ),
        ANY: ((N_("Prepare the data once, before training, and store them ready to use."), ""),),
    },
    "slow-storage": {
        TORCH: (
            (
                N_(
                    "PyTorch: many small files are slow on any disk; copy the data to a local SSD, or pack them into "
                    "few large files (WebDataset, LMDB, Parquet) that are read from front to back."
                ),
                "dataset = webdataset.WebDataset('shards-{000000..000099}.tar').decode('torchrgb')",
            ),
        ),
        TENSORFLOW: (
            (
                N_(
                    "TensorFlow: many small files are slow on any disk; copy the data to a local SSD, pack them into "
                    "TFRecord files of 100 to 200 MB, read several at once, and keep what fits into memory with "
                    "cache()."
                ),
                "tf.data.Dataset.list_files('*.tfrecord').interleave(tf.data.TFRecordDataset,\n"
                "    cycle_length=16, num_parallel_calls=tf.data.AUTOTUNE).cache().prefetch(tf.data.AUTOTUNE)",
            ),
        ),
        ANY: ((N_("Copy the data to a local SSD, or keep what fits in memory."), ""),),
    },
    "one-process": {
        ANY: (
            (
                N_(
                    "One process of this program has its core full while the others wait for it. Look at what it does, "
                    "for example with py-spy, and split or move that work."
                ),
                "py-spy top --pid $PID",
            ),
        ),
    },
    "transfers": {
        TORCH: (
            (
                N_(
                    "PyTorch: copy from pinned memory, without waiting, while the GPU computes the batch before; keep "
                    "what is used again on the GPU, and send small types (uint8 images) instead of float32."
                ),
                "loader = DataLoader(dataset, pin_memory=True, num_workers=$WORKERS)\n"
                "batch = batch.to('cuda', non_blocking=True)",
            ),
        ),
        TENSORFLOW: (
            (
                N_(
                    "TensorFlow: have batches copied to the GPU ahead of time; keep what is used again there, and send "
                    "small types (uint8 images) instead of float32."
                ),
                "dataset = dataset.apply(tf.data.experimental.prefetch_to_device('/GPU:0'))",
            ),
        ),
        JAX: (
            (
                N_("JAX: put the next batch on the GPU while this one is computed, and keep there what is used again."),
                "next_batch = jax.device_put(next_batch)  # before using the present one",
            ),
        ),
    },
    "batch-size": {
        TORCH: (
            (
                N_(
                    "Make the batch larger while memory lasts: if a step takes as long as before, the larger batch is "
                    "free. Adapt the learning rate."
                ),
                "DataLoader(dataset, batch_size=4 * batch_size)",
            ),
        ),
        TENSORFLOW: (
            (
                N_(
                    "Make the batch larger while memory lasts: if a step takes as long as before, the larger batch is "
                    "free. Adapt the learning rate."
                ),
                "model.fit(dataset.batch(4 * batch_size), steps_per_execution=32)",
            ),
        ),
        ANY: (
            (
                N_(
                    "Make the batch larger while memory lasts: if a step takes as long as before, the larger batch is "
                    "free. Adapt the learning rate."
                ),
                "",
            ),
        ),
    },
    "compile": {
        TORCH: (
            (
                N_("PyTorch: join small kernels and start them together."),
                "model = torch.compile(model, mode='reduce-overhead')",
            ),
        ),
        TENSORFLOW: ((N_("TensorFlow: let XLA join small kernels."), "model.compile(…, jit_compile=True)"),),
        JAX: (
            (
                N_("JAX: compile the whole step, and loop over steps inside it."),
                "step = jax.jit(step, donate_argnums=0)  # or jax.lax.scan over several steps",
            ),
        ),
    },
    "cuda-graphs": {
        TORCH: (
            (
                N_("PyTorch: with fixed shapes, a CUDA graph starts all kernels of a step at once."),
                "graph = torch.cuda.CUDAGraph()\nwith torch.cuda.graph(graph):\n    output = model(static_input)",
            ),
        ),
    },
    "amp": {
        TORCH: (
            (
                N_("PyTorch: compute in 16 bits on the tensor cores, and let the rest of float32 use them too."),
                "torch.set_float32_matmul_precision('high')\n"
                "with torch.autocast('cuda', dtype=torch.bfloat16):\n    loss = loss_function(model(batch), target)",
            ),
        ),
        TENSORFLOW: (
            (
                N_("TensorFlow: compute in 16 bits on the tensor cores; keep the last layer in float32."),
                "tf.keras.mixed_precision.set_global_policy('mixed_float16')",
            ),
        ),
        JAX: (
            (
                N_("JAX: keep activations in bfloat16, and allow tensor cores for float32 products."),
                "jax.config.update('jax_default_matmul_precision', 'tensorfloat32')",
            ),
        ),
    },
    "single-precision": {
        TORCH: (
            (
                N_(
                    "PyTorch: make float32 the type, and look for numpy arrays, which are float64 unless told "
                    "otherwise."
                ),
                "model = model.float()\nbatch = torch.from_numpy(array.astype('float32'))",
            ),
        ),
        TENSORFLOW: (
            (
                N_(
                    "TensorFlow: make float32 the type, and look for numpy arrays, which are float64 unless told "
                    "otherwise."
                ),
                "tf.keras.backend.set_floatx('float32')\nbatch = tf.cast(batch, tf.float32)",
            ),
        ),
        JAX: ((N_("JAX: switch 64 bits off."), "jax.config.update('jax_enable_x64', False)"),),
    },
    "convolutions": {
        TORCH: (
            (
                N_(
                    "PyTorch, convolutions of fixed size: let cuDNN choose once, and use the layout of the tensor "
                    "cores."
                ),
                "torch.backends.cudnn.benchmark = True\nmodel = model.to(memory_format=torch.channels_last)",
            ),
        ),
    },
    "sync": {
        TORCH: (
            (
                N_(
                    "PyTorch: look for places that wait for the GPU in each step: .item(), .cpu(), print(loss), if "
                    "loss > …, and copies without non_blocking. Collect values on the GPU and read them every 100 "
                    "steps."
                ),
                "total += loss.detach()  # instead of loss.item()\nif step % 100 == 0:\n    print(total.item())",
            ),
            (
                N_("Measure before and after: often it is a few percent only. PyTorch can say where it waits:"),
                "torch.cuda.set_sync_debug_mode('warn')",
            ),
        ),
        TENSORFLOW: (
            (
                N_(
                    "TensorFlow: look for places that wait for the GPU in each step: .numpy(), print, callbacks per "
                    "batch. Put several steps into one call."
                ),
                "model.compile(…, steps_per_execution=32)",
            ),
        ),
        JAX: (
            (
                N_(
                    "JAX: look for places that wait for the GPU in each step: float(loss), print, "
                    "block_until_ready(). Read values every 100 steps."
                ),
                "",
            ),
        ),
    },
    "to-gpu": {
        TORCH: (
            (
                N_(
                    "PyTorch: move the model and every batch to the GPU; the result of .to() must be assigned for "
                    "tensors."
                ),
                "device = torch.device('cuda')\nmodel.to(device)\nbatch = batch.to(device)",
            ),
        ),
        TENSORFLOW: (
            (
                N_("TensorFlow uses a GPU by itself where it finds one: see whether it does, and why not."),
                "print(tf.config.list_physical_devices('GPU'))\ntf.debugging.set_log_device_placement(True)",
            ),
        ),
        JAX: (
            (
                N_("JAX uses a GPU by itself where its CUDA package is installed: see what it found."),
                "print(jax.devices())",
            ),
        ),
    },
    "environments": {
        ANY: (
            (
                N_(
                    "Run more copies of the environment at once so that each step of the model serves many, and give "
                    "each process one thread; or use a simulator that runs on the GPU."
                ),
                "export OMP_NUM_THREADS=1",
            ),
        ),
    },
    "pauses": {
        TORCH: (
            (
                N_("PyTorch: evaluate less often, on the GPU, and compute metrics there instead of on the CPU."),
                "with torch.inference_mode():\n    metric.to('cuda').update(model(batch), target)",
            ),
            (
                N_("PyTorch: save checkpoints beside the training."),
                "torch.distributed.checkpoint.async_save(state, path)",
            ),
        ),
        TENSORFLOW: (
            (
                N_("TensorFlow: evaluate less often, and save checkpoints in the background."),
                "model.fit(…, "
                "validation_freq=5)\ntf.train.CheckpointOptions(experimental_enable_async_checkpoint=True)",
            ),
        ),
        ANY: ((N_("Do the work between the phases less often, or in a process of its own."), ""),),
    },
    "bandwidth": {
        TORCH: (
            (
                N_(
                    "This is normal for small batches. Larger batches use what is read more often; 16 or 8 bits for "
                    "weights halve or quarter what must be read; fused attention reads less."
                ),
                "torch.nn.functional.scaled_dot_product_attention(q, k, v)\nmodel = torch.compile(model)",
            ),
        ),
        ANY: (
            (
                N_(
                    "This is normal for small batches. Larger batches use what is read more often; 16 or 8 bits for "
                    "weights halve or quarter what must be read."
                ),
                "",
            ),
        ),
    },
    "memory-growth": {
        TENSORFLOW: (
            (
                N_("TensorFlow: take memory as it is needed, or set a limit. Both must come before the first use."),
                "for gpu in tf.config.list_physical_devices('GPU'):\n"
                "    tf.config.experimental.set_memory_growth(gpu, True)",
            ),
        ),
        JAX: (
            (
                N_("JAX: do not take memory ahead, or take less."),
                "XLA_PYTHON_CLIENT_PREALLOCATE=false  # or XLA_PYTHON_CLIENT_MEM_FRACTION=.5",
            ),
        ),
    },
    "memory-limit": {
        TORCH: (
            (
                N_("PyTorch: set a limit for this process."),
                "torch.cuda.set_per_process_memory_fraction(0.5)",
            ),
        ),
        TENSORFLOW: (
            (
                N_("TensorFlow: set a limit for this process (in MB)."),
                "tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(4096)])",
            ),
        ),
        JAX: ((N_("JAX: set a limit for this process."), "XLA_PYTHON_CLIENT_MEM_FRACTION=.5"),),
    },
    "fragmentation": {
        TORCH: (
            (
                N_("PyTorch: let blocks grow instead of leaving holes; set this before the program starts."),
                "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
            ),
        ),
    },
    "accumulate": {
        TORCH: (
            (
                N_("PyTorch: a smaller batch, with gradients added up over several steps, learns the same."),
                "(loss / 4).backward()\nif step % 4 == 3:\n    optimizer.step()\n"
                "    optimizer.zero_grad(set_to_none=True)",
            ),
            (
                N_("Or compute activations again instead of keeping them."),
                "torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)",
            ),
        ),
        TENSORFLOW: (
            (
                N_("TensorFlow: a smaller batch, with gradients added up over several steps, learns the same."),
                "optimizer = tf.keras.optimizers.AdamW(gradient_accumulation_steps=4)",
            ),
        ),
        ANY: ((N_("Use a smaller batch."), ""),),
    },
    "leak": {
        TORCH: (
            (
                N_(
                    "PyTorch: look for tensors that are kept with their graph: lists of losses, running sums. Keep "
                    "numbers instead. A snapshot of the memory shows who allocated what is still there."
                ),
                "losses.append(loss.item())  # not loss\n"
                "torch.cuda.memory._record_memory_history()\ntorch.cuda.memory._dump_snapshot('memory.pickle')",
            ),
        ),
        TENSORFLOW: (
            (
                N_(
                    "TensorFlow: look for tensors kept in lists, and for functions that are traced anew for each "
                    "shape or Python number."
                ),
                "@tf.function(reduce_retracing=True)",
            ),
        ),
    },
    "ddp": {
        TORCH: (
            (
                N_("PyTorch: use DistributedDataParallel with one process per GPU instead of DataParallel."),
                "torchrun --nproc-per-node=gpu train.py\n"
                "model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[local_rank])",
            ),
        ),
        TENSORFLOW: (
            (
                N_("TensorFlow: build and compile the model inside a strategy that uses all GPUs."),
                "with tf.distribute.MirroredStrategy().scope():\n    model = build()\n    model.compile(…)",
            ),
        ),
        JAX: (
            (
                N_("JAX: split the batch over all GPUs."),
                "mesh = jax.make_mesh((jax.device_count(),), ('batch',))\n"
                "batch = jax.device_put(batch, NamedSharding(mesh, PartitionSpec('batch')))",
            ),
        ),
    },
}


def steps(view: View, *topics: str, workers: int | None = None, pid: int | None = None) -> tuple[Step, ...]:
    """The steps of some topics. ``workers``: a number of loading processes to start with; ``pid``: a process to look
    at. Raises KeyError for an unknown topic."""
    recorded = {"torch": TORCH, "tensorflow": TENSORFLOW, "jax": JAX}.get(view.text("profile.framework") or "", "")
    if view.known("memory_snapshot"):
        recorded = TORCH
    seen = view.text("job.program.framework") or recorded
    known = [name for name in LEARNING if name in seen.split(", ")]
    found: list[Step] = []
    for topic in topics:
        variants = TOPICS[topic]
        chosen = [name for name in known or (TORCH, TENSORFLOW) if name in variants]
        if not chosen and ANY in variants:
            chosen = [ANY]
        texts: set[str] = set()
        for name in chosen:
            for text, code in variants[name]:
                code = code.replace("$WORKERS", str(workers or 4)).replace("$PID", str(pid or "PID"))
                if text not in texts:
                    found.append(advice.say(text, code))
                texts.add(text)
    return tuple(found)

"""Knows: what to change so that work fills the GPU: batches, fused kernels, fewer waits and pauses. Must not know: when
that is advised.
"""

from __future__ import annotations

from typing import Final

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis.tuning.topic import ANY, JAX, TENSORFLOW, TORCH, Topics

_BESIDE: Final = N_("PyTorch: save checkpoints beside the training.")
_TENSORFLOW_SAVES: Final = (
    (
        N_("TensorFlow: save checkpoints in the background."),
        "options = tf.train.CheckpointOptions(experimental_enable_async_checkpoint=True)\n"
        "checkpoint.save(path, options=options)",
    ),
)

TOPICS: Final[Topics] = {
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
    "larger-batch": {
        ANY: ((N_("This is normal for small batches: larger ones use what is read more often."), ""),),
    },
    "bandwidth": {
        TORCH: (
            (
                N_("16 or 8 bits for weights halve or quarter what must be read; fused attention reads less."),
                "torch.nn.functional.scaled_dot_product_attention(q, k, v)\nmodel = torch.compile(model)",
            ),
        ),
        ANY: ((N_("16 or 8 bits for weights halve or quarter what must be read."), ""),),
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
    "pauses": {
        TORCH: (
            (
                N_("PyTorch: evaluate less often, on the GPU, and compute metrics there instead of on the CPU."),
                "with torch.inference_mode():\n    metric.to('cuda').update(model(batch), target)",
            ),
        ),
        TENSORFLOW: ((N_("TensorFlow: evaluate less often."), "model.fit(…, validation_freq=5)"),),
        ANY: ((N_("Do the work between the phases less often, or in a process of its own."), ""),),
    },
    "checkpoints": {
        TORCH: (
            (
                _BESIDE,
                "state = {name: value.cpu() for name, value in model.state_dict().items()}\n"
                "threading.Thread(target=torch.save, args=(state, path)).start()",
            ),
        ),
        TENSORFLOW: _TENSORFLOW_SAVES,
    },
    "checkpoints-of-ranks": {
        TORCH: ((_BESIDE, "torch.distributed.checkpoint.async_save(state, checkpoint_id=path)"),),
        TENSORFLOW: _TENSORFLOW_SAVES,
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
}

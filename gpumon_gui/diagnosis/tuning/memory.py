"""Knows: what to change about the GPU's memory. Must not know: when that is advised."""

from __future__ import annotations

from typing import Final

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis.tuning.topic import JAX, TENSORFLOW, TORCH, Topics, Variable

TOPICS: Final[Topics] = {
    "memory-record": {
        TORCH: (
            (
                N_(
                    "PyTorch: record who allocates for some steps, then open the file with GPUMon's diagnose --profile:"
                ),
                "torch.cuda.memory._record_memory_history(max_entries=100000)\n"
                "# ... a few hundred steps ...\n"
                'torch.cuda.memory._dump_snapshot("memory.pickle")',
            ),
        ),
        TENSORFLOW: (
            (
                N_("TensorFlow: print what it uses after each epoch, to see in which part it rises:"),
                'print(tf.config.experimental.get_memory_info("GPU:0"))',
            ),
        ),
        JAX: (
            (
                N_("JAX: write down what is alive, at two moments, and compare:"),
                'jax.profiler.save_device_memory_profile("memory.prof")',
            ),
        ),
    },
    "keep-no-graph": {
        TORCH: (
            (
                N_(
                    "PyTorch: keep numbers, not tensors with their graph, across steps; evaluate under "
                    "torch.no_grad(); delete what you no longer need:"
                ),
                "running_loss += loss.detach()\nwith torch.no_grad():\n    validate(model)",
            ),
        ),
        TENSORFLOW: (
            (
                N_(
                    "TensorFlow: a @tf.function that is called with ever new Python values is traced anew each time; "
                    "give it tensors, and keep numbers (float(loss)) in lists:"
                ),
                "history.append(float(loss))",
            ),
        ),
        JAX: ((N_("JAX: lists of arrays keep them on the GPU; keep numbers:"), "history.append(float(loss))"),),
    },
    "release-memory": {
        TORCH: (
            (
                N_("PyTorch: to give it back while the program goes on (in a notebook too):"),
                "del model, optimizer, batch\nimport gc; gc.collect()\ntorch.cuda.empty_cache()",
            ),
        ),
        TENSORFLOW: (
            (
                N_("TensorFlow gives memory back only when its process ends: restart the notebook's kernel, or:"),
                "tf.keras.backend.clear_session()",
            ),
        ),
        JAX: ((N_("JAX gives memory back only when its process ends: restart it or the notebook's kernel."), ""),),
    },
    "need-less-memory": {
        TORCH: (
            (
                N_(
                    "PyTorch: halve the batch and add gradients up over two steps; mixed precision and checkpointing "
                    "save more:"
                ),
                "loss = model(x, y) / 2\nloss.backward()\nif step % 2:\n"
                "    optimizer.step(); optimizer.zero_grad(set_to_none=True)",
            ),
            (
                N_("PyTorch: against waste between its blocks, set before the program starts:"),
                (Variable("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"),),
            ),
        ),
        TENSORFLOW: (
            (
                N_("TensorFlow: halve the batch and let Keras add gradients up; mixed precision saves more:"),
                "optimizer = keras.optimizers.Adam(gradient_accumulation_steps=2)\n"
                'keras.mixed_precision.set_global_policy("mixed_float16")',
            ),
        ),
        JAX: ((N_("JAX: a smaller batch, and rematerialisation of the largest layers:"), "jax.checkpoint(f)"),),
    },
    "limit-memory": {
        TORCH: (
            (
                N_("PyTorch: give one process no more than a share, here a half:"),
                "torch.cuda.set_per_process_memory_fraction(0.5)",
            ),
        ),
        TENSORFLOW: (
            (
                N_("TensorFlow: take memory as it is needed (first thing in the program) …"),
                'for gpu in tf.config.list_physical_devices("GPU"):\n'
                "    tf.config.experimental.set_memory_growth(gpu, True)",
            ),
            (
                N_("… or a fixed part of it, here 4 GB:"),
                'gpu = tf.config.list_physical_devices("GPU")[0]\n'
                "tf.config.set_logical_device_configuration(\n"
                "    gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=4096)])",
            ),
        ),
        JAX: (
            (
                N_("JAX: take memory as it is needed (set before Python starts):"),
                (Variable("XLA_PYTHON_CLIENT_PREALLOCATE", "false"),),
            ),
            (N_("… or a share of it, here 40 percent:"), (Variable("XLA_PYTHON_CLIENT_MEM_FRACTION", ".40"),)),
        ),
    },
}

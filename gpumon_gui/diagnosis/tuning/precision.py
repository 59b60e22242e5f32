"""Knows: what to change about arithmetic in fewer bits. Must not know: when that is advised."""

from __future__ import annotations

from typing import Final

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis.tuning.topic import JAX, TENSORFLOW, TORCH, Topics

TOPICS: Final[Topics] = {
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
}

"""Knows: what to change about several GPUs, and heat. Must not know: when that is advised."""

from __future__ import annotations

from typing import Final

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis.tuning.topic import ANY, JAX, TENSORFLOW, TORCH, Topics, Variable

TOPICS: Final[Topics] = {
    "use-all-gpus": {
        TORCH: (
            (
                N_("PyTorch: one process per GPU with DistributedDataParallel (not DataParallel), started so:"),
                "torchrun --nproc_per_node=gpu train.py",
            ),
            (
                N_("… and in the script:"),
                'torch.distributed.init_process_group("nccl")\n'
                'rank = int(os.environ["LOCAL_RANK"])\n'
                "torch.cuda.set_device(rank)\n"
                "model = DistributedDataParallel(model.to(rank), device_ids=[rank])\n"
                "sampler = DistributedSampler(dataset)",
            ),
        ),
        TENSORFLOW: (
            (
                N_("TensorFlow: build and compile the model inside a strategy:"),
                "strategy = tf.distribute.MirroredStrategy()\nwith strategy.scope():\n"
                "    model = build_model()\n    model.compile(...)",
            ),
        ),
        JAX: (
            (
                N_("JAX: shard the batch over all devices:"),
                'mesh = jax.make_mesh((jax.device_count(),), ("batch",))\n'
                'batch = jax.device_put(batch, NamedSharding(mesh, PartitionSpec("batch")))',
            ),
        ),
    },
    "faster-exchange": {
        TORCH: (
            (
                N_("PyTorch: exchange half the bytes, and only every few steps:"),
                "from torch.distributed.algorithms.ddp_comm_hooks import default_hooks\n"
                "model.register_comm_hook(None, default_hooks.bf16_compress_hook)\n"
                "with model.no_sync():  # for all but the last of the steps that are added up\n"
                "    loss.backward()",
            ),
            (
                N_(
                    "PyTorch: larger buckets suit fast links; gradients as views of the buckets save a copy; a "
                    "static graph overlaps better:"
                ),
                "DistributedDataParallel(\n"
                "    model, bucket_cap_mb=100, gradient_as_bucket_view=True, static_graph=True)",
            ),
        ),
        TENSORFLOW: (
            (
                N_("TensorFlow: let NCCL do the exchange:"),
                "tf.distribute.MirroredStrategy(cross_device_ops=tf.distribute.NcclAllReduce())",
            ),
        ),
    },
    "rarer-exchange": {
        TENSORFLOW: ((N_("TensorFlow: a larger batch per GPU, so that the exchange happens less often."), ""),),
    },
    "topology": {
        ANY: (
            (
                N_(
                    "See which way the data takes: NV is NVLink, PIX or PXB one switch, SYS the way through the "
                    "processors:"
                ),
                "nvidia-smi topo -m",
            ),
        ),
    },
    "nccl-debug": {
        ANY: (
            (
                N_("Start it again with NCCL's own messages, to see what each rank waits for:"),
                (Variable("NCCL_DEBUG", "INFO"), Variable("TORCH_NCCL_BLOCKING_WAIT", "1")),
            ),
            (
                N_(
                    "If it then works with this, GPUs do not reach each other directly (IOMMU or ACS of the mainboard "
                    "is on):"
                ),
                (Variable("NCCL_P2P_DISABLE", "1"),),
            ),
        ),
    },
    "cool": {
        ANY: (
            (
                N_(
                    "Let air in: clean fans and filters, raise a notebook from the table, choose the maker's "
                    "performance fan mode. A power limit 10 to 20 percent lower costs little speed and much heat."
                ),
                "",
            ),
        ),
    },
}

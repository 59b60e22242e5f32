"""Knows: what to change about feeding the GPU (loading, preparing, copying). Must not know: when that is advised."""

from __future__ import annotations

from typing import Final

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis.tuning.topic import ANY, JAX, TENSORFLOW, TORCH, Topics

TOPICS: Final[Topics] = {
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
                    "PyTorch: copy from pinned memory, without waiting, while the GPU computes the batch before; send "
                    "small types (uint8 images) instead of float32."
                ),
                "loader = DataLoader(dataset, pin_memory=True)\nbatch = batch.to('cuda', non_blocking=True)",
            ),
        ),
        TENSORFLOW: (
            (
                N_(
                    "TensorFlow: have batches copied to the GPU ahead of time; send small types (uint8 images) instead "
                    "of float32."
                ),
                "dataset = dataset.apply(tf.data.experimental.prefetch_to_device('/GPU:0'))",
            ),
        ),
        JAX: (
            (
                N_("JAX: put the next batch on the GPU while this one is computed."),
                "next_batch = jax.device_put(next_batch)  # before using the present one",
            ),
        ),
    },
    "keep-on-gpu": {
        ANY: ((N_("Keep on the GPU what is used again."), ""),),
    },
}

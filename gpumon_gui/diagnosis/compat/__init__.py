"""Knows: which versions of frameworks, CUDA, cuDNN, drivers, Python and GPUs go together, from ``resources/compat``.
Must not know: rules, facts of a machine.

Pure functions over tables that are read once, when first asked. An answer of None means that the tables do not say.
"""

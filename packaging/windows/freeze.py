"""Knows: how PyInstaller is run. Must not know: what for. For the Python that shall be inside, so Windows'.

Without garbage collection: PyInstaller collects after every DLL it looks into, which with its graph of modules in
memory takes half of the time.
"""

import gc
import importlib
import sys

gc.disable()
gc.collect = lambda *_generation: 0

sys.argv[0] = "pyinstaller"
importlib.import_module("PyInstaller.__main__").run()

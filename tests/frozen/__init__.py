"""The built Windows program and its installer, run in the Windows lab."""

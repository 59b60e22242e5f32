"""Linux DRM drivers (amdgpu, i915, xe, nouveau) through sysfs and fdinfo."""

from gpumon_gui.telemetry.drm.source import DrmSource

__all__ = ["DrmSource"]

/* The i915 driver's ioctls (i915_drm.h). */
#ifndef I915_H
#define I915_H

#include <stdint.h>

struct device;
struct file;
struct drm_i915_getparam;
struct drm_i915_query;

/* What the GPU has: one slice of six subslices with sixteen execution units each. */
enum { SLICE_MASK = 1, SUBSLICE_MASK = 0x3f, UNITS_PER_SUBSLICE = 16 };

/* The ioctl DRM_COMMAND_BASE + `number`, with the lock held. At least 0, or a negative errno. */
int i915_ioctl(struct file *file, unsigned number, void *argument);

/* DRM_IOCTL_I915_GETPARAM and DRM_IOCTL_I915_QUERY: what the GPU is (i915_info.c). */
int i915_parameter(struct device *device, const struct drm_i915_getparam *parameter);
int i915_query(struct device *device, const struct drm_i915_query *query);

#endif

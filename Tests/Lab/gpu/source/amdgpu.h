/* The amdgpu driver's ioctls (amdgpu_drm.h). */
#ifndef AMDGPU_H
#define AMDGPU_H

struct device;
struct file;
struct drm_amdgpu_info;

/* The ioctl DRM_COMMAND_BASE + `number`, with the lock held. At least 0, or a negative errno. */
int amdgpu_ioctl(struct file *file, unsigned number, void *argument);

/* DRM_IOCTL_AMDGPU_INFO: what the GPU is (amdgpu_info.c). */
int amdgpu_info(struct device *device, const struct drm_amdgpu_info *query);

#endif

/* The DRM core's ioctls (drm.h), and the way to the driver's. */
#ifndef DRM_CORE_H
#define DRM_CORE_H

struct file;

/* With the lock held. At least 0, or a negative errno. */
int drm_ioctl(struct file *file, unsigned long request, void *argument);

#endif

/* DRM synchronisation objects: fences that drivers name by handle or pass as sync files. */
#ifndef SYNCOBJ_H
#define SYNCOBJ_H

struct file;

/* The DRM_IOCTL_SYNCOBJ_… with that number; -EINVAL where it is none. With the lock held. */
int syncobj_ioctl(struct file *file, unsigned number, void *argument);

#endif

#include "syncobj.h"

#include "clock.h"
#include "descriptors.h"
#include "device.h"
#include "report.h"

#include <drm.h>

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

static int create(struct file *file, struct drm_syncobj_create *create)
{
    const struct object *object = object_create(file, OBJECT_SYNCOBJ);

    if (!object)
        return -ENOMEM;
    create->handle = object->id;
    return 0;
}

static int to_descriptor(struct file *file, struct drm_syncobj_handle *handle)
{
    const struct object *object = object_find(file, OBJECT_SYNCOBJ, handle->handle);

    if (!object)
        return -ENOENT;
    handle->fd = descriptors_fence(file, object->signal);
    return handle->fd < 0 ? -errno : 0;
}

static int from_descriptor(struct file *file, struct drm_syncobj_handle *handle)
{
    struct object *object;

    if (handle->flags & DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE)
        object = object_find(file, OBJECT_SYNCOBJ, handle->handle);
    else
        object = object_create(file, OBJECT_SYNCOBJ);
    if (!object)
        return -ENOENT;
    object->signal = descriptors_fence_signal(handle->fd);
    handle->handle = object->id;
    return 0;
}

/* Of all: the latest; of any: the earliest, and which. An unknown handle is an error, as in the kernel. */
static int wait_for(struct file *file, uint64_t handles, uint32_t count, bool all, int64_t deadline, uint32_t *first)
{
    const uint32_t *ids = (const uint32_t *)(uintptr_t)handles;
    uint64_t signal = all || !count ? 0 : NEVER;

    *first = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct object *object = object_find(file, OBJECT_SYNCOBJ, ids[i]);

        if (!object)
            return -ENOENT;
        if (all ? object->signal > signal : object->signal < signal) {
            signal = object->signal;
            *first = i;
        }
    }
    return clock_wait(signal, deadline < 0 ? 0 : (uint64_t)deadline) ? 0 : -ETIME;
}

static int wait(struct file *file, struct drm_syncobj_wait *wait)
{
    return wait_for(file, wait->handles, wait->count_handles, wait->flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL,
                    wait->timeout_nsec, &wait->first_signaled);
}

static int timeline_wait(struct file *file, struct drm_syncobj_timeline_wait *wait)
{
    return wait_for(file, wait->handles, wait->count_handles, wait->flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL,
                    wait->timeout_nsec, &wait->first_signaled);
}

/* DRM_IOCTL_SYNCOBJ_RESET and _SIGNAL: nothing to wait for any more. */
static int signal_all(struct file *file, const struct drm_syncobj_array *array)
{
    const uint32_t *ids = (const uint32_t *)(uintptr_t)array->handles;

    for (uint32_t i = 0; i < array->count_handles; i++) {
        struct object *object = object_find(file, OBJECT_SYNCOBJ, ids[i]);

        if (!object)
            return -ENOENT;
        object->signal = 0;
    }
    return 0;
}

int syncobj_ioctl(struct file *file, unsigned number, void *argument)
{
    switch (number) {
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_CREATE):
        return create(file, argument);
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_DESTROY):
        return object_destroy(file, OBJECT_SYNCOBJ, ((struct drm_syncobj_destroy *)argument)->handle) ? 0 : -EINVAL;
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD):
        return to_descriptor(file, argument);
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE):
        return from_descriptor(file, argument);
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_WAIT):
        return wait(file, argument);
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT):
        return timeline_wait(file, argument);
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_RESET):
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_SIGNAL):
        return signal_all(file, argument);
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL):
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_TRANSFER):
        return 0; /* points of a timeline are taken as reached */
    default:
        report_unmodelled(file->device, "DRM ioctl", number);
        return -EINVAL;
    }
}

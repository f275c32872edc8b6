#include "syncobj.h"

#include "clock.h"
#include "descriptors.h"
#include "device.h"
#include "user_memory.h"

#include <drm.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

static int create(struct file *file, struct drm_syncobj_create *create)
{
    struct object *object = object_create(file, OBJECT_SYNCOBJ);

    if (!object)
        return -ENOMEM;
    object->has_fence = create->flags & DRM_SYNCOBJ_CREATE_SIGNALED;
    create->handle = object->id;
    return 0;
}

static int to_descriptor(struct file *file, struct drm_syncobj_handle *handle)
{
    const struct object *object = object_find(file, OBJECT_SYNCOBJ, handle->handle);

    if (!object)
        return -ENOENT;
    if (!object->has_fence && handle->flags & DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE)
        return -EINVAL;
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
    object->has_fence = true;
    handle->handle = object->id;
    return 0;
}

/* What is waited for: of all the latest, of any the earliest, and which. An unknown handle is an error as in the
 * kernel, and so is, where that counts, a syncobj that has no fence. */
static int find_signal(struct file *file, const uint32_t *ids, uint32_t count, uint32_t flags, bool points,
                       uint64_t *signal, uint32_t *first)
{
    bool all = flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL;
    bool may_lack = points || flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT;

    *signal = all || !count ? 0 : NEVER;
    *first = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct object *object = object_find(file, OBJECT_SYNCOBJ, ids[i]);
        uint64_t time;

        if (!object)
            return -ENOENT;
        if (!object->has_fence && !may_lack)
            return -EINVAL;
        time = object->has_fence || points ? object->signal : NEVER;
        if (all ? time > *signal : time < *signal) {
            *signal = time;
            *first = i;
        }
    }
    return 0;
}

/* `points`: of timelines, which are taken as reached where nothing is attached. */
static int wait_for(struct file *file, const struct drm_syncobj_wait *wait, bool points, uint32_t *first)
{
    int status;
    uint32_t *ids = user_array(wait->handles, wait->count_handles, sizeof *ids, &status);
    uint64_t signal, deadline = wait->timeout_nsec < 0 ? 0 : (uint64_t)wait->timeout_nsec;

    if (!ids)
        return status;
    status = find_signal(file, ids, wait->count_handles, wait->flags, points, &signal, first);
    free(ids);
    if (status)
        return status;
    return clock_wait(signal, deadline) ? 0 : -ETIME;
}

static int timeline_wait(struct file *file, struct drm_syncobj_timeline_wait *wait)
{
    struct drm_syncobj_wait plain = {
        .handles = wait->handles,
        .timeout_nsec = wait->timeout_nsec,
        .count_handles = wait->count_handles,
        .flags = wait->flags,
    };

    return wait_for(file, &plain, true, &wait->first_signaled);
}

/* DRM_IOCTL_SYNCOBJ_RESET and _SIGNAL: the fence is taken away, or is one of the past. */
static int set_all(struct file *file, const struct drm_syncobj_array *array, bool signal)
{
    int status;
    uint32_t *ids = user_array(array->handles, array->count_handles, sizeof *ids, &status);

    for (uint32_t i = 0; ids && !status && i < array->count_handles; i++) {
        struct object *object = object_find(file, OBJECT_SYNCOBJ, ids[i]);

        if (object) {
            object->signal = 0;
            object->has_fence = signal;
        } else {
            status = -ENOENT;
        }
    }
    free(ids);
    return status;
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
        return wait_for(file, argument, false, &((struct drm_syncobj_wait *)argument)->first_signaled);
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT):
        return timeline_wait(file, argument);
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_RESET):
        return set_all(file, argument, false);
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_SIGNAL):
        return set_all(file, argument, true);
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL):
    case _IOC_NR(DRM_IOCTL_SYNCOBJ_TRANSFER):
        return 0; /* points of a timeline are taken as reached */
    default:
        return -EINVAL;
    }
}

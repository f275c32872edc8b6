#include "drm_core.h"

#include "amdgpu.h"
#include "device.h"
#include "descriptors.h"
#include "engine.h"
#include "i915.h"
#include "ioctl_names.h"
#include "message.h"
#include "report.h"
#include "syncobj.h"
#include "user_memory.h"

#include <drm.h>

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>

enum { LARGEST_STRUCTURE = 512 }; /* of the ioctls that are modelled */

/* Fills a string of the caller's as the kernel does: as much as there is room for, and its whole length. */
static int give_string(char *text, __kernel_size_t *capacity, const char *value)
{
    size_t length = strlen(value), size = length < *capacity ? length : *capacity;

    *capacity = length;
    return text ? user_write((uintptr_t)text, value, size) : 0;
}

static int version(const struct device *device, struct drm_version *version)
{
    bool intel = device->model.driver == DRIVER_I915;
    int status;

    version->version_major = intel ? 1 : 3; /* amdgpu 3.49 and i915 1.6 are those of Linux 6.1 */
    version->version_minor = intel ? 6 : 49;
    version->version_patchlevel = 0;
    status = give_string(version->name, &version->name_len, intel ? "i915" : "amdgpu");
    if (!status)
        status = give_string(version->date, &version->date_len, intel ? "20201103" : "20150101");
    if (!status)
        status = give_string(version->desc, &version->desc_len, intel ? "Intel Graphics" : "AMD GPU");
    return status;
}

static int get_capability(struct drm_get_cap *capability)
{
    switch (capability->capability) {
    case DRM_CAP_PRIME:
        capability->value = DRM_PRIME_CAP_IMPORT | DRM_PRIME_CAP_EXPORT;
        break;
    case DRM_CAP_SYNCOBJ:
    case DRM_CAP_SYNCOBJ_TIMELINE:
    case DRM_CAP_TIMESTAMP_MONOTONIC:
    case DRM_CAP_ADDFB2_MODIFIERS:
        capability->value = 1;
        break;
    default:
        capability->value = 0;
    }
    return 0;
}

static int prime_export(struct file *file, struct drm_prime_handle *prime)
{
    const struct buffer *buffer = buffer_of(&file->handles, prime->handle);

    if (!buffer)
        return -ENOENT;
    if (buffer->memory < 0)
        return -EINVAL; /* the program's own memory */
    prime->fd = descriptors_export(file, buffer->memory);
    return prime->fd < 0 ? -errno : 0;
}

static int prime_import(struct file *file, struct drm_prime_handle *prime)
{
    if (file->device->faults.import_error) {
        file->device->statistics.faults++;
        return -file->device->faults.import_error;
    }
    if (descriptors_file(prime->fd))
        return -EINVAL; /* a node, which is a memfd here */
    file->device->statistics.imports++;
    return buffer_import(&file->handles, file->device, prime->fd, &prime->handle);
}

static int driver_ioctl(struct file *file, unsigned number, void *argument)
{
    if (file->device->model.driver == DRIVER_I915)
        return i915_ioctl(file, number, argument);
    return amdgpu_ioctl(file, number, argument);
}

static int dispatch(struct file *file, unsigned number, void *argument)
{
    if (number >= DRM_COMMAND_BASE && number < DRM_COMMAND_END)
        return driver_ioctl(file, number - DRM_COMMAND_BASE, argument);
    switch (number) {
    case _IOC_NR(DRM_IOCTL_VERSION):
        return version(file->device, argument);
    case _IOC_NR(DRM_IOCTL_GET_UNIQUE): {
        struct drm_unique *unique = argument;

        return give_string(unique->unique, &unique->unique_len, file->device->slot);
    }
    case _IOC_NR(DRM_IOCTL_GET_MAGIC):
        return -EACCES; /* a render node knows no masters */
    case _IOC_NR(DRM_IOCTL_GET_CLIENT):
        ((struct drm_client *)argument)->auth = 1;
        return 0;
    case _IOC_NR(DRM_IOCTL_GET_CAP):
        return get_capability(argument);
    case _IOC_NR(DRM_IOCTL_SET_CLIENT_CAP):
        return 0;
    case _IOC_NR(DRM_IOCTL_GEM_CLOSE):
        return buffer_close(&file->handles, ((struct drm_gem_close *)argument)->handle);
    case _IOC_NR(DRM_IOCTL_PRIME_HANDLE_TO_FD):
        return prime_export(file, argument);
    case _IOC_NR(DRM_IOCTL_PRIME_FD_TO_HANDLE):
        return prime_import(file, argument);
    default:
        return syncobj_ioctl(file, number, argument);
    }
}

/* Copies the program's structure in and out as the kernel's drm_ioctl does: by the sizes of both, what is missing is 0,
 * and in the directions that both have. */
static int dispatch_copied(struct file *file, unsigned long request, unsigned long known, uint64_t argument)
{
    _Alignas(max_align_t) uint8_t structure[LARGEST_STRUCTURE] = {0};
    unsigned size = _IOC_SIZE(known) < _IOC_SIZE(request) ? _IOC_SIZE(known) : _IOC_SIZE(request);
    unsigned direction = _IOC_DIR(known) & _IOC_DIR(request);
    int status;

    if (_IOC_SIZE(known) > sizeof structure || (direction & _IOC_WRITE && user_read(structure, argument, size)))
        return -EFAULT;
    status = dispatch(file, _IOC_NR(known), structure);
    if (direction & _IOC_READ && user_write(argument, structure, size))
        return -EFAULT;
    return status;
}

int drm_ioctl(struct file *file, unsigned long request, void *argument)
{
    struct device *device = file->device;
    unsigned number = _IOC_NR(request);
    unsigned long known = ioctl_request(device->model.driver, number);
    const char *name = ioctl_name(device->model.driver, number);
    int status;

    if (_IOC_TYPE(request) != DRM_IOCTL_BASE)
        return -ENOTTY;
    faults_refresh();
    device->statistics.ioctls++;
    status = faults_ioctl(device, name);
    if (status)
        return status;
    if (!known) {
        report_unmodelled(device, "the ioctl", number);
        return -EINVAL;
    }
    engine_retire(device);
    status = dispatch_copied(file, request, known, (uintptr_t)argument);
    engine_retire(device);
    if (status < 0)
        debug("renderD%u: %s fails with %s", device->minor, name, strerrorname_np(-status));
    return status;
}

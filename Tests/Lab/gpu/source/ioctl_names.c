#include "ioctl_names.h"

#include <drm.h>
#include <amdgpu_drm.h>
#include <i915_drm.h>

#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>

struct name {
    unsigned long request;
    const char *name;
};

#define NAME(name)                                                                                                     \
    {                                                                                                                  \
        DRM_IOCTL_##name, #name                                                                                        \
    }

/* Where several requests have one number: the one with the largest structure. */
#define NAME_OF(name, other)                                                                                           \
    {                                                                                                                  \
        DRM_IOCTL_##other, #name                                                                                       \
    }

static const struct name core[] = {
    NAME(VERSION),
    NAME(GET_UNIQUE),
    NAME(GET_MAGIC),
    NAME(GET_CLIENT),
    NAME(GET_CAP),
    NAME(SET_CLIENT_CAP),
    NAME(GEM_CLOSE),
    NAME(PRIME_HANDLE_TO_FD),
    NAME(PRIME_FD_TO_HANDLE),
    NAME(SYNCOBJ_CREATE),
    NAME(SYNCOBJ_DESTROY),
    NAME(SYNCOBJ_HANDLE_TO_FD),
    NAME(SYNCOBJ_FD_TO_HANDLE),
    NAME(SYNCOBJ_WAIT),
    NAME(SYNCOBJ_TIMELINE_WAIT),
    NAME(SYNCOBJ_RESET),
    NAME(SYNCOBJ_SIGNAL),
    NAME(SYNCOBJ_TIMELINE_SIGNAL),
    NAME(SYNCOBJ_TRANSFER),
    {0},
};

static const struct name amdgpu[] = {
    NAME(AMDGPU_GEM_CREATE),
    NAME(AMDGPU_GEM_MMAP),
    NAME(AMDGPU_CTX),
    NAME(AMDGPU_BO_LIST),
    NAME(AMDGPU_CS),
    NAME(AMDGPU_INFO),
    NAME(AMDGPU_GEM_METADATA),
    NAME(AMDGPU_GEM_WAIT_IDLE),
    NAME(AMDGPU_GEM_VA),
    NAME(AMDGPU_WAIT_CS),
    NAME(AMDGPU_GEM_OP),
    NAME(AMDGPU_GEM_USERPTR),
    NAME(AMDGPU_WAIT_FENCES),
    NAME(AMDGPU_VM),
    NAME(AMDGPU_FENCE_TO_HANDLE),
    NAME(AMDGPU_SCHED),
    {0},
};

static const struct name i915[] = {
    NAME(I915_GETPARAM),
    NAME(I915_QUERY),
    NAME(I915_GEM_CREATE),
    NAME(I915_GEM_CREATE_EXT),
    NAME(I915_GEM_MMAP),
    NAME_OF(I915_GEM_MMAP_GTT, I915_GEM_MMAP_OFFSET),
    NAME(I915_GEM_PWRITE),
    NAME(I915_GEM_PREAD),
    NAME(I915_GEM_SET_DOMAIN),
    NAME(I915_GEM_SW_FINISH),
    NAME(I915_GEM_SET_TILING),
    NAME(I915_GEM_GET_TILING),
    NAME(I915_GEM_SET_CACHING),
    NAME(I915_GEM_GET_CACHING),
    NAME(I915_GEM_GET_APERTURE),
    NAME(I915_GEM_BUSY),
    NAME(I915_GEM_WAIT),
    NAME(I915_GEM_THROTTLE),
    NAME(I915_GEM_MADVISE),
    NAME(I915_GEM_USERPTR),
    NAME_OF(I915_GEM_EXECBUFFER2, I915_GEM_EXECBUFFER2_WR),
    NAME_OF(I915_GEM_CONTEXT_CREATE, I915_GEM_CONTEXT_CREATE_EXT),
    NAME(I915_GEM_CONTEXT_DESTROY),
    NAME(I915_GEM_CONTEXT_GETPARAM),
    NAME(I915_GEM_CONTEXT_SETPARAM),
    NAME(I915_GEM_VM_CREATE),
    NAME(I915_GEM_VM_DESTROY),
    NAME(I915_GET_RESET_STATS),
    NAME(I915_REG_READ),
    {0},
};

/* The kernel goes by the number alone, and takes what is shorter or longer than its structure. */
static const struct name *find(const struct name *names, unsigned number)
{
    for (; names->name; names++)
        if (_IOC_NR(names->request) == number)
            return names;
    return NULL;
}

static const struct name *find_for(enum kernel_driver driver, unsigned number)
{
    if (number < DRM_COMMAND_BASE || number >= DRM_COMMAND_END)
        return find(core, number);
    return find(driver == DRIVER_I915 ? i915 : amdgpu, number);
}

const char *ioctl_name(enum kernel_driver driver, unsigned number)
{
    const struct name *name = find_for(driver, number);

    return name ? name->name : NULL;
}

unsigned long ioctl_request(enum kernel_driver driver, unsigned number)
{
    const struct name *name = find_for(driver, number);

    return name ? name->request : 0;
}

static bool is_among(const struct name *names, const char *name)
{
    for (; names->name; names++)
        if (strcmp(names->name, name) == 0)
            return true;
    return false;
}

bool ioctl_is_known(const char *name)
{
    return is_among(core, name) || is_among(amdgpu, name) || is_among(i915, name);
}

#include "ioctl_names.h"

#include <drm.h>
#include <amdgpu_drm.h>
#include <i915_drm.h>

#include <stddef.h>
#include <sys/ioctl.h>

struct name {
    unsigned number;
    const char *name;
};

#define CORE(name)                                                                                                     \
    {                                                                                                                  \
        _IOC_NR(DRM_IOCTL_##name), #name                                                                               \
    }
#define DRIVER(name)                                                                                                   \
    {                                                                                                                  \
        DRM_COMMAND_BASE + DRM_##name, #name                                                                           \
    }

static const struct name core[] = {
    CORE(VERSION),
    CORE(GET_UNIQUE),
    CORE(GET_MAGIC),
    CORE(GET_CLIENT),
    CORE(GET_CAP),
    CORE(SET_CLIENT_CAP),
    CORE(GEM_CLOSE),
    CORE(PRIME_HANDLE_TO_FD),
    CORE(PRIME_FD_TO_HANDLE),
    CORE(SYNCOBJ_CREATE),
    CORE(SYNCOBJ_DESTROY),
    CORE(SYNCOBJ_HANDLE_TO_FD),
    CORE(SYNCOBJ_FD_TO_HANDLE),
    CORE(SYNCOBJ_WAIT),
    CORE(SYNCOBJ_TIMELINE_WAIT),
    CORE(SYNCOBJ_RESET),
    CORE(SYNCOBJ_SIGNAL),
    CORE(SYNCOBJ_TIMELINE_SIGNAL),
    CORE(SYNCOBJ_TRANSFER),
    {0},
};

static const struct name amdgpu[] = {
    DRIVER(AMDGPU_GEM_CREATE),
    DRIVER(AMDGPU_GEM_MMAP),
    DRIVER(AMDGPU_CTX),
    DRIVER(AMDGPU_BO_LIST),
    DRIVER(AMDGPU_CS),
    DRIVER(AMDGPU_INFO),
    DRIVER(AMDGPU_GEM_METADATA),
    DRIVER(AMDGPU_GEM_WAIT_IDLE),
    DRIVER(AMDGPU_GEM_VA),
    DRIVER(AMDGPU_WAIT_CS),
    DRIVER(AMDGPU_GEM_OP),
    DRIVER(AMDGPU_GEM_USERPTR),
    DRIVER(AMDGPU_WAIT_FENCES),
    DRIVER(AMDGPU_VM),
    DRIVER(AMDGPU_FENCE_TO_HANDLE),
    DRIVER(AMDGPU_SCHED),
    {0},
};

static const struct name i915[] = {
    DRIVER(I915_GETPARAM),
    DRIVER(I915_QUERY),
    DRIVER(I915_GEM_CREATE),
    DRIVER(I915_GEM_CREATE_EXT),
    DRIVER(I915_GEM_MMAP),
    DRIVER(I915_GEM_MMAP_GTT),
    DRIVER(I915_GEM_PWRITE),
    DRIVER(I915_GEM_PREAD),
    DRIVER(I915_GEM_SET_DOMAIN),
    DRIVER(I915_GEM_SW_FINISH),
    DRIVER(I915_GEM_SET_TILING),
    DRIVER(I915_GEM_GET_TILING),
    DRIVER(I915_GEM_SET_CACHING),
    DRIVER(I915_GEM_GET_CACHING),
    DRIVER(I915_GEM_GET_APERTURE),
    DRIVER(I915_GEM_BUSY),
    DRIVER(I915_GEM_WAIT),
    DRIVER(I915_GEM_THROTTLE),
    DRIVER(I915_GEM_MADVISE),
    DRIVER(I915_GEM_USERPTR),
    DRIVER(I915_GEM_EXECBUFFER2),
    DRIVER(I915_GEM_CONTEXT_CREATE),
    DRIVER(I915_GEM_CONTEXT_DESTROY),
    DRIVER(I915_GEM_CONTEXT_GETPARAM),
    DRIVER(I915_GEM_CONTEXT_SETPARAM),
    DRIVER(I915_GEM_VM_CREATE),
    DRIVER(I915_GEM_VM_DESTROY),
    DRIVER(I915_GET_RESET_STATS),
    DRIVER(I915_REG_READ),
    {0},
};

static const char *find(const struct name *names, unsigned number)
{
    for (; names->name; names++)
        if (names->number == number)
            return names->name;
    return "?";
}

const char *ioctl_name(enum kernel_driver driver, unsigned number)
{
    if (number < DRM_COMMAND_BASE || number >= DRM_COMMAND_END)
        return find(core, number);
    return find(driver == DRIVER_I915 ? i915 : amdgpu, number);
}

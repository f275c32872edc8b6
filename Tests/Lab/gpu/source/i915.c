#include "i915.h"

#include "batch.h"
#include "clock.h"
#include "descriptors.h"
#include "device.h"
#include "engine.h"
#include "message.h"
#include "mfx.h"
#include "mi.h"
#include "real.h"
#include "report.h"
#include "user_memory.h"

#include <drm.h>
#include <i915_drm.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Where the buffers of a submission are that the driver gives no address: one after another, with gaps. */
#define FIRST_ADDRESS 0x100000ULL
#define ADDRESS_ALIGNMENT 0x10000ULL

enum {
    LAST_CONTEXT_PARAMETER = I915_CONTEXT_PARAM_PROTECTED_CONTENT, /* of this header */
    /* drm_i915_gem_busy.busy: a bit for each class of engines that reads, and which class writes, and one: render. */
    BUSY_READER = 1 << 16,
    BUSY_WRITER = I915_ENGINE_CLASS_RENDER + 1,
    EXTENSION_LIMIT = 512, /* in a list, as in the kernel's i915_user_extensions.c */
};

#define APERTURE_SIZE (4ULL << 30)
#define ADDRESS_SPACE_SIZE (1ULL << 48)

/* ---- Buffers */

static int gem_create(struct file *file, struct drm_i915_gem_create *create)
{
    int status = buffer_create(&file->handles, file->device, create->size, &create->handle);

    if (!status)
        create->size = buffer_of(&file->handles, create->handle)->size;
    return status;
}

/* It begins like drm_i915_gem_create. */
static int gem_create_extended(struct file *file, struct drm_i915_gem_create_ext *create)
{
    struct drm_i915_gem_create plain = {.size = create->size};
    struct i915_user_extension extension = {.next_extension = create->extensions};
    int status;

    for (unsigned i = 0; extension.next_extension && i < EXTENSION_LIMIT; i++) {
        if (user_read(&extension, extension.next_extension, sizeof extension))
            return -EFAULT;
        if (extension.name != I915_GEM_CREATE_EXT_MEMORY_REGIONS) /* there is one */
            report_unmodelled(file->device, "the extension of I915_GEM_CREATE_EXT", extension.name);
    }
    status = gem_create(file, &plain);
    create->size = plain.size;
    create->handle = plain.handle;
    return status;
}

static int gem_map(struct file *file, struct drm_i915_gem_mmap *map)
{
    const struct buffer *buffer = buffer_of(&file->handles, map->handle);
    void *bytes;

    if (!buffer)
        return -ENOENT;
    if (!buffer_bytes(buffer, map->offset, map->size))
        return -EINVAL;
    if (buffer->memory < 0) {
        bytes = buffer->bytes;
    } else {
        bytes = real()->mmap(NULL, buffer->size, PROT_READ | PROT_WRITE, MAP_SHARED, buffer->memory, 0);
        if (bytes == MAP_FAILED)
            return -errno;
    }
    map->addr_ptr = (uintptr_t)bytes + map->offset;
    return 0;
}

static int gem_map_offset(struct file *file, struct drm_i915_gem_mmap_offset *map)
{
    if (!buffer_of(&file->handles, map->handle))
        return -ENOENT;
    map->offset = (uint64_t)map->handle << MAP_OFFSET_SHIFT;
    return 0;
}

static int gem_write(struct file *file, const struct drm_i915_gem_pwrite *transfer)
{
    void *bytes = buffer_bytes(buffer_of(&file->handles, transfer->handle), transfer->offset, transfer->size);

    return bytes ? user_read(bytes, transfer->data_ptr, transfer->size) : -EINVAL;
}

static int gem_read(struct file *file, const struct drm_i915_gem_pread *transfer)
{
    const void *bytes = buffer_bytes(buffer_of(&file->handles, transfer->handle), transfer->offset, transfer->size);

    return bytes ? user_write(transfer->data_ptr, bytes, transfer->size) : -EINVAL;
}

static int gem_set_tiling(struct file *file, struct drm_i915_gem_set_tiling *tiling)
{
    struct buffer *buffer = buffer_of(&file->handles, tiling->handle);

    if (!buffer)
        return -ENOENT;
    buffer->tiling = tiling->tiling_mode;
    buffer->stride = tiling->stride;
    tiling->swizzle_mode = I915_BIT_6_SWIZZLE_NONE;
    return 0;
}

static int gem_get_tiling(struct file *file, struct drm_i915_gem_get_tiling *tiling)
{
    const struct buffer *buffer = buffer_of(&file->handles, tiling->handle);

    if (!buffer)
        return -ENOENT;
    tiling->tiling_mode = buffer->tiling;
    tiling->swizzle_mode = tiling->phys_swizzle_mode = I915_BIT_6_SWIZZLE_NONE;
    return 0;
}

static int gem_set_caching(struct file *file, const struct drm_i915_gem_caching *caching)
{
    struct buffer *buffer = buffer_of(&file->handles, caching->handle);

    if (!buffer)
        return -ENOENT;
    buffer->caching = caching->caching;
    return 0;
}

static int gem_get_caching(struct file *file, struct drm_i915_gem_caching *caching)
{
    if (!buffer_of(&file->handles, caching->handle))
        return -ENOENT;
    caching->caching = I915_CACHING_CACHED;
    return 0;
}

static int gem_user_memory(struct file *file, struct drm_i915_gem_userptr *user)
{
    return buffer_wrap(&file->handles, file->device, user->user_ptr, user->user_size, &user->handle);
}

static int gem_busy(struct file *file, struct drm_i915_gem_busy *busy)
{
    const struct buffer *buffer = buffer_of(&file->handles, busy->handle);

    if (!buffer)
        return -ENOENT;
    busy->busy = clock_wait(buffer->idle, 0) ? 0 : BUSY_READER | BUSY_WRITER;
    return 0;
}

static int gem_wait(struct file *file, struct drm_i915_gem_wait *wait)
{
    const struct buffer *buffer = buffer_of(&file->handles, wait->bo_handle);
    uint64_t deadline = clock_after(wait->timeout_ns), now;
    bool idle;

    if (!buffer)
        return -ENOENT;
    idle = clock_wait(buffer->idle, deadline);
    now = clock_now();
    if (wait->timeout_ns > 0)
        wait->timeout_ns = deadline > now ? (int64_t)(deadline - now) : 0;
    return idle ? 0 : -ETIME;
}

static int gem_set_domain(struct file *file, const struct drm_i915_gem_set_domain *domain)
{
    const struct buffer *buffer = buffer_of(&file->handles, domain->handle);

    if (!buffer)
        return -ENOENT;
    clock_wait(buffer->idle, NEVER);
    return 0;
}

/* ---- Contexts */

static int context_create(struct file *file, struct drm_i915_gem_context_create_ext *create)
{
    const struct object *object = object_create(file, OBJECT_CONTEXT);

    if (!object)
        return -ENOMEM;
    create->ctx_id = object->id;
    return 0;
}

static int context_destroy(struct file *file, const struct drm_i915_gem_context_destroy *destroy)
{
    if (!object_destroy(file, OBJECT_CONTEXT, destroy->ctx_id))
        return -ENOENT;
    mfx_free_context(file, destroy->ctx_id);
    return 0;
}

static int address_space_create(struct file *file, uint32_t *id)
{
    const struct object *object = object_create(file, OBJECT_ADDRESS_SPACE);

    if (!object)
        return -ENOMEM;
    *id = object->id;
    return 0;
}

static int context_parameter(struct file *file, struct drm_i915_gem_context_param *parameter)
{
    struct drm_i915_gem_context_param_sseu units = {
        .slice_mask = SLICE_MASK,
        .subslice_mask = SUBSLICE_MASK,
        .min_eus_per_subslice = UNITS_PER_SUBSLICE,
        .max_eus_per_subslice = UNITS_PER_SUBSLICE,
    };
    uint32_t id = 0;
    int status;

    switch (parameter->param) {
    case I915_CONTEXT_PARAM_GTT_SIZE:
        parameter->value = ADDRESS_SPACE_SIZE;
        return 0;
    case I915_CONTEXT_PARAM_SSEU:
        if (parameter->size < sizeof units)
            return -EINVAL;
        return user_write(parameter->value, &units, sizeof units);
    case I915_CONTEXT_PARAM_VM:
        status = address_space_create(file, &id);
        parameter->value = id;
        return status;
    default:
        if (parameter->param > LAST_CONTEXT_PARAMETER)
            report_unmodelled(file->device, "I915_CONTEXT_PARAM", parameter->param);
        parameter->value = 0;
        return 0;
    }
}

/* What is set changes nothing here: engines (there is one of each kind), priorities, recovery. */
static int set_context_parameter(const struct file *file, const struct drm_i915_gem_context_param *parameter)
{
    if (parameter->param > LAST_CONTEXT_PARAMETER)
        report_unmodelled(file->device, "I915_CONTEXT_PARAM", parameter->param);
    return 0;
}

static int reset_statistics(struct file *file, struct drm_i915_reset_stats *statistics)
{
    bool lost = engine_is_lost(file->device);

    statistics->reset_count = statistics->batch_active = lost;
    statistics->batch_pending = 0;
    return 0;
}

/* ---- Submissions */

/* 48-bit addresses came with Broadwell; ids of Sandy Bridge, Ivy Bridge and Haswell are of these. */
static bool has_wide_addresses(const struct device *device)
{
    unsigned family = device->model.device_id >> 8;

    return family != 0x01 && family != 0x04 && family != 0x0a;
}

static const struct drm_i915_gem_exec_object2 *relocation_target(const struct drm_i915_gem_execbuffer2 *submission,
                                                                 const struct drm_i915_gem_exec_object2 *objects,
                                                                 uint32_t handle)
{
    if (submission->flags & I915_EXEC_HANDLE_LUT)
        return handle < submission->buffer_count ? &objects[handle] : NULL;
    for (uint32_t i = 0; i < submission->buffer_count; i++)
        if (objects[i].handle == handle)
            return &objects[i];
    return NULL;
}

static int relocate(const struct batch *batch, const struct drm_i915_gem_execbuffer2 *submission,
                    const struct drm_i915_gem_exec_object2 *object)
{
    const struct buffer *buffer = buffer_of(&batch->file->handles, object->handle);
    size_t address_size = batch->wide_addresses ? sizeof(uint64_t) : sizeof(uint32_t);
    struct drm_i915_gem_relocation_entry *entries;
    int status;

    if (!object->relocation_count)
        return 0;
    entries = user_array(object->relocs_ptr, object->relocation_count, sizeof *entries, &status);
    if (!entries)
        return status;
    for (uint32_t i = 0; i < object->relocation_count; i++) {
        const struct drm_i915_gem_exec_object2 *target =
            relocation_target(submission, batch->objects, entries[i].target_handle);
        void *place = buffer_bytes(buffer, entries[i].offset, address_size);
        uint64_t address;

        if (!target || !place) {
            message("the driver's relocation %u of buffer %u has no target or is outside", i, object->handle);
            continue;
        }
        address = target->offset + entries[i].delta;
        memcpy(place, &address, address_size); /* little-endian */
        entries[i].presumed_offset = target->offset;
    }
    status = user_write(object->relocs_ptr, entries, object->relocation_count * sizeof *entries);
    free(entries);
    return status;
}

static void run(const struct batch *batch, const struct drm_i915_gem_execbuffer2 *submission)
{
    uint32_t index = submission->flags & I915_EXEC_BATCH_FIRST ? 0 : submission->buffer_count - 1;
    const struct buffer *buffer = buffer_of(&batch->file->handles, batch->objects[index].handle);
    uint64_t start = submission->batch_start_offset;
    const uint32_t *words = buffer_bytes(buffer, start, sizeof *words);
    struct batch running = *batch;

    debug("batch in buffer %u from %llu on, for ring %llu", batch->objects[index].handle, (unsigned long long)start,
          (unsigned long long)(submission->flags & I915_EXEC_RING_MASK));
    if (!words)
        message("the driver submits a batch that is outside of its buffer");
    else
        mi_execute(&running, words, (buffer->size - start) / sizeof *words);
}

/* The fences of I915_EXEC_FENCE_ARRAY, in the place of the clip rectangles of old. */
static int signal_fences(struct file *file, const struct drm_i915_gem_execbuffer2 *submission, uint64_t done)
{
    struct drm_i915_gem_exec_fence *fences;
    int status;

    if (!(submission->flags & I915_EXEC_FENCE_ARRAY))
        return 0;
    fences = user_array(submission->cliprects_ptr, submission->num_cliprects, sizeof *fences, &status);
    for (uint32_t i = 0; fences && i < submission->num_cliprects; i++) {
        struct object *object = object_find(file, OBJECT_SYNCOBJ, fences[i].handle);

        if (object && fences[i].flags & I915_EXEC_FENCE_SIGNAL) {
            object->signal = done;
            object->has_fence = true;
        }
    }
    free(fences);
    return status;
}

/* Gives each buffer its address. As in the kernel they begin at pages. */
static int place_buffers(const struct file *file, struct drm_i915_gem_exec_object2 *objects, uint32_t count)
{
    uint64_t address = FIRST_ADDRESS;

    for (uint32_t i = 0; i < count; i++) {
        const struct buffer *buffer = buffer_of(&file->handles, objects[i].handle);

        if (!buffer)
            return -ENOENT;
        if (!(objects[i].flags & EXEC_OBJECT_PINNED)) {
            objects[i].offset = address;
            address += (buffer->size + 2 * ADDRESS_ALIGNMENT - 1) & ~(ADDRESS_ALIGNMENT - 1); /* a gap between */
        } else if (objects[i].offset % PAGE_SIZE) {
            message("the driver pins buffer %u at %llx, which is no page's address", objects[i].handle,
                    (unsigned long long)objects[i].offset);
            return -EINVAL;
        }
    }
    return 0;
}

static int finish(struct file *file, struct drm_i915_gem_execbuffer2 *submission,
                  const struct drm_i915_gem_exec_object2 *objects)
{
    uint64_t done = engine_finish(file->device);
    int status, descriptor;

    for (uint32_t i = 0; i < submission->buffer_count; i++) {
        struct buffer *buffer = buffer_of(&file->handles, objects[i].handle);

        if (buffer->idle < done)
            buffer->idle = done;
    }
    status = signal_fences(file, submission, done);
    if (status || !(submission->flags & I915_EXEC_FENCE_OUT))
        return status;
    descriptor = descriptors_fence(file, done);
    if (descriptor < 0)
        return -errno;
    submission->rsvd2 = (uint64_t)descriptor << 32 | (uint32_t)submission->rsvd2;
    return 0;
}

static int execute_with(struct file *file, struct drm_i915_gem_execbuffer2 *submission,
                        struct drm_i915_gem_exec_object2 *objects)
{
    struct batch batch = {
        .file = file,
        .objects = objects,
        .object_count = submission->buffer_count,
        .wide_addresses = has_wide_addresses(file->device),
        .mfx = mfx_context(file, i915_execbuffer2_get_context_id(*submission)),
    };
    int status = batch.mfx ? place_buffers(file, objects, submission->buffer_count) : -ENOMEM;

    for (uint32_t i = 0; !status && i < submission->buffer_count; i++)
        status = relocate(&batch, submission, &objects[i]);
    if (!status)
        status = user_write(submission->buffers_ptr, objects, submission->buffer_count * sizeof *objects);
    if (status)
        return status;
    run(&batch, submission);
    return finish(file, submission, objects);
}

static int execute(struct file *file, struct drm_i915_gem_execbuffer2 *submission)
{
    struct drm_i915_gem_exec_object2 *objects;
    int status;

    if (engine_is_lost(file->device))
        return -EIO;
    if (!submission->buffer_count)
        return -EINVAL;
    if ((submission->batch_start_offset | submission->batch_len) % sizeof(uint64_t)) {
        message("the driver submits a batch of %u bytes at %u, which are no qwords", submission->batch_len,
                submission->batch_start_offset);
        return -EINVAL;
    }
    objects = user_array(submission->buffers_ptr, submission->buffer_count, sizeof *objects, &status);
    if (!objects)
        return status;
    status = execute_with(file, submission, objects);
    free(objects);
    return status;
}

static int buffer_ioctl(struct file *file, unsigned number, void *argument)
{
    switch (number) {
    case DRM_I915_GEM_CREATE:
        return gem_create(file, argument);
    case DRM_I915_GEM_CREATE_EXT:
        return gem_create_extended(file, argument);
    case DRM_I915_GEM_MMAP:
        return gem_map(file, argument);
    case DRM_I915_GEM_MMAP_GTT: /* and DRM_I915_GEM_MMAP_OFFSET, the same number with a longer structure */
        return gem_map_offset(file, argument);
    case DRM_I915_GEM_PWRITE:
        return gem_write(file, argument);
    case DRM_I915_GEM_PREAD:
        return gem_read(file, argument);
    case DRM_I915_GEM_SET_TILING:
        return gem_set_tiling(file, argument);
    case DRM_I915_GEM_GET_TILING:
        return gem_get_tiling(file, argument);
    case DRM_I915_GEM_SET_CACHING:
        return gem_set_caching(file, argument);
    case DRM_I915_GEM_GET_CACHING:
        return gem_get_caching(file, argument);
    case DRM_I915_GEM_USERPTR:
        return gem_user_memory(file, argument);
    case DRM_I915_GEM_BUSY:
        return gem_busy(file, argument);
    case DRM_I915_GEM_WAIT:
        return gem_wait(file, argument);
    case DRM_I915_GEM_SET_DOMAIN:
        return gem_set_domain(file, argument);
    case DRM_I915_GEM_MADVISE:
        ((struct drm_i915_gem_madvise *)argument)->retained = 1;
        return 0;
    case DRM_I915_GEM_SW_FINISH:
        return 0;
    default:
        return -EINVAL;
    }
}

int i915_ioctl(struct file *file, unsigned number, void *argument)
{
    switch (number) {
    case DRM_I915_GETPARAM:
        return i915_parameter(file->device, argument);
    case DRM_I915_QUERY:
        return i915_query(file->device, argument);
    case DRM_I915_GEM_EXECBUFFER2:
        return execute(file, argument);
    case DRM_I915_GEM_CONTEXT_CREATE:
        return context_create(file, argument);
    case DRM_I915_GEM_CONTEXT_DESTROY:
        return context_destroy(file, argument);
    case DRM_I915_GEM_CONTEXT_GETPARAM:
        return context_parameter(file, argument);
    case DRM_I915_GEM_CONTEXT_SETPARAM:
        return set_context_parameter(file, argument);
    case DRM_I915_GEM_VM_CREATE:
        return address_space_create(file, &((struct drm_i915_gem_vm_control *)argument)->vm_id);
    case DRM_I915_GEM_VM_DESTROY:
        return object_destroy(file, OBJECT_ADDRESS_SPACE, ((struct drm_i915_gem_vm_control *)argument)->vm_id)
                   ? 0
                   : -ENOENT;
    case DRM_I915_GEM_GET_APERTURE: {
        struct drm_i915_gem_get_aperture *aperture = argument;

        aperture->aper_size = aperture->aper_available_size = APERTURE_SIZE;
        return 0;
    }
    case DRM_I915_REG_READ:
        ((struct drm_i915_reg_read *)argument)->val = 0;
        return 0;
    case DRM_I915_GET_RESET_STATS:
        return reset_statistics(file, argument);
    case DRM_I915_GEM_THROTTLE:
        return 0;
    default:
        return buffer_ioctl(file, number, argument);
    }
}

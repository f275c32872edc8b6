#include "amdgpu.h"

#include "clock.h"
#include "descriptors.h"
#include "device.h"
#include "engine.h"
#include "message.h"
#include "report.h"
#include "vcn.h"
#include "weave.h"

#include <drm.h>
#include <amdgpu_drm.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Buffers */

static int gem_create(struct file *file, union drm_amdgpu_gem_create *create)
{
    static const uint64_t on_chip = AMDGPU_GEM_DOMAIN_GDS | AMDGPU_GEM_DOMAIN_GWS | AMDGPU_GEM_DOMAIN_OA;
    struct drm_amdgpu_gem_create_in creation = create->in;
    uint32_t handle;
    int status;

    if (creation.domains & on_chip)
        creation.bo_size = PAGE_SIZE;
    status = buffer_create(&file->handles, file->device, creation.bo_size, &handle);
    if (status)
        return status;
    buffer_of(&file->handles, handle)->creation = creation;
    *create = (union drm_amdgpu_gem_create){.out.handle = handle};
    return 0;
}

static int gem_map(struct file *file, union drm_amdgpu_gem_mmap *map)
{
    uint64_t handle = map->in.handle;

    if (!buffer_of(&file->handles, map->in.handle))
        return -ENOENT;
    map->out.addr_ptr = handle << MAP_OFFSET_SHIFT;
    return 0;
}

static int gem_metadata(struct file *file, struct drm_amdgpu_gem_metadata *metadata)
{
    struct buffer *buffer = buffer_of(&file->handles, metadata->handle);
    uint32_t handle = metadata->handle, operation = metadata->op;

    if (!buffer)
        return -ENOENT;
    if (operation == AMDGPU_GEM_METADATA_OP_SET_METADATA) {
        buffer->metadata = *metadata;
        return 0;
    }
    *metadata = buffer->metadata;
    metadata->handle = handle;
    metadata->op = operation;
    return 0;
}

static int gem_operation(struct file *file, const struct drm_amdgpu_gem_op *operation)
{
    const struct buffer *buffer = buffer_of(&file->handles, operation->handle);

    if (!buffer)
        return -ENOENT;
    if (operation->op == AMDGPU_GEM_OP_GET_GEM_CREATE_INFO)
        memcpy((void *)(uintptr_t)operation->value, &buffer->creation, sizeof buffer->creation);
    return 0;
}

static int gem_user_memory(struct file *file, struct drm_amdgpu_gem_userptr *user)
{
    void *bytes = (void *)(uintptr_t)user->addr;
    int status = buffer_wrap(&file->handles, file->device, bytes, user->size, &user->handle);

    if (!status)
        buffer_of(&file->handles, user->handle)->creation =
            (struct drm_amdgpu_gem_create_in){.bo_size = user->size, .domains = AMDGPU_GEM_DOMAIN_GTT};
    return status;
}

static int gem_address(struct file *file, const struct drm_amdgpu_gem_va *va)
{
    if (va->operation != AMDGPU_VA_OP_MAP)
        mapping_remove(&file->handles, va->va_address, va->map_size);
    if (va->operation != AMDGPU_VA_OP_MAP && va->operation != AMDGPU_VA_OP_REPLACE)
        return 0;
    return mapping_add(&file->handles, (struct mapping){
                                           .address = va->va_address,
                                           .size = va->map_size,
                                           .offset = va->offset_in_bo,
                                           .handle = va->handle,
                                       });
}

static int gem_wait_idle(struct file *file, union drm_amdgpu_gem_wait_idle *wait)
{
    const struct buffer *buffer = buffer_of(&file->handles, wait->in.handle);
    bool idle;

    if (!buffer)
        return -ENOENT;
    idle = clock_wait(buffer->idle, wait->in.timeout);
    *wait = (union drm_amdgpu_gem_wait_idle){.out.status = !idle};
    return 0;
}

/* ---- Contexts and lists */

/* Whether there was a reset: each context of the device is taken as its cause. */
static int context_state(struct file *file, uint32_t operation, uint32_t id, union drm_amdgpu_ctx *context)
{
    if (!object_find(file, OBJECT_CONTEXT, id))
        return -EINVAL;
    if (!engine_is_lost(file->device))
        return 0;
    if (operation == AMDGPU_CTX_OP_QUERY_STATE)
        context->out.state.reset_status = AMDGPU_CTX_GUILTY_RESET;
    else
        context->out.state.flags =
            AMDGPU_CTX_QUERY2_FLAGS_RESET | AMDGPU_CTX_QUERY2_FLAGS_VRAMLOST | AMDGPU_CTX_QUERY2_FLAGS_GUILTY;
    return 0;
}

static int context(struct file *file, union drm_amdgpu_ctx *context)
{
    uint32_t operation = context->in.op, id = context->in.ctx_id;
    const struct object *object;

    memset(context, 0, sizeof *context);
    switch (operation) {
    case AMDGPU_CTX_OP_ALLOC_CTX:
        object = object_create(file, OBJECT_CONTEXT);
        if (!object)
            return -ENOMEM;
        context->out.alloc.ctx_id = object->id;
        return 0;
    case AMDGPU_CTX_OP_FREE_CTX:
        return object_destroy(file, OBJECT_CONTEXT, id) ? 0 : -EINVAL;
    case AMDGPU_CTX_OP_QUERY_STATE:
    case AMDGPU_CTX_OP_QUERY_STATE2:
        return context_state(file, operation, id, context);
    default:
        return object_find(file, OBJECT_CONTEXT, id) ? 0 : -EINVAL;
    }
}

static int fill_list(struct object *list, const struct drm_amdgpu_bo_list_in *in)
{
    const uint8_t *entry = (const uint8_t *)(uintptr_t)in->bo_info_ptr;

    free(list->handles);
    list->handle_count = 0;
    list->handles = calloc(in->bo_number ? in->bo_number : 1, sizeof *list->handles);
    if (!list->handles)
        return -ENOMEM;
    for (; list->handle_count < in->bo_number; entry += in->bo_info_size)
        memcpy(&list->handles[list->handle_count++], entry, sizeof(uint32_t)); /* drm_amdgpu_bo_list_entry.bo_handle */
    return 0;
}

static int buffer_list(struct file *file, union drm_amdgpu_bo_list *list)
{
    struct object *object;
    int status;

    if (list->in.operation == AMDGPU_BO_LIST_OP_DESTROY)
        return object_destroy(file, OBJECT_BUFFER_LIST, list->in.list_handle) ? 0 : -ENOENT;
    if (list->in.operation == AMDGPU_BO_LIST_OP_CREATE)
        object = object_create(file, OBJECT_BUFFER_LIST);
    else
        object = object_find(file, OBJECT_BUFFER_LIST, list->in.list_handle);
    if (!object)
        return -ENOENT;
    status = fill_list(object, &list->in);
    if (!status)
        *list = (union drm_amdgpu_bo_list){.out.list_handle = object->id};
    return status;
}

/* ---- Submissions */

/* When the submission with that number is done. Numbers that are too old are. */
static uint64_t submission_done(const struct file *file, uint64_t number)
{
    bool known = number && number <= file->submissions && file->submissions - number < SUBMISSION_WINDOW;

    return known ? file->done[number % SUBMISSION_WINDOW] : 0;
}

static void run_commands(struct file *file, const struct drm_amdgpu_cs_chunk_ib *ib)
{
    const uint32_t *words = mapping_bytes(&file->handles, ib->va_start, ib->ib_bytes);

    debug("IB for IP %u, ring %u, %u bytes at %llx", ib->ip_type, ib->ring, ib->ib_bytes,
          (unsigned long long)ib->va_start);
    if (!words)
        message("the driver submits commands at the GPU address %llx, where nothing is mapped",
                (unsigned long long)ib->va_start);
    else if (ib->ip_type == AMDGPU_HW_IP_VCN_ENC)
        vcn_execute(file, words, ib->ib_bytes / sizeof *words);
    else if (ib->ip_type == AMDGPU_HW_IP_GFX || ib->ip_type == AMDGPU_HW_IP_COMPUTE)
        weave_execute(file, words, ib->ib_bytes / sizeof *words);
    else if (ib->ip_type == AMDGPU_HW_IP_VCN_DEC || ib->ip_type == AMDGPU_HW_IP_VCN_JPEG)
        report_unmodelled(file->device, "decoding on the HW IP", ib->ip_type);
}

static void mark_busy(struct file *file, uint32_t handle, uint64_t done)
{
    struct buffer *buffer = buffer_of(&file->handles, handle);

    if (buffer && buffer->idle < done)
        buffer->idle = done;
}

static void mark_chunk_busy(struct file *file, const struct drm_amdgpu_bo_list_in *in, uint64_t done)
{
    const uint8_t *entry = (const uint8_t *)(uintptr_t)in->bo_info_ptr;

    for (uint32_t i = 0; i < in->bo_number; i++, entry += in->bo_info_size) {
        uint32_t handle;

        memcpy(&handle, entry, sizeof handle);
        mark_busy(file, handle, done);
    }
}

static void attach_syncobjs(struct file *file, const uint32_t *handles, size_t count, uint64_t done)
{
    for (size_t i = 0; i < count; i++) {
        struct object *object = object_find(file, OBJECT_SYNCOBJ, handles[i]);

        if (object)
            object->signal = done;
    }
}

/* What of a submission is told when it is done: the fence's memory, the syncobjs, the buffers. */
static void complete(struct file *file, const struct drm_amdgpu_cs_chunk *chunk, uint64_t number, uint64_t done)
{
    const void *data = (const void *)(uintptr_t)chunk->chunk_data;

    switch (chunk->chunk_id) {
    case AMDGPU_CHUNK_ID_FENCE: {
        const struct drm_amdgpu_cs_chunk_fence *fence = data;

        engine_write_at(file->device, buffer_of(&file->handles, fence->handle), fence->offset, number, done);
        break;
    }
    case AMDGPU_CHUNK_ID_SYNCOBJ_OUT: /* a list of drm_amdgpu_cs_chunk_sem, one handle each */
        attach_syncobjs(file, data, chunk->length_dw, done);
        break;
    case AMDGPU_CHUNK_ID_BO_HANDLES:
        mark_chunk_busy(file, data, done);
        break;
    default:
        break; /* dependencies: what was submitted before is done before */
    }
}

static int submit(struct file *file, union drm_amdgpu_cs *cs)
{
    const uint64_t *chunks = (const uint64_t *)(uintptr_t)cs->in.chunks;
    const struct object *list = object_find(file, OBJECT_BUFFER_LIST, cs->in.bo_list_handle);
    uint32_t count = cs->in.num_chunks;
    uint64_t number, done;

    if (engine_is_lost(file->device))
        return -ECANCELED;
    number = ++file->submissions;
    for (uint32_t i = 0; i < count; i++) {
        const struct drm_amdgpu_cs_chunk *chunk = (const void *)(uintptr_t)chunks[i];

        if (chunk->chunk_id == AMDGPU_CHUNK_ID_IB)
            run_commands(file, (const void *)(uintptr_t)chunk->chunk_data);
    }
    done = engine_finish(file->device);
    for (uint32_t i = 0; i < count; i++)
        complete(file, (const void *)(uintptr_t)chunks[i], number, done);
    for (size_t i = 0; list && i < list->handle_count; i++)
        mark_busy(file, list->handles[i], done);
    file->done[number % SUBMISSION_WINDOW] = done;
    *cs = (union drm_amdgpu_cs){.out.handle = number};
    return 0;
}

static int wait_submission(struct file *file, union drm_amdgpu_wait_cs *wait)
{
    bool done = clock_wait(submission_done(file, wait->in.handle), wait->in.timeout);

    *wait = (union drm_amdgpu_wait_cs){.out.status = !done};
    return 0;
}

static int wait_fences(struct file *file, union drm_amdgpu_wait_fences *wait)
{
    const struct drm_amdgpu_fence *fences = (const void *)(uintptr_t)wait->in.fences;
    bool all = wait->in.wait_all;
    uint64_t done = all || !wait->in.fence_count ? 0 : NEVER;
    uint32_t first = 0;

    for (uint32_t i = 0; i < wait->in.fence_count; i++) {
        uint64_t one = submission_done(file, fences[i].seq_no);

        if (all ? one > done : one < done) {
            done = one;
            first = i;
        }
    }
    all = clock_wait(done, wait->in.timeout_ns);
    *wait = (union drm_amdgpu_wait_fences){.out = {.status = all, .first_signaled = first}};
    return 0;
}

static int fence_to_handle(struct file *file, union drm_amdgpu_fence_to_handle *fence)
{
    uint64_t done = submission_done(file, fence->in.fence.seq_no);
    bool syncobj = fence->in.what == AMDGPU_FENCE_TO_HANDLE_GET_SYNCOBJ;
    int descriptor;

    memset(fence, 0, sizeof *fence);
    if (syncobj) {
        struct object *object = object_create(file, OBJECT_SYNCOBJ);

        if (!object)
            return -ENOMEM;
        object->signal = done;
        fence->out.handle = object->id;
        return 0;
    }
    descriptor = descriptors_fence(file, done);
    fence->out.handle = (uint32_t)descriptor;
    return descriptor < 0 ? -errno : 0;
}

int amdgpu_ioctl(struct file *file, unsigned number, void *argument)
{
    switch (number) {
    case DRM_AMDGPU_GEM_CREATE:
        return gem_create(file, argument);
    case DRM_AMDGPU_GEM_MMAP:
        return gem_map(file, argument);
    case DRM_AMDGPU_CTX:
        return context(file, argument);
    case DRM_AMDGPU_BO_LIST:
        return buffer_list(file, argument);
    case DRM_AMDGPU_CS:
        return submit(file, argument);
    case DRM_AMDGPU_INFO:
        return amdgpu_info(file->device, argument);
    case DRM_AMDGPU_GEM_METADATA:
        return gem_metadata(file, argument);
    case DRM_AMDGPU_GEM_WAIT_IDLE:
        return gem_wait_idle(file, argument);
    case DRM_AMDGPU_GEM_VA:
        return gem_address(file, argument);
    case DRM_AMDGPU_WAIT_CS:
        return wait_submission(file, argument);
    case DRM_AMDGPU_GEM_OP:
        return gem_operation(file, argument);
    case DRM_AMDGPU_GEM_USERPTR:
        return gem_user_memory(file, argument);
    case DRM_AMDGPU_WAIT_FENCES:
        return wait_fences(file, argument);
    case DRM_AMDGPU_VM:
    case DRM_AMDGPU_SCHED:
        return 0; /* priorities and reserved VMIDs change nothing here */
    case DRM_AMDGPU_FENCE_TO_HANDLE:
        return fence_to_handle(file, argument);
    default:
        report_unmodelled(file->device, "amdgpu ioctl", number);
        return -EINVAL;
    }
}

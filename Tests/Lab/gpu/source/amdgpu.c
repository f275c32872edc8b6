#include "amdgpu.h"

#include "clock.h"
#include "descriptors.h"
#include "device.h"
#include "engine.h"
#include "message.h"
#include "report.h"
#include "shaders.h"
#include "user_memory.h"
#include "vcn.h"
#include "vcn_decode.h"
#include "vcn_jpeg.h"

#include <drm.h>
#include <amdgpu_drm.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_LIMIT = 1 << 16 }; /* of a list: as many as there are handles */

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
        return user_write(operation->value, &buffer->creation, sizeof buffer->creation);
    return 0;
}

static int gem_user_memory(struct file *file, struct drm_amdgpu_gem_userptr *user)
{
    int status = buffer_wrap(&file->handles, file->device, user->addr, user->size, &user->handle);

    if (!status)
        buffer_of(&file->handles, user->handle)->creation =
            (struct drm_amdgpu_gem_create_in){.bo_size = user->size, .domains = AMDGPU_GEM_DOMAIN_GTT};
    return status;
}

static int gem_address(struct file *file, const struct drm_amdgpu_gem_va *va)
{
    const struct buffer *buffer = buffer_of(&file->handles, va->handle);
    bool maps = va->operation == AMDGPU_VA_OP_MAP || va->operation == AMDGPU_VA_OP_REPLACE;

    if ((va->va_address | va->offset_in_bo | va->map_size) % PAGE_SIZE)
        return -EINVAL;
    if (maps && !buffer && !(va->flags & AMDGPU_VM_PAGE_PRT))
        return -ENOENT;
    if (maps && buffer &&
        (va->offset_in_bo > buffer->size || va->map_size > buffer->size - va->offset_in_bo || !va->map_size))
        return -EINVAL;
    if (va->operation != AMDGPU_VA_OP_MAP)
        mapping_remove(&file->handles, va->va_address, va->map_size);
    if (!maps || !buffer)
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

/* The handles of drm_amdgpu_bo_list_entry, which the program's may be longer than; null with an errno by `status`. */
static uint32_t *read_list(const struct drm_amdgpu_bo_list_in *in, int *status)
{
    struct drm_amdgpu_bo_list_entry entry;
    uint32_t *handles = NULL;

    if (in->bo_number > BUFFER_LIMIT || in->bo_info_size < sizeof entry)
        *status = -EINVAL;
    else
        *status = (handles = calloc(in->bo_number ? in->bo_number : 1, sizeof *handles)) ? 0 : -ENOMEM;
    for (uint32_t i = 0; !*status && i < in->bo_number; i++) {
        *status = user_read(&entry, in->bo_info_ptr + (uint64_t)i * in->bo_info_size, sizeof entry);
        handles[i] = entry.bo_handle;
    }
    if (!*status)
        return handles;
    free(handles);
    return NULL;
}

static int buffer_list(struct file *file, union drm_amdgpu_bo_list *list)
{
    struct object *object;
    uint32_t *handles;
    int status;

    if (list->in.operation == AMDGPU_BO_LIST_OP_DESTROY)
        return object_destroy(file, OBJECT_BUFFER_LIST, list->in.list_handle) ? 0 : -ENOENT;
    handles = read_list(&list->in, &status);
    if (!handles)
        return status;
    if (list->in.operation == AMDGPU_BO_LIST_OP_CREATE)
        object = object_create(file, OBJECT_BUFFER_LIST);
    else
        object = object_find(file, OBJECT_BUFFER_LIST, list->in.list_handle);
    if (!object) {
        free(handles);
        return -ENOENT;
    }
    free(object->handles);
    object->handles = handles;
    object->handle_count = list->in.bo_number;
    *list = (union drm_amdgpu_bo_list){.out.list_handle = object->id};
    return 0;
}

/* ---- Submissions */

/* When the submission with that number is done. Numbers that are too old are. */
static uint64_t submission_done(const struct file *file, uint64_t number)
{
    bool known = number && number <= file->submissions && file->submissions - number < SUBMISSION_WINDOW;

    return known ? file->done[number % SUBMISSION_WINDOW] : 0;
}

static int run_commands(struct file *file, const struct drm_amdgpu_cs_chunk_ib *ib)
{
    const uint32_t *words = mapping_bytes(&file->handles, ib->va_start, ib->ib_bytes);

    debug("IB for IP %u, ring %u, %u bytes at %llx", ib->ip_type, ib->ring, ib->ib_bytes,
          (unsigned long long)ib->va_start);
    if (ib->va_start % sizeof *words || ib->ib_bytes % sizeof *words) {
        message("the driver submits %u bytes of commands at the GPU address %llx, which are no dwords", ib->ib_bytes,
                (unsigned long long)ib->va_start);
        return -EINVAL;
    }
    if (!words)
        message("the driver submits commands at the GPU address %llx, where nothing is mapped",
                (unsigned long long)ib->va_start);
    else if (ib->ip_type == AMDGPU_HW_IP_VCN_ENC)
        vcn_execute(file, words, ib->ib_bytes / sizeof *words);
    else if (ib->ip_type == AMDGPU_HW_IP_GFX || ib->ip_type == AMDGPU_HW_IP_COMPUTE)
        shaders_execute(file, words, ib->ib_bytes / sizeof *words);
    else if (ib->ip_type == AMDGPU_HW_IP_VCN_DEC)
        vcn_decode_execute(file, words, ib->ib_bytes / sizeof *words);
    else if (ib->ip_type == AMDGPU_HW_IP_VCN_JPEG)
        vcn_jpeg_execute(file, words, ib->ib_bytes / sizeof *words);
    else
        report_unmodelled(file->device, "the engine", ib->ip_type);
    return 0;
}

static void mark_busy(struct file *file, uint32_t handle, uint64_t done)
{
    struct buffer *buffer = buffer_of(&file->handles, handle);

    if (buffer && buffer->idle < done)
        buffer->idle = done;
}

/* A chunk of a submission with its data, in memory of our own. */
struct chunk {
    uint32_t id, dwords;
    void *data;
};

static void free_chunks(struct chunk *chunks, uint32_t count)
{
    for (uint32_t i = 0; chunks && i < count; i++)
        free(chunks[i].data);
    free(chunks);
}

/* Whether a chunk has what its kind reads. */
static bool is_whole(const struct chunk *chunk)
{
    switch (chunk->id) {
    case AMDGPU_CHUNK_ID_IB:
        return chunk->dwords >= sizeof(struct drm_amdgpu_cs_chunk_ib) / sizeof(uint32_t);
    case AMDGPU_CHUNK_ID_FENCE:
        return chunk->dwords >= sizeof(struct drm_amdgpu_cs_chunk_fence) / sizeof(uint32_t);
    case AMDGPU_CHUNK_ID_BO_HANDLES:
        return chunk->dwords >= sizeof(struct drm_amdgpu_bo_list_in) / sizeof(uint32_t);
    default:
        return true;
    }
}

static int read_chunk(uint64_t address, struct chunk *chunk)
{
    struct drm_amdgpu_cs_chunk header;
    int status = user_read(&header, address, sizeof header);

    if (status)
        return status;
    chunk->id = header.chunk_id;
    chunk->dwords = header.length_dw;
    chunk->data = user_array(header.chunk_data, header.length_dw, sizeof(uint32_t), &status);
    return status || is_whole(chunk) ? status : -EINVAL;
}

static struct chunk *read_chunks(const struct drm_amdgpu_cs_in *in, int *status)
{
    uint64_t *addresses = user_array(in->chunks, in->num_chunks, sizeof *addresses, status);
    struct chunk *chunks = addresses ? calloc(in->num_chunks, sizeof *chunks) : NULL;

    if (addresses && !chunks)
        *status = -ENOMEM;
    for (uint32_t i = 0; !*status && i < in->num_chunks; i++)
        *status = read_chunk(addresses[i], &chunks[i]);
    free(addresses);
    if (!*status)
        return chunks;
    free_chunks(chunks, in->num_chunks);
    return NULL;
}

static void mark_chunk_busy(struct file *file, const struct drm_amdgpu_bo_list_in *in, uint64_t done)
{
    int status;
    uint32_t *handles = read_list(in, &status);

    for (uint32_t i = 0; handles && i < in->bo_number; i++)
        mark_busy(file, handles[i], done);
    free(handles);
}

static void attach_syncobjs(struct file *file, const uint32_t *handles, size_t count, uint64_t done)
{
    for (size_t i = 0; i < count; i++) {
        struct object *object = object_find(file, OBJECT_SYNCOBJ, handles[i]);

        if (object) {
            object->signal = done;
            object->has_fence = true;
        }
    }
}

/* What of a submission is told when it is done: the fence's memory, the syncobjs, the buffers. */
static void complete(struct file *file, const struct chunk *chunk, uint64_t number, uint64_t done)
{
    switch (chunk->id) {
    case AMDGPU_CHUNK_ID_FENCE: {
        const struct drm_amdgpu_cs_chunk_fence *fence = chunk->data;

        engine_write_at(file->device, buffer_of(&file->handles, fence->handle), fence->offset, number, done);
        break;
    }
    case AMDGPU_CHUNK_ID_SYNCOBJ_OUT: /* a list of drm_amdgpu_cs_chunk_sem, one handle each */
        attach_syncobjs(file, chunk->data, chunk->dwords, done);
        break;
    case AMDGPU_CHUNK_ID_BO_HANDLES:
        mark_chunk_busy(file, chunk->data, done);
        break;
    default:
        break; /* dependencies: what was submitted before is done before */
    }
}

static int submit_chunks(struct file *file, union drm_amdgpu_cs *cs, const struct chunk *chunks)
{
    const struct object *list = object_find(file, OBJECT_BUFFER_LIST, cs->in.bo_list_handle);
    uint32_t count = cs->in.num_chunks;
    uint64_t number, done;
    int status = 0;

    for (uint32_t i = 0; !status && i < count; i++)
        if (chunks[i].id == AMDGPU_CHUNK_ID_IB)
            status = run_commands(file, chunks[i].data);
    if (status)
        return status;
    number = ++file->submissions;
    done = engine_finish(file->device);
    for (uint32_t i = 0; i < count; i++)
        complete(file, &chunks[i], number, done);
    for (size_t i = 0; list && i < list->handle_count; i++)
        mark_busy(file, list->handles[i], done);
    file->done[number % SUBMISSION_WINDOW] = done;
    *cs = (union drm_amdgpu_cs){.out.handle = number};
    return 0;
}

static int submit(struct file *file, union drm_amdgpu_cs *cs)
{
    uint32_t count = cs->in.num_chunks;
    struct chunk *chunks;
    int status;

    if (engine_is_lost(file->device))
        return -ECANCELED;
    if (!count)
        return -EINVAL;
    chunks = read_chunks(&cs->in, &status);
    if (!chunks)
        return status;
    status = submit_chunks(file, cs, chunks);
    free_chunks(chunks, count);
    return status;
}

static int wait_submission(struct file *file, union drm_amdgpu_wait_cs *wait)
{
    bool done = clock_wait(submission_done(file, wait->in.handle), wait->in.timeout);

    *wait = (union drm_amdgpu_wait_cs){.out.status = !done};
    return 0;
}

static int wait_fences(struct file *file, union drm_amdgpu_wait_fences *wait)
{
    int status;
    struct drm_amdgpu_fence *fences = user_array(wait->in.fences, wait->in.fence_count, sizeof *fences, &status);
    bool all = wait->in.wait_all;
    uint64_t done = all || !wait->in.fence_count ? 0 : NEVER;
    uint32_t first = 0;

    if (!fences)
        return status;
    for (uint32_t i = 0; i < wait->in.fence_count; i++) {
        uint64_t one = submission_done(file, fences[i].seq_no);

        if (all ? one > done : one < done) {
            done = one;
            first = i;
        }
    }
    free(fences);
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
        object->has_fence = true;
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
        return -EINVAL;
    }
}

#include "i915.h"

#include "device.h"
#include "report.h"
#include "user_memory.h"

#include <drm.h>
#include <i915_drm.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    QUERY_HWCONFIG_BLOB = 5, /* i915_drm.h of libdrm 2.4.113: DRM_I915_QUERY_HWCONFIG_BLOB */
    SUBSLICE_COUNT = 6,
    FULL_PPGTT = 3,
    FENCE_COUNT = 32,
    COMMAND_PARSER_VERSION = 10,
    MMAP_GTT_VERSION = 4,
    TIMESTAMP_FREQUENCY = 19200000,
    PERF_REVISION = 5,
    ENGINE_COUNT = 4,
    ANSWER_SIZE = 4096,
};

#define SYSTEM_MEMORY (8ULL << 30)

static int parameter_value(const struct device *device, int parameter, int *value)
{
    switch (parameter) {
    case I915_PARAM_CHIPSET_ID:
        *value = device->model.device_id;
        return 0;
    case I915_PARAM_REVISION:
        *value = device->model.revision;
        return 0;
    case I915_PARAM_HAS_BSD2:
    case I915_PARAM_HAS_EXEC_TIMELINE_FENCES:
        *value = 0;
        return 0;
    case I915_PARAM_HAS_ALIASING_PPGTT:
        *value = FULL_PPGTT;
        return 0;
    case I915_PARAM_NUM_FENCES_AVAIL:
        *value = FENCE_COUNT;
        return 0;
    case I915_PARAM_CMD_PARSER_VERSION:
        *value = COMMAND_PARSER_VERSION;
        return 0;
    case I915_PARAM_MMAP_GTT_VERSION:
        *value = MMAP_GTT_VERSION;
        return 0;
    case I915_PARAM_SUBSLICE_TOTAL:
        *value = SUBSLICE_COUNT;
        return 0;
    case I915_PARAM_EU_TOTAL:
        *value = SUBSLICE_COUNT * UNITS_PER_SUBSLICE;
        return 0;
    case I915_PARAM_SLICE_MASK:
        *value = SLICE_MASK;
        return 0;
    case I915_PARAM_SUBSLICE_MASK:
        *value = SUBSLICE_MASK;
        return 0;
    case I915_PARAM_CS_TIMESTAMP_FREQUENCY:
        *value = TIMESTAMP_FREQUENCY;
        return 0;
    case I915_PARAM_HAS_SCHEDULER:
        *value = I915_SCHEDULER_CAP_ENABLED | I915_SCHEDULER_CAP_PRIORITY | I915_SCHEDULER_CAP_PREEMPTION |
                 I915_SCHEDULER_CAP_SEMAPHORES | I915_SCHEDULER_CAP_ENGINE_BUSY_STATS;
        return 0;
    case I915_PARAM_PERF_REVISION:
        *value = PERF_REVISION;
        return 0;
    default:
        /* The rest are abilities, and all up to this header's last one are there. */
        *value = 1;
        return parameter > I915_PARAM_HAS_USERPTR_PROBE ? -EINVAL : 0;
    }
}

int i915_parameter(struct device *device, const struct drm_i915_getparam *parameter)
{
    int value, status = parameter_value(device, parameter->param, &value);

    if (!status)
        return user_write((uintptr_t)parameter->value, &value, sizeof value);
    report_unmodelled(device, "I915_PARAM", (uint64_t)parameter->param);
    return status;
}

static size_t engines(void *answer)
{
    static const uint16_t classes[ENGINE_COUNT] = {I915_ENGINE_CLASS_RENDER, I915_ENGINE_CLASS_COPY,
                                                   I915_ENGINE_CLASS_VIDEO, I915_ENGINE_CLASS_VIDEO_ENHANCE};
    struct drm_i915_query_engine_info *info = answer;

    info->num_engines = ENGINE_COUNT;
    for (size_t i = 0; i < ENGINE_COUNT; i++) {
        info->engines[i].engine.engine_class = classes[i];
        info->engines[i].flags = I915_ENGINE_INFO_HAS_LOGICAL_INSTANCE;
        if (classes[i] == I915_ENGINE_CLASS_VIDEO)
            info->engines[i].capabilities =
                I915_VIDEO_CLASS_CAPABILITY_HEVC | I915_VIDEO_AND_ENHANCE_CLASS_CAPABILITY_SFC;
        if (classes[i] == I915_ENGINE_CLASS_VIDEO_ENHANCE)
            info->engines[i].capabilities = I915_VIDEO_AND_ENHANCE_CLASS_CAPABILITY_SFC;
    }
    return sizeof *info + ENGINE_COUNT * sizeof *info->engines;
}

static size_t topology(void *answer)
{
    enum { SUBSLICES = 1, UNITS = 2, UNIT_STRIDE = 2, SIZE = UNITS + UNIT_STRIDE * SUBSLICE_COUNT };
    struct drm_i915_query_topology_info *info = answer;

    info->max_slices = 1;
    info->max_subslices = SUBSLICE_COUNT;
    info->max_eus_per_subslice = UNITS_PER_SUBSLICE;
    info->subslice_offset = SUBSLICES;
    info->subslice_stride = 1;
    info->eu_offset = UNITS;
    info->eu_stride = UNIT_STRIDE;
    info->data[0] = SLICE_MASK;
    info->data[SUBSLICES] = SUBSLICE_MASK;
    memset(info->data + UNITS, 0xff, UNIT_STRIDE * SUBSLICE_COUNT);
    return sizeof *info + SIZE;
}

static size_t memory_regions(void *answer)
{
    struct drm_i915_query_memory_regions *info = answer;

    info->num_regions = 1;
    info->regions[0].region.memory_class = I915_MEMORY_CLASS_SYSTEM;
    info->regions[0].probed_size = info->regions[0].unallocated_size = SYSTEM_MEMORY;
    return sizeof *info + sizeof *info->regions;
}

/* The kernel's rule: length 0 asks for the size, a length that is too short is an error in the item itself. */
static int answer_item(struct device *device, struct drm_i915_query_item *item)
{
    union {
        uint64_t alignment;
        uint8_t bytes[ANSWER_SIZE];
    } answer;
    size_t size;

    memset(&answer, 0, sizeof answer);
    switch (item->query_id) {
    case DRM_I915_QUERY_ENGINE_INFO:
        size = engines(&answer);
        break;
    case DRM_I915_QUERY_TOPOLOGY_INFO:
        size = topology(&answer);
        break;
    case DRM_I915_QUERY_MEMORY_REGIONS:
        size = memory_regions(&answer);
        break;
    case QUERY_HWCONFIG_BLOB:
        item->length = -ENODEV; /* these GPUs have no such table: intel_guc_hwconfig.c; iHD 25 asks */
        return 0;
    default:
        report_unmodelled(device, "DRM_I915_QUERY", item->query_id);
        item->length = -EINVAL;
        return 0;
    }
    if (item->length && item->length < (int32_t)size) {
        item->length = -EINVAL;
        return 0;
    }
    if (item->length && user_write(item->data_ptr, &answer, size))
        return -EFAULT;
    item->length = (int32_t)size;
    return 0;
}

int i915_query(struct device *device, const struct drm_i915_query *query)
{
    int status;
    struct drm_i915_query_item *items = user_array(query->items_ptr, query->num_items, sizeof *items, &status);

    for (uint32_t i = 0; items && !status && i < query->num_items; i++)
        status = answer_item(device, &items[i]);
    if (items && !status)
        status = user_write(query->items_ptr, items, query->num_items * sizeof *items);
    free(items);
    return status;
}

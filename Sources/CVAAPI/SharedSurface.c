#include "CVAAPI.h"

#include <string.h>
#include <sys/stat.h>
#include <va/va_drmcommon.h>

enum {
    MOST_ATTRIBUTES = 4,
    MOST_OBJECTS = 4,
    FORMAT_NV12 = 0x3231564e, // drm_fourcc.h: DRM_FORMAT_NV12, _R8, _GR88, _YUYV and _UYVY
    FORMAT_R8 = 0x20203852,
    FORMAT_GR88 = 0x38385247,
    FORMAT_YUYV = 0x56595559,
    FORMAT_UYVY = 0x59565955,
    MODIFIER_LINEAR = 0,
};

static bool is_packed(const struct cvaapi_layout *layout) { return layout->fourcc != VA_FOURCC_NV12; }

static uint32_t packed_format(const struct cvaapi_layout *layout) { return layout->fourcc == VA_FOURCC_YUY2 ? FORMAT_YUYV : FORMAT_UYVY; }

static uint32_t sampling(const struct cvaapi_layout *layout) { return is_packed(layout) ? VA_RT_FORMAT_YUV422 : VA_RT_FORMAT_YUV420; }

static VASurfaceAttrib integer(VASurfaceAttribType type, uint32_t value) {
    return (VASurfaceAttrib){
        .type = type,
        .flags = VA_SURFACE_ATTRIB_SETTABLE,
        .value = {.type = VAGenericValueTypeInteger, .value.i = (int32_t)value},
    };
}

static VASurfaceAttrib pointer(VASurfaceAttribType type, void *value) {
    return (VASurfaceAttrib){
        .type = type,
        .flags = VA_SURFACE_ATTRIB_SETTABLE,
        .value = {.type = VAGenericValueTypePointer, .value.p = value},
    };
}

// Mesa looks at the list of modifiers, and Intel's driver at the description of memory, which says nothing of tiles.
VAStatus cvaapi_create_linear(VADisplay display, const struct cvaapi_layout *wanted, VASurfaceID *surface) {
    uint64_t linear = MODIFIER_LINEAR;
    VADRMFormatModifierList modifiers = {.num_modifiers = 1, .modifiers = &linear};
    uint32_t luma = wanted->pitch[0] * wanted->height, chroma = wanted->pitch[1] * (wanted->height / 2);
    VASurfaceAttribExternalBuffers memory = {
        .pixel_format = wanted->fourcc,
        .width = wanted->width,
        .height = wanted->height,
        .data_size = is_packed(wanted) ? luma : wanted->offset[1] + chroma,
        .num_planes = is_packed(wanted) ? 1 : 2,
        .pitches = {wanted->pitch[0], wanted->pitch[1]},
        .offsets = {0, wanted->offset[1]},
        .num_buffers = 1,
    };
    VASurfaceAttrib attributes[MOST_ATTRIBUTES] = {
        integer(VASurfaceAttribPixelFormat, wanted->fourcc),
        integer(VASurfaceAttribMemoryType, VA_SURFACE_ATTRIB_MEM_TYPE_VA),
        pointer(VASurfaceAttribExternalBufferDescriptor, &memory),
        pointer(VASurfaceAttribDRMFormatModifiers, &modifiers),
    };
    return vaCreateSurfaces(display, sampling(wanted), wanted->width, wanted->height, surface, 1, attributes, MOST_ATTRIBUTES);
}

static bool is_same_file(int first, int second) {
    struct stat one, other;
    return fstat(first, &one) == 0 && fstat(second, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// The fourcc of a layer; 0 for other formats.
static uint32_t fourcc_of(uint32_t format, uint32_t planes) {
    switch (format) {
    case FORMAT_NV12: return planes == 2 ? VA_FOURCC_NV12 : 0;
    case FORMAT_YUYV: return planes == 1 ? VA_FOURCC_YUY2 : 0;
    case FORMAT_UYVY: return planes == 1 ? VA_FOURCC_UYVY : 0;
    default: return 0;
    }
}

VAStatus cvaapi_export(VADisplay display, VASurfaceID surface, int *descriptor, struct cvaapi_layout *layout) {
    VADRMPRIMESurfaceDescriptor description;
    memset(&description, 0, sizeof description);
    VAStatus status = vaExportSurfaceHandle(
        display, surface, VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2,
        VA_EXPORT_SURFACE_READ_WRITE | VA_EXPORT_SURFACE_COMPOSED_LAYERS, &description);
    if (status != VA_STATUS_SUCCESS) return status;
    uint32_t count = description.num_objects;
    uint32_t fourcc = fourcc_of(description.layers[0].drm_format, description.layers[0].num_planes);
    bool is_plain = count >= 1 && count <= MOST_OBJECTS && description.num_layers == 1 && fourcc;
    // Mesa gives the same memory twice, once for each plane.
    for (uint32_t i = 0; is_plain && i < count; i++)
        is_plain = description.objects[i].drm_format_modifier == MODIFIER_LINEAR &&
                   is_same_file(description.objects[0].fd, description.objects[i].fd);
    for (uint32_t i = is_plain ? 1 : 0; i < count && i < MOST_OBJECTS; i++) close(description.objects[i].fd);
    if (!is_plain) return VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE;
    *descriptor = description.objects[0].fd;
    *layout = (struct cvaapi_layout){.fourcc = fourcc, .width = description.width, .height = description.height};
    for (uint32_t i = 0; i < description.layers[0].num_planes; i++) {
        layout->pitch[i] = description.layers[0].pitch[i];
        layout->offset[i] = description.layers[0].offset[i];
    }
    return VA_STATUS_SUCCESS;
}

VAStatus cvaapi_import(VADisplay display, int descriptor, uint32_t size, const struct cvaapi_layout *layout, VASurfaceID *surface) {
    VADRMPRIMESurfaceDescriptor description = {
        .fourcc = layout->fourcc,
        .width = layout->width,
        .height = layout->height,
        .num_objects = 1,
        .objects = {{.fd = descriptor, .size = size, .drm_format_modifier = MODIFIER_LINEAR}},
        .num_layers = is_packed(layout) ? 1 : 2,
        .layers = {{.num_planes = 1, .offset = {layout->offset[0]}, .pitch = {layout->pitch[0]}},
                   {.num_planes = 1, .offset = {layout->offset[1]}, .pitch = {layout->pitch[1]}}},
    };
    // Mesa takes a layer for each plane only, and Intel's driver either.
    description.layers[0].drm_format = is_packed(layout) ? packed_format(layout) : FORMAT_R8;
    description.layers[1].drm_format = FORMAT_GR88;
    VASurfaceAttrib attributes[] = {
        integer(VASurfaceAttribMemoryType, VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2),
        pointer(VASurfaceAttribExternalBufferDescriptor, &description),
    };
    return vaCreateSurfaces(display, sampling(layout), layout->width, layout->height, surface, 1, attributes, 2);
}

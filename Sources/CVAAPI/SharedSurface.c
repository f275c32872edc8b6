#include "CVAAPI.h"

#include <string.h>
#include <sys/stat.h>
#include <va/va_drmcommon.h>

enum {
    MOST_ATTRIBUTES = 4,
    FORMAT_NV12 = 0x3231564e, // drm_fourcc.h: DRM_FORMAT_NV12, _R8 and _GR88
    FORMAT_R8 = 0x20203852,
    FORMAT_GR88 = 0x38385247,
    MODIFIER_LINEAR = 0,
};

static VASurfaceAttrib integer(VASurfaceAttribType type, int32_t value) {
    return (VASurfaceAttrib){
        .type = type,
        .flags = VA_SURFACE_ATTRIB_SETTABLE,
        .value = {.type = VAGenericValueTypeInteger, .value.i = value},
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
    VASurfaceAttribExternalBuffers memory = {
        .pixel_format = VA_FOURCC_NV12,
        .width = wanted->width,
        .height = wanted->height,
        .data_size = wanted->chroma_offset + wanted->chroma_pitch * (wanted->height / 2),
        .num_planes = 2,
        .pitches = {wanted->luma_pitch, wanted->chroma_pitch},
        .offsets = {0, wanted->chroma_offset},
        .num_buffers = 1,
    };
    VASurfaceAttrib attributes[MOST_ATTRIBUTES] = {
        integer(VASurfaceAttribPixelFormat, VA_FOURCC_NV12),
        integer(VASurfaceAttribMemoryType, VA_SURFACE_ATTRIB_MEM_TYPE_VA),
        pointer(VASurfaceAttribExternalBufferDescriptor, &memory),
        pointer(VASurfaceAttribDRMFormatModifiers, &modifiers),
    };
    return vaCreateSurfaces(display, VA_RT_FORMAT_YUV420, wanted->width, wanted->height, surface, 1, attributes, MOST_ATTRIBUTES);
}

static bool is_same_file(int first, int second) {
    struct stat one, other;
    return fstat(first, &one) == 0 && fstat(second, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

VAStatus cvaapi_export(VADisplay display, VASurfaceID surface, int *descriptor, struct cvaapi_layout *layout) {
    VADRMPRIMESurfaceDescriptor description;
    memset(&description, 0, sizeof description);
    VAStatus status = vaExportSurfaceHandle(
        display, surface, VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2,
        VA_EXPORT_SURFACE_READ_WRITE | VA_EXPORT_SURFACE_COMPOSED_LAYERS, &description);
    if (status != VA_STATUS_SUCCESS) return status;
    uint32_t count = description.num_objects;
    bool is_plain = count >= 1 && count <= 4 && description.num_layers == 1 && description.layers[0].num_planes == 2 &&
                    description.layers[0].drm_format == FORMAT_NV12;
    // Mesa gives the same memory twice, once for each plane.
    for (uint32_t i = 0; is_plain && i < count; i++)
        is_plain = description.objects[i].drm_format_modifier == MODIFIER_LINEAR &&
                   is_same_file(description.objects[0].fd, description.objects[i].fd);
    for (uint32_t i = is_plain ? 1 : 0; i < count && i < 4; i++) close(description.objects[i].fd);
    if (!is_plain) return VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE;
    *descriptor = description.objects[0].fd;
    *layout = (struct cvaapi_layout){
        .width = description.width,
        .height = description.height,
        .luma_pitch = description.layers[0].pitch[0],
        .luma_offset = description.layers[0].offset[0],
        .chroma_pitch = description.layers[0].pitch[1],
        .chroma_offset = description.layers[0].offset[1],
    };
    return VA_STATUS_SUCCESS;
}

VAStatus cvaapi_import(VADisplay display, int descriptor, uint32_t size, const struct cvaapi_layout *layout, VASurfaceID *surface) {
    // Mesa takes a layer for each plane only, and Intel's driver either.
    VADRMPRIMESurfaceDescriptor description = {
        .fourcc = VA_FOURCC_NV12,
        .width = layout->width,
        .height = layout->height,
        .num_objects = 1,
        .objects = {{.fd = descriptor, .size = size, .drm_format_modifier = MODIFIER_LINEAR}},
        .num_layers = 2,
        .layers = {{.drm_format = FORMAT_R8, .num_planes = 1, .offset = {layout->luma_offset}, .pitch = {layout->luma_pitch}},
                   {.drm_format = FORMAT_GR88, .num_planes = 1, .offset = {layout->chroma_offset}, .pitch = {layout->chroma_pitch}}},
    };
    VASurfaceAttrib attributes[] = {
        integer(VASurfaceAttribMemoryType, VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2),
        pointer(VASurfaceAttribExternalBufferDescriptor, &description),
    };
    return vaCreateSurfaces(display, VA_RT_FORMAT_YUV420, layout->width, layout->height, surface, 1, attributes, 2);
}

/* Makes a surface with libva:
 *   surfaces free     and frees it;
 *   surfaces leak     exports it as DMA-BUF, and leaves it, the descriptors and the display;
 *   surfaces import   of memory that it has already, and frees it: 1 if the driver refuses.
 * Written for the emulated GPU's tests, where a memfd does for a DMA-BUF. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <va/va.h>
#include <va/va_drm.h>
#include <va/va_drmcommon.h>

enum { WIDTH = 1024, HEIGHT = 256, SIZE = WIDTH * HEIGHT * 2, FAILED = 2 };

static VADisplay open_display(int *node)
{
    int major, minor;
    VADisplay display;

    *node = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
    display = vaGetDisplayDRM(*node);
    return display && vaInitialize(display, &major, &minor) == VA_STATUS_SUCCESS ? display : NULL;
}

static VAStatus import(VADisplay display, int memory, VASurfaceID *surface)
{
    VADRMPRIMESurfaceDescriptor description = {
        .fourcc = VA_FOURCC_NV12,
        .width = WIDTH,
        .height = HEIGHT,
        .num_objects = 1,
        .objects = {{.fd = memory, .size = SIZE}},
        .num_layers = 2,
        .layers = {{.drm_format = VA_FOURCC('R', '8', ' ', ' '), .num_planes = 1, .pitch = {WIDTH}},
                   {.drm_format = VA_FOURCC('G', 'R', '8', '8'),
                    .num_planes = 1,
                    .offset = {WIDTH * HEIGHT},
                    .pitch = {WIDTH}}},
    };
    VASurfaceAttrib attributes[] = {
        {.type = VASurfaceAttribMemoryType,
         .flags = VA_SURFACE_ATTRIB_SETTABLE,
         .value = {.type = VAGenericValueTypeInteger, .value.i = VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2}},
        {.type = VASurfaceAttribExternalBufferDescriptor,
         .flags = VA_SURFACE_ATTRIB_SETTABLE,
         .value = {.type = VAGenericValueTypePointer, .value.p = &description}},
    };

    return vaCreateSurfaces(display, VA_RT_FORMAT_YUV420, WIDTH, HEIGHT, surface, 1, attributes, 2);
}

static VAStatus export(VADisplay display, VASurfaceID surface)
{
    VADRMPRIMESurfaceDescriptor description;

    return vaExportSurfaceHandle(display, surface, VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2,
                                 VA_EXPORT_SURFACE_READ_WRITE | VA_EXPORT_SURFACE_COMPOSED_LAYERS, &description);
}

int main(int count, char **words)
{
    int node, memory = memfd_create("surface", MFD_CLOEXEC);
    VADisplay display = open_display(&node);
    VASurfaceID surface;
    VAStatus status;

    if (count != 2 || !display || memory < 0 || ftruncate(memory, SIZE) != 0)
        return FAILED;
    if (strcmp(words[1], "import") == 0)
        status = import(display, memory, &surface);
    else
        status = vaCreateSurfaces(display, VA_RT_FORMAT_YUV420, WIDTH, HEIGHT, &surface, 1, NULL, 0);
    if (strcmp(words[1], "leak") == 0)
        return status == VA_STATUS_SUCCESS && export(display, surface) == VA_STATUS_SUCCESS ? 0 : FAILED;
    if (status == VA_STATUS_SUCCESS)
        vaDestroySurfaces(display, &surface, 1);
    else
        fprintf(stderr, "vaCreateSurfaces: %s\n", vaErrorStr(status));
    vaTerminate(display);
    close(node);
    close(memory);
    return status != VA_STATUS_SUCCESS;
}

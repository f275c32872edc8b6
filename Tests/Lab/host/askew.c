/* A libva whose driver handles a surface incorrectly, as ASKEW says: `map` gives its chroma two bytes too late when it is
 * mapped, `put` forgets what is put into it, `lock` gives it as an image that cannot be mapped. To be preloaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <va/va.h>

static int is_askew(const char *way)
{
    const char *askew = getenv("ASKEW");

    return askew && strstr(askew, way);
}

/* The memory of the surface that was given as an image last. */
static VABufferID derived = VA_INVALID_ID;

VAStatus vaMapBuffer(VADisplay display, VABufferID buffer, void **memory)
{
    VAStatus (*real)(VADisplay, VABufferID, void **) =
        (VAStatus(*)(VADisplay, VABufferID, void **))dlsym(RTLD_NEXT, "vaMapBuffer");

    if (buffer == derived && is_askew("lock"))
        return VA_STATUS_ERROR_OPERATION_FAILED;
    return real(display, buffer, memory);
}

VAStatus vaDestroyImage(VADisplay display, VAImageID image)
{
    VAStatus (*real)(VADisplay, VAImageID) = (VAStatus(*)(VADisplay, VAImageID))dlsym(RTLD_NEXT, "vaDestroyImage");

    derived = VA_INVALID_ID;
    return real(display, image);
}

VAStatus vaDeriveImage(VADisplay display, VASurfaceID surface, VAImage *image)
{
    VAStatus (*real)(VADisplay, VASurfaceID, VAImage *) =
        (VAStatus(*)(VADisplay, VASurfaceID, VAImage *))dlsym(RTLD_NEXT, "vaDeriveImage");
    VAStatus status = real(display, surface, image);

    if (status == VA_STATUS_SUCCESS)
        derived = image->buf;
    /* No further than the padding after the last row reaches. */
    if (status == VA_STATUS_SUCCESS && is_askew("map") && image->pitches[1] >= image->width + 2u) {
        image->offsets[1] += 2;
        image->data_size += 2;
    }
    return status;
}

VAStatus vaPutImage(VADisplay display, VASurfaceID surface, VAImageID image, int x, int y, unsigned width, unsigned height,
                    int to_x, int to_y, unsigned to_width, unsigned to_height)
{
    VAStatus (*real)(VADisplay, VASurfaceID, VAImageID, int, int, unsigned, unsigned, int, int, unsigned, unsigned) =
        (VAStatus(*)(VADisplay, VASurfaceID, VAImageID, int, int, unsigned, unsigned, int, int, unsigned, unsigned))dlsym(
            RTLD_NEXT, "vaPutImage");

    if (is_askew("put"))
        return VA_STATUS_SUCCESS;
    return real(display, surface, image, x, y, width, height, to_x, to_y, to_width, to_height);
}

/* A libva whose driver decodes JPEG incorrectly: with other quantisers than the picture has. To be preloaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <va/va.h>

VAStatus vaCreateBuffer(VADisplay display, VAContextID context, VABufferType type, unsigned size, unsigned count,
                        void *data, VABufferID *buffer)
{
    VAStatus (*real)(VADisplay, VAContextID, VABufferType, unsigned, unsigned, void *, VABufferID *) =
        (VAStatus(*)(VADisplay, VAContextID, VABufferType, unsigned, unsigned, void *, VABufferID *))dlsym(
            RTLD_NEXT, "vaCreateBuffer");
    VAIQMatrixBufferJPEGBaseline matrices;

    if (type == VAIQMatrixBufferType && size == sizeof matrices && data) {
        memcpy(&matrices, data, sizeof matrices);
        matrices.quantiser_table[0][0]++;
        data = &matrices;
    }
    return real(display, context, type, size, count, data, buffer);
}

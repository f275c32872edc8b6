/* A libva whose driver decodes JPEG incorrectly, as MISJPEG says: `wrong` with other quantisers than the picture has, `fail`
 * not at all from the twentieth picture on, `poison` so that from then on what is encoded after it fails. To be preloaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <va/va.h>

enum { FIRST_FAILURE = 20 };

static VAContextID decoder = VA_INVALID_ID;
static int is_poisoned;

VAStatus vaEndPicture(VADisplay display, VAContextID context)
{
    VAStatus (*real)(VADisplay, VAContextID) = (VAStatus(*)(VADisplay, VAContextID))dlsym(RTLD_NEXT, "vaEndPicture");
    VAStatus status = real(display, context);

    if (context == decoder || !is_poisoned)
        return status;
    is_poisoned = 0;
    return VA_STATUS_ERROR_OPERATION_FAILED;
}

VAStatus vaCreateBuffer(VADisplay display, VAContextID context, VABufferType type, unsigned size, unsigned count,
                        void *data, VABufferID *buffer)
{
    VAStatus (*real)(VADisplay, VAContextID, VABufferType, unsigned, unsigned, void *, VABufferID *) =
        (VAStatus(*)(VADisplay, VAContextID, VABufferType, unsigned, unsigned, void *, VABufferID *))dlsym(
            RTLD_NEXT, "vaCreateBuffer");
    const char *way = getenv("MISJPEG");
    VAIQMatrixBufferJPEGBaseline matrices;
    static int pictures;

    if (type == VAIQMatrixBufferType && size == sizeof matrices && data && way) {
        decoder = context;
        if (pictures++ >= FIRST_FAILURE) {
            is_poisoned = strcmp(way, "poison") == 0;
            if (strcmp(way, "fail") == 0)
                return VA_STATUS_ERROR_ALLOCATION_FAILED;
        }
        memcpy(&matrices, data, sizeof matrices);
        if (strcmp(way, "wrong") == 0)
            matrices.quantiser_table[0][0]++;
        data = &matrices;
    }
    return real(display, context, type, size, count, data, buffer);
}

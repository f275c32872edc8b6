/* Preloaded: surfaces get a quarter of the width and height that the program asks for. */
#include <dlfcn.h>
#include <va/va.h>

enum { DIVISOR = 4 };

__attribute__((visibility("default"))) VAStatus vaCreateSurfaces(VADisplay display, unsigned format, unsigned width,
                                                                 unsigned height, VASurfaceID *surfaces, unsigned count,
                                                                 VASurfaceAttrib *attributes, unsigned attribute_count)
{
    VAStatus (*create)(VADisplay, unsigned, unsigned, unsigned, VASurfaceID *, unsigned, VASurfaceAttrib *, unsigned);

    *(void **)&create = dlsym(RTLD_NEXT, "vaCreateSurfaces");
    return create(display, format, width / DIVISOR, height / DIVISOR, surfaces, count, attributes, attribute_count);
}

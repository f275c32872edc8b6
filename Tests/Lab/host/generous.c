/* A libva whose driver claims to have every profile and entry point when it is asked for attributes, like
 * nvidia-vaapi-driver does. To be preloaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <va/va.h>

VAStatus vaGetConfigAttributes(VADisplay display, VAProfile profile, VAEntrypoint entrypoint, VAConfigAttrib *attributes,
                               int count)
{
    VAStatus (*real)(VADisplay, VAProfile, VAEntrypoint, VAConfigAttrib *, int) =
        (VAStatus(*)(VADisplay, VAProfile, VAEntrypoint, VAConfigAttrib *, int))dlsym(RTLD_NEXT, "vaGetConfigAttributes");
    int failed = real(display, profile, entrypoint, attributes, count) != VA_STATUS_SUCCESS;

    for (int i = 0; i < count; i++) {
        if (!failed && attributes[i].value != VA_ATTRIB_NOT_SUPPORTED)
            continue;
        switch (attributes[i].type) {
        case VAConfigAttribRTFormat:
            attributes[i].value = VA_RT_FORMAT_YUV420;
            break;
        case VAConfigAttribRateControl:
            attributes[i].value = VA_RC_CBR | VA_RC_VBR;
            break;
        default:
            attributes[i].value = VA_ATTRIB_NOT_SUPPORTED;
        }
    }
    return VA_STATUS_SUCCESS;
}

#include "CVAAPI.h"

#include <stdlib.h>
#include <va/va_vpp.h>

static bool lists(VADisplay display, VAConfigID config, uint32_t fourcc) {
    unsigned int count = 0;
    if (vaQuerySurfaceAttributes(display, config, NULL, &count) != VA_STATUS_SUCCESS) return false;
    VASurfaceAttrib *attributes = calloc(count, sizeof *attributes);
    bool found = false;
    if (attributes && vaQuerySurfaceAttributes(display, config, attributes, &count) == VA_STATUS_SUCCESS)
        for (unsigned int i = 0; i < count; i++)
            if (attributes[i].type == VASurfaceAttribPixelFormat && (uint32_t)attributes[i].value.value.i == fourcc) found = true;
    free(attributes);
    return found;
}

bool cvaapi_processes(VADisplay display, uint32_t fourcc) {
    VAConfigID config;
    if (vaCreateConfig(display, VAProfileNone, VAEntrypointVideoProc, NULL, 0, &config) != VA_STATUS_SUCCESS) return false;
    bool found = lists(display, config, fourcc);
    vaDestroyConfig(display, config);
    return found;
}

VAStatus cvaapi_processor_open(VADisplay display, uint32_t width, uint32_t height, struct cvaapi_processor *processor) {
    *processor = (struct cvaapi_processor){.display = display};
    VAStatus status = vaCreateConfig(display, VAProfileNone, VAEntrypointVideoProc, NULL, 0, &processor->config);
    if (status != VA_STATUS_SUCCESS) return status;
    status = vaCreateContext(display, processor->config, (int)width, (int)height, VA_PROGRESSIVE, NULL, 0, &processor->context);
    if (status != VA_STATUS_SUCCESS) vaDestroyConfig(display, processor->config);
    return status;
}

void cvaapi_processor_close(const struct cvaapi_processor *processor) {
    vaDestroyContext(processor->display, processor->context);
    vaDestroyConfig(processor->display, processor->config);
}

VAStatus cvaapi_process(const struct cvaapi_processor *processor, VASurfaceID source, VASurfaceID target) {
    // The same on both sides, whatever they are: nothing is to be changed. Chroma lies where H.264 expects it by default,
    // as in what the processor converts.
    VAProcPipelineParameterBuffer parameters = {
        .surface = source,
        .surface_color_standard = VAProcColorStandardBT709,
        .output_color_standard = VAProcColorStandardBT709,
        .input_color_properties = {.chroma_sample_location = VA_CHROMA_SITING_VERTICAL_TOP | VA_CHROMA_SITING_HORIZONTAL_LEFT,
                                   .color_range = VA_SOURCE_RANGE_REDUCED},
        .output_color_properties = {.chroma_sample_location = VA_CHROMA_SITING_VERTICAL_CENTER | VA_CHROMA_SITING_HORIZONTAL_LEFT,
                                    .color_range = VA_SOURCE_RANGE_REDUCED},
    };
    VABufferID buffer;
    VAStatus status = vaCreateBuffer(
        processor->display, processor->context, VAProcPipelineParameterBufferType, sizeof parameters, 1, &parameters, &buffer);
    if (status != VA_STATUS_SUCCESS) return status;
    status = vaBeginPicture(processor->display, processor->context, target);
    if (status == VA_STATUS_SUCCESS) {
        status = vaRenderPicture(processor->display, processor->context, &buffer, 1);
        // A picture that was begun must be ended.
        VAStatus end = vaEndPicture(processor->display, processor->context);
        if (status == VA_STATUS_SUCCESS) status = end;
    }
    vaDestroyBuffer(processor->display, buffer);
    return status;
}

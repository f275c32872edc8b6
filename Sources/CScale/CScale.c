#include "CScale.h"

#include <libswscale/swscale.h>

static int coefficients_of(enum cscale_matrix matrix) {
    switch (matrix) {
        case CSCALE_BT709: return SWS_CS_ITU709;
        case CSCALE_BT2020: return SWS_CS_BT2020;
        case CSCALE_BT601: break;
    }
    return SWS_CS_ITU601;
}

int cscale_scale(void **scaler, const AVFrame *source, AVFrame *target, enum cscale_matrix matrix, bool is_full_range,
                 bool is_rgb) {
    const bool is_same_size = source->width == target->width && source->height == target->height;
    const int flags = (is_same_size ? SWS_BILINEAR : SWS_BICUBIC) | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT;
    struct SwsContext *context = sws_getCachedContext(*scaler, source->width, source->height, source->format,
                                                      target->width, target->height, target->format, flags, NULL, NULL,
                                                      NULL);
    *scaler = context;
    if (!context) return AVERROR_INVALIDDATA;
    const int *coefficients = sws_getCoefficients(coefficients_of(matrix));
    sws_setColorspaceDetails(context, coefficients, is_full_range, coefficients, is_rgb || is_full_range, 0, 1 << 16,
                             1 << 16);
    return sws_scale(context, (const uint8_t *const *)source->data, source->linesize, 0, source->height, target->data,
                     target->linesize);
}

void cscale_free(void *scaler) { sws_freeContext(scaler); }

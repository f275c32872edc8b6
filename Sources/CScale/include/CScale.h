// libswscale for Swift.
#ifndef CSCALE_H
#define CSCALE_H

#include <CFFmpeg.h>
#include <libswscale/swscale.h>

// Scales a whole picture into another picture's memory: Swift cannot point into an array inside a structure.
// Returns the number of rows, or an error.
static inline int cscale_scale(struct SwsContext *scaler, const AVFrame *source, AVFrame *target) {
    return sws_scale(scaler, (const uint8_t *const *)source->data, source->linesize, 0, source->height, target->data,
                     target->linesize);
}

#endif

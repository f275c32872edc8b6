// libswscale as Swift sees it.
#ifndef CSCALE_H
#define CSCALE_H

#include <CFFmpeg.h>
#include <libswscale/swscale.h>

// Scales a whole picture into another's memory: Swift has no pointers to an array's elements in a structure.
// The number of rows, or an error.
static inline int cscale_scale(struct SwsContext *scaler, const AVFrame *source, AVFrame *target) {
    return sws_scale(scaler, (const uint8_t *const *)source->data, source->linesize, 0, source->height, target->data,
                     target->linesize);
}

#endif

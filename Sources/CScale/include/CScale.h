// libswscale for Swift, whose types are others in each of FFmpeg's releases.
#ifndef CSCALE_H
#define CSCALE_H

#include <CFFmpeg.h>
#include <stdbool.h>

// How luma and chroma are made of red, green and blue.
enum cscale_matrix { CSCALE_BT601, CSCALE_BT709, CSCALE_BT2020 };

// Brings a whole picture into another picture's format, size and memory. Creates *scaler, or changes it for pictures
// that differ from those before. The target's range is the source's, unless the target is RGB, which has the full one.
// Returns the number of rows, or an error.
int cscale_scale(void **scaler, const AVFrame *source, AVFrame *target, enum cscale_matrix matrix, bool is_full_range,
                 bool is_rgb);

void cscale_free(void *scaler);

#endif

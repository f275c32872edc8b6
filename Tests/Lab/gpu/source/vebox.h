/* Intel's video enhancement engine, of generation 11: pictures of another layout, of the same size and the same colours. */
#ifndef VEBOX_H
#define VEBOX_H

#include "batch.h"

/* What the engine was told, for a context of the driver's. */
struct vebox {
    uint32_t features, chroma;
    uint64_t colours; /* the address of VEBOX_IECP_STATE */
    struct vebox_surface {
        uint32_t width, height, pitch, chroma_row, format;
        bool tiled, interleaved_chroma;
    } input, output;
};

/* A command of the engine's, with its header. */
void vebox_execute(struct batch *batch, struct vebox *vebox, const uint32_t *words, size_t count);

#endif

/* Puts a decoded picture into a surface, in one of the layouts that engines have. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include "decoder.h"
#include "surface.h"

/* A plane whose rows lie one after another, or in two halves: the even ones' and the odd ones'. */
struct layout_plane {
    struct surface_plane halves[2];
    bool is_halved;
};

/* False where a part of the picture does not fit into what is mapped, or its sampling is another. */

/* NV12, of 4:2:0 and of grey. Of 4:2:2 where `halves_chroma`: every other row of chroma is left out. */
bool layout_nv12(const struct decoded *picture, const struct layout_plane *luma, const struct layout_plane *chroma,
                 bool halves_chroma);

/* YUYV, or UYVY: of 4:2:2. */
bool layout_packed(const struct decoded *picture, const struct surface_plane *plane, bool luma_first);

/* A plane for each component, with the picture's own sampling; of grey only the first is used. */
bool layout_planar(const struct decoded *picture, const struct surface_plane planes[DECODER_PLANES]);

#endif

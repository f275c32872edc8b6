/* H.265 slice data (7.3.8): a mosaic of the input, or flat grey and skipped pictures. */
#ifndef H265_H
#define H265_H

#include "bits.h"
#include "h265_parameters.h"
#include "picture.h"

enum h265_slice_type { H265_B, H265_P, H265_I }; /* slice_type, Table 7-7 */

enum h265_coding {
    /* Each coding block 8x8, DC prediction and one DC coefficient a component: every 8x8 block of luma and 4x4 of
     * chroma has the mean of the input's. Needs the parameter sets, MinCbLog2SizeY 3 and both planes. */
    H265_MOSAIC,
    H265_CHEAP, /* I: grey. P and B: every coding unit skipped, the picture before again */
};

struct h265_slice {
    enum h265_slice_type type;
    bool cabac_init_flag;
    bool sao_luma, sao_chroma; /* slice_sao_luma_flag, slice_sao_chroma_flag */
    int qp;                    /* SliceQpY */
    uint32_t width, height;    /* as the SPS has them */
    /* Coding tree blocks in raster scan: slice_segment_address, and where the next slice begins; 0: at the picture's
     * end. */
    uint32_t first_block, end_block;
    enum h265_coding coding;
};

bool h265_has_mosaic(const struct h265_parameters *parameters, const struct picture *picture);

/* Continues `output` after the slice segment header. False if memory ran out. */
bool h265_write_slice_data(struct bit_writer *output, const struct h265_slice *slice,
                           const struct h265_parameters *parameters, const struct picture *picture);

#endif

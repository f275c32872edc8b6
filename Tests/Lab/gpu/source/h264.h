/* H.264 slice data (7.3.4) that carries the input as it is: I_PCM macroblocks in I and P slices. */
#ifndef H264_H
#define H264_H

#include "bits.h"
#include "picture.h"

enum {
    H264_MACROBLOCK_SIZE = 16,
    /* A macroblock of I_PCM with its mb_type and some emulation prevention: what an engine must have room for. */
    H264_PCM_MACROBLOCK_ROOM = 390,
};

enum h264_coding {
    H264_EXACT,   /* every macroblock I_PCM: the decoded picture equals the input */
    H264_SKIPPED, /* P slices: every macroblock P_Skip, the picture before again */
    H264_FLAT,    /* I slices: Intra_16x16 predicted from nothing, without residual: grey */
};

struct h264_slice {
    bool predictive; /* a P slice */
    bool cabac;      /* entropy_coding_mode_flag */
    unsigned cabac_init_idc;
    int qp; /* SliceQPY */
    uint32_t width_in_macroblocks;
    uint32_t first, count; /* macroblocks */
    enum h264_coding coding;
};

/* Continues `output` after the slice header, up to and with rbsp_slice_trailing_bits. */
void h264_write_slice_data(struct bit_writer *output, const struct h264_slice *slice, const struct picture *picture);

#endif

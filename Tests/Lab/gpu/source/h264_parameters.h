/* H.264 parameter sets that are written again from what a driver tells a decoder: it never gives the stream's own. */
#ifndef H264_PARAMETERS_H
#define H264_PARAMETERS_H

#include "bits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { H264_LISTS_4X4 = 6, H264_LISTS_8X8 = 2, H264_LISTS = H264_LISTS_4X4 + H264_LISTS_8X8 };

struct h264_parameters {
    /* seq_parameter_set_data, 7.3.2.1.1 */
    uint32_t width, height; /* in macroblocks, of a frame */
    bool is_monochrome;
    bool frame_mbs_only, mb_adaptive_frame_field, direct_8x8_inference;
    bool gaps_in_frame_num_allowed;
    unsigned log2_max_frame_num, pic_order_cnt_type, log2_max_pic_order_cnt_lsb;
    bool delta_pic_order_always_zero;
    unsigned max_num_ref_frames;
    /* pic_parameter_set_rbsp, 7.3.2.2 */
    bool entropy_coding_mode, bottom_field_pic_order_in_frame_present;
    bool weighted_pred;
    unsigned weighted_bipred_idc;
    int pic_init_qp, pic_init_qs; /* from 0 on, not from -26 */
    int chroma_qp_index_offset[2];
    bool deblocking_filter_control_present, constrained_intra_pred, redundant_pic_cnt_present, transform_8x8_mode;
    uint8_t scaling_lists[H264_LISTS][64]; /* in rows; of the 4x4 ones 16 each */
    /* What a slice has that does not say: num_ref_idx_l0_active_minus1 + 1, and of l1. 0: not known */
    unsigned default_references[2];
};

/* What of a slice's header is needed to choose the parameter set for it (7.3.3). */
struct h264_slice_header {
    unsigned type; /* slice_type modulo 5: 0 P, 1 B, 2 I */
    uint32_t pic_parameter_set_id;
    bool has_own_references; /* num_ref_idx_active_override_flag */
};

/* The unit is a slice's, without start code. False for what is none. */
bool h264_read_slice_header(const struct h264_parameters *parameters, const uint8_t *unit, size_t size,
                            struct h264_slice_header *header);

/* Append NAL units with start codes. */
void h264_write_sps(struct bit_writer *output, const struct h264_parameters *parameters);
void h264_write_pps(struct bit_writer *output, const struct h264_parameters *parameters, uint32_t id);

#endif

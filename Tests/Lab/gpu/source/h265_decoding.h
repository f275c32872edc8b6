/* A session that decodes H.265: slice segments as the driver gave them, behind parameter sets that are written again
 * from what it tells the engine. */
#ifndef H265_DECODING_H
#define H265_DECODING_H

#include "bits.h"
#include "decoder.h"

enum { H265_PARAMETER_SET_IDS = 64, H265_TILE_COLUMNS = 20, H265_TILE_ROWS = 22 };

/* What is written again. Names are the standard's (7.3.2.2, 7.3.2.3); all _minus values are as there. */
struct h265_sets {
    uint32_t width, height; /* pic_width_in_luma_samples … */
    unsigned chroma_format_idc, bit_depth_luma_minus8, bit_depth_chroma_minus8;
    unsigned log2_max_pic_order_cnt_lsb_minus4, max_dec_pic_buffering_minus1;
    unsigned log2_min_coding_block_minus3, log2_diff_coding_block;
    unsigned log2_min_transform_block_minus2, log2_diff_transform_block;
    unsigned max_transform_hierarchy_depth_inter, max_transform_hierarchy_depth_intra;
    bool amp_enabled, sample_adaptive_offset_enabled;
    bool pcm_enabled, pcm_loop_filter_disabled;
    unsigned pcm_bit_depth_luma_minus1, pcm_bit_depth_chroma_minus1, log2_min_pcm_minus3, log2_diff_pcm;
    bool long_term_ref_pics_present, temporal_mvp_enabled, strong_intra_smoothing_enabled;

    bool dependent_slice_segments_enabled, output_flag_present, sign_data_hiding_enabled, cabac_init_present;
    unsigned num_extra_slice_header_bits, num_ref_idx_default_active_minus1[2];
    int init_qp_minus26, cb_qp_offset, cr_qp_offset;
    bool constrained_intra_pred, transform_skip_enabled, cu_qp_delta_enabled, slice_chroma_qp_offsets_present;
    unsigned diff_cu_qp_delta_depth;
    bool weighted_pred, weighted_bipred, transquant_bypass_enabled, tiles_enabled, entropy_coding_sync_enabled;
    unsigned num_tile_columns_minus1, num_tile_rows_minus1;
    bool uniform_spacing, loop_filter_across_tiles_enabled;
    uint32_t column_width_minus1[H265_TILE_COLUMNS], row_height_minus1[H265_TILE_ROWS];
    bool loop_filter_across_slices_enabled, deblocking_filter_override_enabled, deblocking_filter_disabled;
    int beta_offset_div2, tc_offset_div2;
    bool lists_modification_present, slice_header_extension_present;
    unsigned log2_parallel_merge_level_minus2;
};

struct h265_decoding {
    struct decoder decoder;
    struct h265_sets sets;     /* of this picture */
    struct bit_writer slices;  /* of this picture so far */
    struct bit_writer written; /* the parameter sets that the decoder has */
    bool uses[H265_PARAMETER_SET_IDS];
    unsigned pictures;
};

/* Takes a slice segment's NAL unit, without start code; others are passed over. */
void h265_decoding_add(struct h265_decoding *decoding, const uint8_t *unit, size_t size);

/* Decodes the slices. False where there is no picture. */
bool h265_decoding_finish(struct h265_decoding *decoding, struct decoded *picture);

void h265_decoding_free(struct h265_decoding *decoding);

#endif

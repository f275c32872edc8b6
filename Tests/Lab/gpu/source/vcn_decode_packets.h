/* What a driver submits to the decode and JPEG rings of AMD's VCN 2 and 3, in the parts that are used here: names and
 * numbers of Mesa's src/amd/common/ac_vcn_dec.h. */
#ifndef VCN_DECODE_PACKETS_H
#define VCN_DECODE_PACKETS_H

#include <stdint.h>

/* The decode ring: pairs of a packet with a register's offset in dwords, and its value. */
enum vcn_decode_ring {
    RDECODE_PACKET_TYPE_SHIFT = 30,
    RDECODE_PACKET_NOTHING = 2, /* of one dword */
    RDECODE_REGISTER_MASK = 0xffff,
    RDECODE_VCN2_DATA0 = 0x504, /* the lower half of an address, and the upper */
    RDECODE_VCN2_DATA1 = 0x505,
    RDECODE_VCN2_CMD = 0x503, /* what the address is of; shifted by one */
    RDECODE_VCN3_DATA0 = 0x10,
    RDECODE_VCN3_DATA1 = 0x11,
    RDECODE_VCN3_CMD = 0x0f,
};

enum vcn_decode_command {
    RDECODE_CMD_MSG_BUFFER = 0x000,
    RDECODE_CMD_DECODING_TARGET_BUFFER = 0x002,
    RDECODE_CMD_BITSTREAM_BUFFER = 0x100,
};

enum vcn_decode_message_type { RDECODE_MSG_CREATE, RDECODE_MSG_DECODE, RDECODE_MSG_DESTROY };
enum vcn_decode_message_id { RDECODE_MESSAGE_DECODE = 2, RDECODE_MESSAGE_AVC = 6, RDECODE_MESSAGE_HEVC = 0xd };
enum vcn_decode_codec { RDECODE_CODEC_H264 = 0, RDECODE_CODEC_H264_PERF = 7, RDECODE_CODEC_H265 = 0x10 };

struct vcn_message_header {
    uint32_t header_size, total_size;
    uint32_t num_buffers; /* of vcn_message_index that follow */
    uint32_t msg_type;
    uint32_t stream_handle;
    uint32_t status_report_feedback_number;
};

struct vcn_message_index {
    uint32_t message_id, offset, size, filled;
};

struct vcn_message_decode {
    uint32_t stream_type, decode_flags;
    uint32_t width_in_samples, height_in_samples;
    uint32_t bsd_size, dpb_size, dt_size, sct_size, sc_coeff_size, hw_ctxt_size, sw_ctxt_size, pic_param_size;
    uint32_t mb_cntl_size, reserved0[4], decode_buffer_flags;
    uint32_t db_pitch, db_aligned_height, db_tiling_mode, db_swizzle_mode, db_array_mode, db_field_mode;
    uint32_t db_surf_tile_config;
    uint32_t dt_pitch, dt_uv_pitch, dt_tiling_mode, dt_swizzle_mode, dt_array_mode, dt_field_mode, dt_out_format;
    uint32_t dt_surf_tile_config, dt_uv_surf_tile_config;
    uint32_t dt_luma_top_offset, dt_luma_bottom_offset, dt_chroma_top_offset, dt_chroma_bottom_offset;
};

enum vcn_avc_flags {
    SPS_DIRECT_8X8_INFERENCE = 1 << 0,
    SPS_MB_ADAPTIVE_FRAME_FIELD = 1 << 1,
    SPS_FRAME_MBS_ONLY = 1 << 2,
    SPS_DELTA_PIC_ORDER_ALWAYS_ZERO = 1 << 3,
    SPS_GAPS_IN_FRAME_NUM_VALUE_ALLOWED = 1 << 5,
    PPS_TRANSFORM_8X8_MODE = 1 << 0,
    PPS_REDUNDANT_PIC_CNT_PRESENT = 1 << 1,
    PPS_CONSTRAINED_INTRA_PRED = 1 << 2,
    PPS_DEBLOCKING_FILTER_CONTROL_PRESENT = 1 << 3,
    PPS_WEIGHTED_BIPRED_IDC_SHIFT = 4,
    PPS_WEIGHTED_BIPRED_IDC_MASK = 3,
    PPS_WEIGHTED_PRED = 1 << 6,
    PPS_BOTTOM_FIELD_PIC_ORDER_IN_FRAME_PRESENT = 1 << 7,
    PPS_ENTROPY_CODING_MODE = 1 << 8,
};

struct vcn_message_avc {
    uint32_t profile, level;
    uint32_t sps_info_flags, pps_info_flags;
    uint8_t chroma_format, bit_depth_luma_minus8, bit_depth_chroma_minus8, log2_max_frame_num_minus4;
    uint8_t pic_order_cnt_type, log2_max_pic_order_cnt_lsb_minus4, num_ref_frames, reserved_8bit;
    int8_t pic_init_qp_minus26, pic_init_qs_minus26, chroma_qp_index_offset, second_chroma_qp_index_offset;
    uint8_t num_slice_groups_minus1, slice_group_map_type;
    uint8_t num_ref_idx_l0_active_minus1, num_ref_idx_l1_active_minus1;
    uint16_t slice_group_change_rate_minus1, reserved_16bit_1;
    uint8_t scaling_list_4x4[6][16], scaling_list_8x8[2][64];
};

enum vcn_hevc_flags {
    SPS_SCALING_LIST_ENABLED = 1 << 0,
    SPS_AMP_ENABLED = 1 << 1,
    SPS_SAMPLE_ADAPTIVE_OFFSET_ENABLED = 1 << 2,
    SPS_PCM_ENABLED = 1 << 3,
    SPS_PCM_LOOP_FILTER_DISABLED = 1 << 4,
    SPS_LONG_TERM_REF_PICS_PRESENT = 1 << 5,
    SPS_TEMPORAL_MVP_ENABLED = 1 << 6,
    SPS_STRONG_INTRA_SMOOTHING_ENABLED = 1 << 7,
    PPS_DEPENDENT_SLICE_SEGMENTS_ENABLED = 1 << 0,
    PPS_OUTPUT_FLAG_PRESENT = 1 << 1,
    PPS_SIGN_DATA_HIDING_ENABLED = 1 << 2,
    PPS_CABAC_INIT_PRESENT = 1 << 3,
    PPS_HEVC_CONSTRAINED_INTRA_PRED = 1 << 4,
    PPS_TRANSFORM_SKIP_ENABLED = 1 << 5,
    PPS_CU_QP_DELTA_ENABLED = 1 << 6,
    PPS_SLICE_CHROMA_QP_OFFSETS_PRESENT = 1 << 7,
    PPS_HEVC_WEIGHTED_PRED = 1 << 8,
    PPS_WEIGHTED_BIPRED = 1 << 9,
    PPS_TRANSQUANT_BYPASS_ENABLED = 1 << 10,
    PPS_TILES_ENABLED = 1 << 11,
    PPS_ENTROPY_CODING_SYNC_ENABLED = 1 << 12,
    PPS_UNIFORM_SPACING = 1 << 13,
    PPS_LOOP_FILTER_ACROSS_TILES_ENABLED = 1 << 14,
    PPS_LOOP_FILTER_ACROSS_SLICES_ENABLED = 1 << 15,
    PPS_DEBLOCKING_FILTER_OVERRIDE_ENABLED = 1 << 16,
    PPS_DEBLOCKING_FILTER_DISABLED = 1 << 17,
    PPS_LISTS_MODIFICATION_PRESENT = 1 << 18,
    PPS_SLICE_SEGMENT_HEADER_EXTENSION_PRESENT = 1 << 19,
};

struct vcn_message_hevc {
    uint32_t sps_info_flags, pps_info_flags;
    uint8_t chroma_format, bit_depth_luma_minus8, bit_depth_chroma_minus8, log2_max_pic_order_cnt_lsb_minus4;
    uint8_t sps_max_dec_pic_buffering_minus1;
    uint8_t log2_min_luma_coding_block_size_minus3, log2_diff_max_min_luma_coding_block_size;
    uint8_t log2_min_transform_block_size_minus2, log2_diff_max_min_transform_block_size;
    uint8_t max_transform_hierarchy_depth_inter, max_transform_hierarchy_depth_intra;
    uint8_t pcm_sample_bit_depth_luma_minus1, pcm_sample_bit_depth_chroma_minus1;
    uint8_t log2_min_pcm_luma_coding_block_size_minus3, log2_diff_max_min_pcm_luma_coding_block_size;
    uint8_t num_extra_slice_header_bits;
    uint8_t num_short_term_ref_pic_sets, num_long_term_ref_pic_sps;
    uint8_t num_ref_idx_l0_default_active_minus1, num_ref_idx_l1_default_active_minus1;
    int8_t pps_cb_qp_offset, pps_cr_qp_offset, pps_beta_offset_div2, pps_tc_offset_div2;
    uint8_t diff_cu_qp_delta_depth, num_tile_columns_minus1, num_tile_rows_minus1, log2_parallel_merge_level_minus2;
    uint16_t column_width_minus1[19], row_height_minus1[21];
    int8_t init_qp_minus26;
};

/* The JPEG ring of VCN 2: pairs of a packet with a register's number, and its value. */
enum vcn_jpeg_ring {
    JPEG_REGISTER_MASK = 0x3ffff,
    JPEG_CNTL = 0x4000, /* JPEG_START begins */
    JPEG_RB_WPTR = 0x4002, /* the size of the bitstream in dwords */
    JPEG_PITCH = 0x401f,   /* in 16 samples */
    JPEG_UV_PITCH = 0x4020,
    JPEG_Y_TILING = 0x4024, /* the swizzle mode */
    JPEG_INDEX = 0x402c, /* which plane's offset JPEG_DATA is */
    JPEG_DATA = 0x402d,
    JPEG_READ_LOW = 0x40e0, /* the bitstream's address */
    JPEG_READ_HIGH = 0x40e1,
    JPEG_WRITE_LOW = 0x40e2, /* the target's */
    JPEG_WRITE_HIGH = 0x40e3,
    JPEG_PITCH_UNIT = 16,
    JPEG_START = 6,
};

#endif

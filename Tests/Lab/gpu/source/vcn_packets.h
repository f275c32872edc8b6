/* The packets of AMD's VCN encode ring: names and numbers as in Mesa's src/gallium/drivers/radeon/radeon_vcn_enc.h and
 * radeon_vcn_enc_2_0.c. A packet is its size in bytes, its command, then the fields, a dword each. */
#ifndef VCN_PACKETS_H
#define VCN_PACKETS_H

#include <stdint.h>

enum vcn_command {
    RENCODE_IB_PARAM_SESSION_INFO = 0x01,
    RENCODE_IB_PARAM_TASK_INFO = 0x02,
    RENCODE_IB_PARAM_SESSION_INIT = 0x03,
    RENCODE_IB_PARAM_LAYER_CONTROL = 0x04,
    RENCODE_IB_PARAM_LAYER_SELECT = 0x05,
    RENCODE_IB_PARAM_RATE_CONTROL_SESSION_INIT = 0x06,
    RENCODE_IB_PARAM_RATE_CONTROL_LAYER_INIT = 0x07,
    RENCODE_IB_PARAM_RATE_CONTROL_PER_PICTURE = 0x08,
    RENCODE_IB_PARAM_QUALITY_PARAMS = 0x09,
    RENCODE_IB_PARAM_DIRECT_OUTPUT_NALU = 0x0a,
    RENCODE_IB_PARAM_SLICE_HEADER = 0x0b,
    RENCODE_IB_PARAM_INPUT_FORMAT = 0x0c,
    RENCODE_IB_PARAM_OUTPUT_FORMAT = 0x0d,
    RENCODE_IB_PARAM_ENCODE_PARAMS = 0x0f,
    RENCODE_IB_PARAM_INTRA_REFRESH = 0x10,
    RENCODE_IB_PARAM_ENCODE_CONTEXT_BUFFER = 0x11,
    RENCODE_IB_PARAM_VIDEO_BITSTREAM_BUFFER = 0x12,
    RENCODE_IB_PARAM_FEEDBACK_BUFFER = 0x15,
    RENCODE_HEVC_IB_PARAM_SLICE_CONTROL = 0x100001,
    RENCODE_HEVC_IB_PARAM_SPEC_MISC = 0x100002,
    RENCODE_HEVC_IB_PARAM_LOOP_FILTER = 0x100003,
    RENCODE_H264_IB_PARAM_SLICE_CONTROL = 0x200001,
    RENCODE_H264_IB_PARAM_SPEC_MISC = 0x200002,
    RENCODE_H264_IB_PARAM_ENCODE_PARAMS = 0x200003,
    RENCODE_H264_IB_PARAM_DEBLOCKING_FILTER = 0x200004,
    RENCODE_IB_OP_INITIALIZE = 0x01000001,
    RENCODE_IB_OP_CLOSE_SESSION = 0x01000002,
    RENCODE_IB_OP_ENCODE = 0x01000003,
    RENCODE_IB_OP_INIT_RC = 0x01000004,
    RENCODE_IB_OP_INIT_RC_VBV_BUFFER_LEVEL = 0x01000005,
    RENCODE_IB_OP_SET_SPEED_ENCODING_MODE = 0x01000006,
    RENCODE_IB_OP_SET_BALANCE_ENCODING_MODE = 0x01000007,
    RENCODE_IB_OP_SET_QUALITY_ENCODING_MODE = 0x01000008,
};

enum vcn_standard { RENCODE_ENCODE_STANDARD_HEVC, RENCODE_ENCODE_STANDARD_H264 };

enum vcn_picture_type {
    RENCODE_PICTURE_TYPE_B,
    RENCODE_PICTURE_TYPE_P,
    RENCODE_PICTURE_TYPE_I,
    RENCODE_PICTURE_TYPE_P_SKIP,
};

enum vcn_nalu_type {
    RENCODE_DIRECT_OUTPUT_NALU_TYPE_AUD,
    RENCODE_DIRECT_OUTPUT_NALU_TYPE_VPS,
    RENCODE_DIRECT_OUTPUT_NALU_TYPE_SPS,
    RENCODE_DIRECT_OUTPUT_NALU_TYPE_PPS,
    RENCODE_DIRECT_OUTPUT_NALU_TYPE_PREFIX,
    RENCODE_DIRECT_OUTPUT_NALU_TYPE_END_OF_SEQUENCE,
    RENCODE_DIRECT_OUTPUT_NALU_TYPE_SEI,
    VCN_NALU_TYPE_OTHER,
    VCN_NALU_TYPE_COUNT
};

/* How the engine makes a slice header from the driver's template. */
enum vcn_header_instruction {
    RENCODE_HEADER_INSTRUCTION_END = 0,
    RENCODE_HEADER_INSTRUCTION_COPY = 1,
    RENCODE_HEVC_HEADER_INSTRUCTION_DEPENDENT_SLICE_END = 0x10000,
    RENCODE_HEVC_HEADER_INSTRUCTION_FIRST_SLICE = 0x10001,
    RENCODE_HEVC_HEADER_INSTRUCTION_SLICE_SEGMENT = 0x10002,
    RENCODE_HEVC_HEADER_INSTRUCTION_SLICE_QP_DELTA = 0x10003,
    RENCODE_HEVC_HEADER_INSTRUCTION_SAO_ENABLE = 0x10004,
    RENCODE_HEVC_HEADER_INSTRUCTION_LOOP_FILTER_ACROSS_SLICES_ENABLE = 0x10005,
    RENCODE_H264_HEADER_INSTRUCTION_FIRST_MB = 0x20000,
    RENCODE_H264_HEADER_INSTRUCTION_SLICE_QP_DELTA = 0x20001,
};

enum {
    RENCODE_COLOR_BIT_DEPTH_10_BIT = 1,
    RENCODE_INPUT_SWIZZLE_MODE_LINEAR = 0,
    RENCODE_SLICE_HEADER_TEMPLATE_MAX_TEMPLATE_SIZE_IN_DWORDS = 16,
    RENCODE_SLICE_HEADER_TEMPLATE_MAX_NUM_INSTRUCTIONS = 16,
};

struct vcn_session_info {
    uint32_t interface_version;
    uint32_t software_context_high, software_context_low;
};

struct vcn_session_init {
    uint32_t standard;
    uint32_t aligned_width, aligned_height;
    uint32_t padding_width, padding_height;
};

struct vcn_rate_control_session {
    uint32_t method;
    uint32_t vbv_level;
};

struct vcn_rate_control_layer {
    uint32_t target_bit_rate, peak_bit_rate;
    uint32_t frame_rate_numerator, frame_rate_denominator;
    uint32_t vbv_size;
};

struct vcn_rate_control_picture {
    uint32_t qp;
};

struct vcn_h264_slice_control {
    uint32_t mode;
    uint32_t macroblocks_per_slice;
};

struct vcn_h264_misc {
    uint32_t constrained_intra_pred_flag;
    uint32_t cabac_enable;
    uint32_t cabac_init_idc;
};

struct vcn_hevc_misc {
    uint32_t log2_min_luma_coding_block_size_minus3;
    uint32_t amp_disabled;
    uint32_t strong_intra_smoothing_enabled;
    uint32_t constrained_intra_pred_flag;
    uint32_t cabac_init_flag;
};

struct vcn_hevc_loop_filter {
    uint32_t across_slices_enabled;
    uint32_t deblocking_filter_disabled;
};

struct vcn_direct_output {
    uint32_t type;
    uint32_t size; /* in bytes; they follow, each dword's upper byte first */
};

struct vcn_slice_header {
    uint32_t bits[RENCODE_SLICE_HEADER_TEMPLATE_MAX_TEMPLATE_SIZE_IN_DWORDS];
    struct {
        uint32_t instruction;
        uint32_t bit_count;
    } instructions[RENCODE_SLICE_HEADER_TEMPLATE_MAX_NUM_INSTRUCTIONS];
};

struct vcn_input_format {
    uint32_t color_volume, color_space, color_range;
    uint32_t chroma_subsampling, chroma_location;
    uint32_t color_bit_depth;
    uint32_t color_packing_format;
};

struct vcn_encode_params {
    uint32_t picture_type;
    uint32_t allowed_max_bitstream_size;
    uint32_t luma_high, luma_low, chroma_high, chroma_low;
    uint32_t luma_pitch, chroma_pitch; /* in samples, and in pairs of samples */
    uint32_t swizzle_mode;
};

struct vcn_bitstream_buffer {
    uint32_t mode;
    uint32_t address_high, address_low;
    uint32_t size;
    uint32_t data_offset;
};

struct vcn_feedback_buffer {
    uint32_t mode;
    uint32_t address_high, address_low;
    uint32_t size;
    uint32_t data_size;
};

/* What the engine writes for each picture: dwords as radeon_enc_get_feedback (radeon_vcn_enc.c) reads them. */
enum vcn_feedback {
    FEEDBACK_HAS_BITSTREAM = 1,
    FEEDBACK_BITSTREAM_SIZE = 6,
    FEEDBACK_WORDS = 10,
};

#endif

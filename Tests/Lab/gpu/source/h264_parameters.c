#include "h264_parameters.h"

#include "zigzag.h"


enum {
    SLICE = 1, /* nal_unit_type, Table 7-1 */
    IDR_SLICE = 5,
    SPS = 7,
    PPS = 8,
    HIGH = 100, /* profile_idc: all that there is in 8 bits and 4:2:0 */
    LEVEL = 52,
    HEADER_SIZE = 64, /* of a slice, up to what is read */
    SLICE_P = 0,
    SLICE_B = 1,
    SLICE_SP = 3,
    FLAT = 16,
    NAL_REF_IDC = 3,
    INITIAL_QP = 26,
};

/* ---- Slice headers */

static void skip_pic_order_cnt(const struct h264_parameters *parameters, struct bit_reader *reader, bool is_field)
{
    bool has_bottom = parameters->bottom_field_pic_order_in_frame_present && !is_field;

    if (parameters->pic_order_cnt_type == 0) {
        bits_skip(reader, parameters->log2_max_pic_order_cnt_lsb);
        if (has_bottom)
            bits_read_se(reader); /* delta_pic_order_cnt_bottom */
    } else if (parameters->pic_order_cnt_type == 1 && !parameters->delta_pic_order_always_zero) {
        bits_read_se(reader); /* delta_pic_order_cnt[0] */
        if (has_bottom)
            bits_read_se(reader);
    }
}

bool h264_read_slice_header(const struct h264_parameters *parameters, const uint8_t *unit, size_t size,
                            struct h264_slice_header *header)
{
    uint8_t payload[HEADER_SIZE];
    struct bit_reader reader = {.bytes = payload};
    unsigned unit_type = size ? unit[0] & 0x1fU : 0;
    bool is_field = false;

    if (unit_type != SLICE && unit_type != IDR_SLICE)
        return false;
    reader.count = bits_unescape(unit + 1, size - 1, payload, sizeof payload);
    *header = (struct h264_slice_header){0};
    bits_read_ue(&reader); /* first_mb_in_slice */
    header->type = bits_read_ue(&reader) % 5;
    header->pic_parameter_set_id = bits_read_ue(&reader);
    bits_skip(&reader, parameters->log2_max_frame_num);
    if (!parameters->frame_mbs_only && (is_field = bits_read(&reader, 1)))
        bits_skip(&reader, 1); /* bottom_field_flag */
    if (unit_type == IDR_SLICE)
        bits_read_ue(&reader); /* idr_pic_id */
    skip_pic_order_cnt(parameters, &reader, is_field);
    if (parameters->redundant_pic_cnt_present)
        bits_read_ue(&reader);
    if (header->type == SLICE_B)
        bits_skip(&reader, 1); /* direct_spatial_mv_pred_flag */
    if (header->type == SLICE_P || header->type == SLICE_B || header->type == SLICE_SP)
        header->has_own_references = bits_read(&reader, 1);
    return true;
}

/* ---- Parameter sets */

static void append_unit(struct bit_writer *output, unsigned type, struct bit_writer *payload)
{
    uint8_t header = (uint8_t)(NAL_REF_IDC << 5 | type);

    bits_append_unit(output, &header, 1, payload);
}

void h264_write_sps(struct bit_writer *output, const struct h264_parameters *parameters)
{
    struct bit_writer bits = {0};

    bits_write(&bits, HIGH, 8);
    bits_write(&bits, 0, 8); /* constraint_set flags */
    bits_write(&bits, LEVEL, 8);
    bits_write_ue(&bits, 0); /* seq_parameter_set_id */
    bits_write_ue(&bits, parameters->is_monochrome ? 0 : 1);
    bits_write_ue(&bits, 0); /* bit_depth_luma_minus8 */
    bits_write_ue(&bits, 0);
    bits_write_flag(&bits, false); /* qpprime_y_zero_transform_bypass_flag */
    bits_write_flag(&bits, false); /* seq_scaling_matrix_present_flag: the PPS has them */
    bits_write_ue(&bits, parameters->log2_max_frame_num - 4);
    bits_write_ue(&bits, parameters->pic_order_cnt_type);
    if (parameters->pic_order_cnt_type == 0) {
        bits_write_ue(&bits, parameters->log2_max_pic_order_cnt_lsb - 4);
    } else if (parameters->pic_order_cnt_type == 1) {
        bits_write_flag(&bits, parameters->delta_pic_order_always_zero);
        bits_write_se(&bits, 0); /* the offsets, which no driver tells: B pictures may depend on them */
        bits_write_se(&bits, 0);
        bits_write_ue(&bits, 0);
    }
    bits_write_ue(&bits, parameters->max_num_ref_frames);
    bits_write_flag(&bits, parameters->gaps_in_frame_num_allowed);
    bits_write_ue(&bits, parameters->width - 1);
    bits_write_ue(&bits, (parameters->frame_mbs_only ? parameters->height : (parameters->height + 1) / 2) - 1);
    bits_write_flag(&bits, parameters->frame_mbs_only);
    if (!parameters->frame_mbs_only)
        bits_write_flag(&bits, parameters->mb_adaptive_frame_field);
    bits_write_flag(&bits, parameters->direct_8x8_inference);
    bits_write_flag(&bits, false); /* frame_cropping_flag */
    bits_write_flag(&bits, false); /* vui_parameters_present_flag */
    append_unit(output, SPS, &bits);
}

static void write_scaling_list(struct bit_writer *bits, const uint8_t *list, size_t count)
{
    const uint8_t *order = count == sizeof zigzag_4x4 ? zigzag_4x4 : zigzag_8x8;
    uint8_t last = 8; /* 7.3.2.1.1.1 */

    bits_write_flag(bits, true); /* pic_scaling_list_present_flag */
    for (size_t i = 0; i < count; i++) {
        bits_write_se(bits, (int8_t)(uint8_t)(list[order[i]] - last));
        last = list[order[i]];
    }
}

static size_t scaling_list_size(size_t list)
{
    return list < H264_LISTS_4X4 ? 16 : 64;
}

/* Whether they change anything. What has a 0 was never set: that is no value (7.4.2.1.1.1). */
static bool has_scaling_lists(const struct h264_parameters *parameters, size_t count)
{
    bool differ = false;

    for (size_t list = 0; list < count; list++) {
        for (size_t i = 0; i < scaling_list_size(list); i++) {
            if (!parameters->scaling_lists[list][i])
                return false;
            differ |= parameters->scaling_lists[list][i] != FLAT;
        }
    }
    return differ;
}

void h264_write_pps(struct bit_writer *output, const struct h264_parameters *parameters, uint32_t id)
{
    struct bit_writer bits = {0};
    size_t lists = parameters->transform_8x8_mode ? H264_LISTS : H264_LISTS_4X4;
    bool has_lists = has_scaling_lists(parameters, lists);

    bits_write_ue(&bits, id);
    bits_write_ue(&bits, 0); /* seq_parameter_set_id */
    bits_write_flag(&bits, parameters->entropy_coding_mode);
    bits_write_flag(&bits, parameters->bottom_field_pic_order_in_frame_present);
    bits_write_ue(&bits, 0); /* num_slice_groups_minus1 */
    for (size_t list = 0; list < 2; list++)
        bits_write_ue(&bits, parameters->default_references[list] ? parameters->default_references[list] - 1 : 0);
    bits_write_flag(&bits, parameters->weighted_pred);
    bits_write(&bits, parameters->weighted_bipred_idc, 2);
    bits_write_se(&bits, parameters->pic_init_qp - INITIAL_QP);
    bits_write_se(&bits, parameters->pic_init_qs - INITIAL_QP);
    bits_write_se(&bits, parameters->chroma_qp_index_offset[0]);
    bits_write_flag(&bits, parameters->deblocking_filter_control_present);
    bits_write_flag(&bits, parameters->constrained_intra_pred);
    bits_write_flag(&bits, parameters->redundant_pic_cnt_present);
    bits_write_flag(&bits, parameters->transform_8x8_mode);
    bits_write_flag(&bits, has_lists);
    for (size_t list = 0; has_lists && list < lists; list++)
        write_scaling_list(&bits, parameters->scaling_lists[list], scaling_list_size(list));
    bits_write_se(&bits, parameters->chroma_qp_index_offset[1]);
    append_unit(output, PPS, &bits);
}

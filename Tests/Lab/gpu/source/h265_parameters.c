#include "h265_parameters.h"

#include "bits.h"

enum {
    UNIT_HEADER_BITS = 16,
    PROFILE_BITS = 88, /* general_profile_space … general_reserved_zero_bit, 7.3.3 */
    LEVEL_BITS = 8,
    MAX_SUB_LAYERS_MINUS1 = 8, /* sub_layer flags are padded to eight */
    CHROMA_FORMAT_444 = 3,
    SPS_PREFIX_SIZE = 512, /* longer than what is read of either */
    PPS_FLAG_BITS = 7,     /* dependent_slice_segments_enabled_flag … cabac_init_present_flag */
    INIT_QP = 26,
    LARGEST_QP = 51,
    LARGEST_QP_OFFSET = 12, /* of chroma; as much is QpBdOffset at 10 bits */
    LARGEST_QP_DELTA_DEPTH = 3,
    LARGEST_LOG2_BLOCK = 6,
    LARGEST_PICTURE = 16384,
};

enum h265_unit_type h265_unit_type(const uint8_t *unit)
{
    return (enum h265_unit_type)(unit[0] >> 1 & 63);
}

static void skip_sub_layers(struct bit_reader *reader, unsigned count)
{
    unsigned present[MAX_SUB_LAYERS_MINUS1];

    if (!count)
        return;
    for (unsigned i = 0; i < MAX_SUB_LAYERS_MINUS1; i++)
        present[i] = bits_read(reader, 2);
    for (unsigned i = 0; i < count; i++)
        bits_skip(reader, (present[i] & 2 ? PROFILE_BITS : 0U) + (present[i] & 1 ? LEVEL_BITS : 0U));
}

static bool is_plausible(const struct h265_parameters *sps)
{
    return sps->width > 1 && sps->height > 1 && sps->width <= LARGEST_PICTURE && sps->height <= LARGEST_PICTURE &&
           sps->log2_min_coding_block >= 3 && sps->log2_coding_tree_block >= sps->log2_min_coding_block &&
           sps->log2_coding_tree_block <= LARGEST_LOG2_BLOCK && sps->log2_min_transform_block >= 2 &&
           sps->log2_min_transform_block < sps->log2_min_coding_block &&
           sps->log2_max_transform_block >= sps->log2_min_transform_block && sps->log2_max_transform_block <= 5 &&
           sps->bit_depth >= 8 && sps->bit_depth <= 10;
}

static void read_sps(struct h265_parameters *parameters, struct bit_reader *reader)
{
    struct h265_parameters sps = *parameters;
    unsigned sub_layers, first;

    bits_skip(reader, UNIT_HEADER_BITS + 4); /* sps_video_parameter_set_id */
    sub_layers = bits_read(reader, 3);       /* sps_max_sub_layers_minus1 */
    bits_skip(reader, 1 + PROFILE_BITS + LEVEL_BITS);
    skip_sub_layers(reader, sub_layers);
    bits_read_ue(reader); /* sps_seq_parameter_set_id */
    if (bits_read_ue(reader) == CHROMA_FORMAT_444)
        bits_skip(reader, 1);
    sps.width = bits_read_ue(reader);
    sps.height = bits_read_ue(reader);
    if (bits_read(reader, 1)) /* conformance_window_flag */
        for (int i = 0; i < 4; i++)
            bits_read_ue(reader);
    sps.bit_depth = 8 + bits_read_ue(reader);
    bits_read_ue(reader);                          /* bit_depth_chroma_minus8 */
    bits_read_ue(reader);                          /* log2_max_pic_order_cnt_lsb_minus4 */
    first = bits_read(reader, 1) ? 0 : sub_layers; /* sps_sub_layer_ordering_info_present_flag */
    for (unsigned i = first; i <= sub_layers; i++)
        for (int j = 0; j < 3; j++)
            bits_read_ue(reader);
    sps.log2_min_coding_block = 3 + bits_read_ue(reader);
    sps.log2_coding_tree_block = sps.log2_min_coding_block + bits_read_ue(reader);
    sps.log2_min_transform_block = 2 + bits_read_ue(reader);
    sps.log2_max_transform_block = sps.log2_min_transform_block + bits_read_ue(reader);
    bits_read_ue(reader); /* max_transform_hierarchy_depth_inter */
    sps.max_transform_hierarchy_depth_intra = bits_read_ue(reader);
    sps.has_sps = true;
    if (is_plausible(&sps))
        *parameters = sps;
}

static bool is_within(int value, int least, int most)
{
    return value >= least && value <= most;
}

/* Of a PPS that is beyond the standard's bounds (7.4.3.3.1) nothing is taken. */
static void read_pps(struct h265_parameters *parameters, struct bit_reader *reader)
{
    struct h265_parameters pps = *parameters;
    int init_qp_minus26;

    bits_skip(reader, UNIT_HEADER_BITS);
    bits_read_ue(reader); /* pps_pic_parameter_set_id */
    bits_read_ue(reader); /* pps_seq_parameter_set_id */
    bits_skip(reader, PPS_FLAG_BITS);
    bits_read_ue(reader); /* num_ref_idx_l0_default_active_minus1 */
    bits_read_ue(reader);
    init_qp_minus26 = bits_read_se(reader);
    bits_skip(reader, 1); /* constrained_intra_pred_flag */
    pps.transform_skip_enabled = bits_read(reader, 1);
    pps.cu_qp_delta_enabled = bits_read(reader, 1);
    pps.diff_cu_qp_delta_depth = pps.cu_qp_delta_enabled ? bits_read_ue(reader) : 0;
    pps.cb_qp_offset = bits_read_se(reader);
    pps.cr_qp_offset = bits_read_se(reader);
    if (!is_within(init_qp_minus26, -(INIT_QP + LARGEST_QP_OFFSET), LARGEST_QP - INIT_QP) ||
        !is_within(pps.cb_qp_offset, -LARGEST_QP_OFFSET, LARGEST_QP_OFFSET) ||
        !is_within(pps.cr_qp_offset, -LARGEST_QP_OFFSET, LARGEST_QP_OFFSET) ||
        pps.diff_cu_qp_delta_depth > LARGEST_QP_DELTA_DEPTH)
        return;
    pps.init_qp = INIT_QP + init_qp_minus26;
    pps.has_pps = true;
    *parameters = pps;
}

void h265_read_unit(struct h265_parameters *parameters, const uint8_t *unit, size_t size)
{
    uint8_t payload[SPS_PREFIX_SIZE];
    struct bit_reader reader = {.bytes = payload};

    if (!size)
        return;
    reader.count = bits_unescape(unit, size, payload, sizeof payload);
    if (h265_unit_type(unit) == H265_SPS)
        read_sps(parameters, &reader);
    else if (h265_unit_type(unit) == H265_PPS)
        read_pps(parameters, &reader);
}

#include "h265_decoding.h"

#include "message.h"

#include <string.h>

enum {
    LAST_SLICE_TYPE = 31, /* nal_unit_type, Table 7-1 */
    FIRST_IRAP = 16,
    LAST_IRAP = 23,
    VPS = 32,
    SPS = 33,
    PPS = 34,
    HEADER_SIZE = 2, /* of a NAL unit */
    SLICE_HEADER_SIZE = 16, /* up to what is read */
    MAIN = 1,
    LEVEL = 186,
    LARGEST_LOG2 = 6,
};

/* ---- Slices */

void h265_decoding_add(struct h265_decoding *decoding, const uint8_t *unit, size_t size)
{
    uint8_t payload[SLICE_HEADER_SIZE];
    struct bit_reader reader = {.bytes = payload};
    unsigned type = size > HEADER_SIZE ? unit[0] >> 1 & 0x3fU : VPS;
    uint32_t id;

    if (type > LAST_SLICE_TYPE)
        return;
    reader.count = bits_unescape(unit + HEADER_SIZE, size - HEADER_SIZE, payload, sizeof payload);
    bits_skip(&reader, type >= FIRST_IRAP && type <= LAST_IRAP ? 2 : 1); /* first_slice_segment_in_pic_flag … */
    id = bits_read_ue(&reader);
    if (id >= H265_PARAMETER_SET_IDS)
        return;
    decoding->uses[id] = true;
    bits_write(&decoding->slices, 1, 8 * START_CODE_SIZE);
    for (size_t i = 0; i < size; i++)
        bits_write_byte(&decoding->slices, unit[i]);
}

/* ---- Parameter sets */

static void append_unit(struct bit_writer *output, unsigned type, struct bit_writer *payload)
{
    const uint8_t header[HEADER_SIZE] = {(uint8_t)(type << 1), 1};

    bits_append_unit(output, header, sizeof header, payload);
}

static void write_profile(struct bit_writer *bits)
{
    bits_write(bits, MAIN, 8); /* general_profile_space, general_tier_flag, general_profile_idc */
    bits_write(bits, 3U << 29, 32); /* general_profile_compatibility_flag[1] and [2] */
    bits_write(bits, 0, 32);
    bits_write(bits, 0, 16);
    bits_write(bits, LEVEL, 8);
}

static void write_buffering(struct bit_writer *bits, const struct h265_sets *sets)
{
    bits_write_flag(bits, true); /* sub_layer_ordering_info_present_flag */
    bits_write_ue(bits, sets->max_dec_pic_buffering_minus1);
    bits_write_ue(bits, sets->max_dec_pic_buffering_minus1); /* max_num_reorder_pics: any order */
    bits_write_ue(bits, 0);
}

static void write_vps(struct bit_writer *output, const struct h265_sets *sets)
{
    struct bit_writer bits = {0};

    bits_write(&bits, 0, 4);
    bits_write(&bits, 3, 2);
    bits_write(&bits, 0, 6 + 3);
    bits_write_flag(&bits, true); /* vps_temporal_id_nesting_flag */
    bits_write(&bits, 0xffff, 16);
    write_profile(&bits);
    write_buffering(&bits, sets);
    bits_write(&bits, 0, 6);
    bits_write_ue(&bits, 0);
    bits_write(&bits, 0, 2);
    append_unit(output, VPS, &bits);
}

static void write_block_sizes(struct bit_writer *bits, const struct h265_sets *sets)
{
    bits_write_ue(bits, sets->log2_min_coding_block_minus3);
    bits_write_ue(bits, sets->log2_diff_coding_block);
    bits_write_ue(bits, sets->log2_min_transform_block_minus2);
    bits_write_ue(bits, sets->log2_diff_transform_block);
    bits_write_ue(bits, sets->max_transform_hierarchy_depth_inter);
    bits_write_ue(bits, sets->max_transform_hierarchy_depth_intra);
}

static void write_pcm(struct bit_writer *bits, const struct h265_sets *sets)
{
    bits_write_flag(bits, sets->pcm_enabled);
    if (!sets->pcm_enabled)
        return;
    bits_write(bits, sets->pcm_bit_depth_luma_minus1, 4);
    bits_write(bits, sets->pcm_bit_depth_chroma_minus1, 4);
    bits_write_ue(bits, sets->log2_min_pcm_minus3);
    bits_write_ue(bits, sets->log2_diff_pcm);
    bits_write_flag(bits, sets->pcm_loop_filter_disabled);
}

static void write_sps(struct bit_writer *output, const struct h265_sets *sets)
{
    struct bit_writer bits = {0};

    bits_write(&bits, 0, 4 + 3);
    bits_write_flag(&bits, true);
    write_profile(&bits);
    bits_write_ue(&bits, 0); /* sps_seq_parameter_set_id */
    bits_write_ue(&bits, sets->chroma_format_idc);
    bits_write_ue(&bits, sets->width);
    bits_write_ue(&bits, sets->height);
    bits_write_flag(&bits, false); /* conformance_window_flag */
    bits_write_ue(&bits, sets->bit_depth_luma_minus8);
    bits_write_ue(&bits, sets->bit_depth_chroma_minus8);
    bits_write_ue(&bits, sets->log2_max_pic_order_cnt_lsb_minus4);
    write_buffering(&bits, sets);
    write_block_sizes(&bits, sets);
    bits_write_flag(&bits, false); /* scaling_list_enabled_flag */
    bits_write_flag(&bits, sets->amp_enabled);
    bits_write_flag(&bits, sets->sample_adaptive_offset_enabled);
    write_pcm(&bits, sets);
    bits_write_ue(&bits, 0); /* num_short_term_ref_pic_sets */
    bits_write_flag(&bits, sets->long_term_ref_pics_present);
    if (sets->long_term_ref_pics_present)
        bits_write_ue(&bits, 0); /* num_long_term_ref_pics_sps */
    bits_write_flag(&bits, sets->temporal_mvp_enabled);
    bits_write_flag(&bits, sets->strong_intra_smoothing_enabled);
    bits_write(&bits, 0, 2); /* vui_parameters_present_flag, sps_extension_present_flag */
    append_unit(output, SPS, &bits);
}

static void write_tiles(struct bit_writer *bits, const struct h265_sets *sets)
{
    bits_write_ue(bits, sets->num_tile_columns_minus1);
    bits_write_ue(bits, sets->num_tile_rows_minus1);
    bits_write_flag(bits, sets->uniform_spacing);
    for (unsigned i = 0; !sets->uniform_spacing && i < sets->num_tile_columns_minus1 && i < H265_TILE_COLUMNS; i++)
        bits_write_ue(bits, sets->column_width_minus1[i]);
    for (unsigned i = 0; !sets->uniform_spacing && i < sets->num_tile_rows_minus1 && i < H265_TILE_ROWS; i++)
        bits_write_ue(bits, sets->row_height_minus1[i]);
    bits_write_flag(bits, sets->loop_filter_across_tiles_enabled);
}

static void write_deblocking(struct bit_writer *bits, const struct h265_sets *sets)
{
    bits_write_flag(bits, sets->loop_filter_across_slices_enabled);
    bits_write_flag(bits, true); /* deblocking_filter_control_present_flag */
    bits_write_flag(bits, sets->deblocking_filter_override_enabled);
    bits_write_flag(bits, sets->deblocking_filter_disabled);
    if (sets->deblocking_filter_disabled)
        return;
    bits_write_se(bits, sets->beta_offset_div2);
    bits_write_se(bits, sets->tc_offset_div2);
}

static void write_pps(struct bit_writer *output, const struct h265_sets *sets, uint32_t id)
{
    struct bit_writer bits = {0};

    bits_write_ue(&bits, id);
    bits_write_ue(&bits, 0);
    bits_write_flag(&bits, sets->dependent_slice_segments_enabled);
    bits_write_flag(&bits, sets->output_flag_present);
    bits_write(&bits, sets->num_extra_slice_header_bits, 3);
    bits_write_flag(&bits, sets->sign_data_hiding_enabled);
    bits_write_flag(&bits, sets->cabac_init_present);
    bits_write_ue(&bits, sets->num_ref_idx_default_active_minus1[0]);
    bits_write_ue(&bits, sets->num_ref_idx_default_active_minus1[1]);
    bits_write_se(&bits, sets->init_qp_minus26);
    bits_write_flag(&bits, sets->constrained_intra_pred);
    bits_write_flag(&bits, sets->transform_skip_enabled);
    bits_write_flag(&bits, sets->cu_qp_delta_enabled);
    if (sets->cu_qp_delta_enabled)
        bits_write_ue(&bits, sets->diff_cu_qp_delta_depth);
    bits_write_se(&bits, sets->cb_qp_offset);
    bits_write_se(&bits, sets->cr_qp_offset);
    bits_write_flag(&bits, sets->slice_chroma_qp_offsets_present);
    bits_write_flag(&bits, sets->weighted_pred);
    bits_write_flag(&bits, sets->weighted_bipred);
    bits_write_flag(&bits, sets->transquant_bypass_enabled);
    bits_write_flag(&bits, sets->tiles_enabled);
    bits_write_flag(&bits, sets->entropy_coding_sync_enabled);
    if (sets->tiles_enabled)
        write_tiles(&bits, sets);
    write_deblocking(&bits, sets);
    bits_write_flag(&bits, false); /* pps_scaling_list_data_present_flag */
    bits_write_flag(&bits, sets->lists_modification_present);
    bits_write_ue(&bits, sets->log2_parallel_merge_level_minus2);
    bits_write_flag(&bits, sets->slice_header_extension_present);
    bits_write_flag(&bits, false); /* pps_extension_present_flag */
    append_unit(output, PPS, &bits);
}

/* ---- A picture */

static bool is_possible(const struct h265_sets *sets)
{
    unsigned log2 = sets->log2_min_coding_block_minus3 + 3;

    return log2 + sets->log2_diff_coding_block <= LARGEST_LOG2 && sets->width && sets->height &&
           sets->width <= DECODER_LARGEST_SIZE && sets->height <= DECODER_LARGEST_SIZE &&
           sets->log2_max_pic_order_cnt_lsb_minus4 <= 12 && sets->max_dec_pic_buffering_minus1 <= 15;
}

/* The parameter sets where they differ from those before: libavcodec forgets the references at a new SPS. */
static void append_sets(struct h265_decoding *decoding, struct bit_writer *unit)
{
    struct bit_writer sets = {0};

    write_vps(&sets, &decoding->sets);
    write_sps(&sets, &decoding->sets);
    for (uint32_t id = 0; id < H265_PARAMETER_SET_IDS; id++)
        if (decoding->uses[id])
            write_pps(&sets, &decoding->sets, id);
    if (sets.count == decoding->written.count && memcmp(sets.bytes, decoding->written.bytes, sets.count) == 0) {
        bits_free(&sets);
        return;
    }
    for (size_t i = 0; i < sets.count; i++)
        bits_write_byte(unit, sets.bytes[i]);
    unit->failed |= sets.failed;
    bits_free(&decoding->written);
    decoding->written = sets;
}

bool h265_decoding_finish(struct h265_decoding *decoding, struct decoded *picture)
{
    struct bit_writer unit = {0};
    bool is_decoded = false;

    if (!is_possible(&decoding->sets)) {
        message("a picture of %ux%u with parameters that H.265 does not have is not decoded", decoding->sets.width,
                decoding->sets.height);
    } else if (decoding->slices.count) {
        append_sets(decoding, &unit);
        for (size_t i = 0; i < decoding->slices.count; i++)
            bits_write_byte(&unit, decoding->slices.bytes[i]);
        is_decoded = !unit.failed && !decoding->slices.failed &&
                     decoder_decode(&decoding->decoder, DECODER_H265, unit.bytes, unit.count, picture);
    }
    bits_free(&unit);
    bits_clear(&decoding->slices);
    memset(decoding->uses, 0, sizeof decoding->uses);
    decoding->pictures++;
    return is_decoded;
}

void h265_decoding_free(struct h265_decoding *decoding)
{
    decoder_close(&decoding->decoder);
    bits_free(&decoding->slices);
    bits_free(&decoding->written);
}

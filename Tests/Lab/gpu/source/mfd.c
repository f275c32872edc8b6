#include "mfd.h"

#include "device.h"
#include "engine.h"
#include "h264_decoding.h"
#include "intel_commands.h"
#include "jpeg_file.h"
#include "layout.h"
#include "message.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_SIZE = 8,
    FRAME_REFERENCES = 16,  /* of H.264, at first: the engine is not told the stream's own limit */
    ERROR_OF_SYNTAX = 1,    /* of MFX_ERROR_FLAGS: any of the bits that drivers look at */
    SCAN_ALL = 7,
};

/* What MFX_SURFACE_STATE says of the target. */
struct target {
    uint32_t pitch;
    bool tiled, half_chroma_pitch;
    uint32_t chroma_row, cr_row;
};

struct mfd {
    unsigned standard;
    bool post_deblocking;
    struct target target;
    uint64_t before_deblocking, after_deblocking; /* the target's address */
    uint64_t bitstream;
    bool damaged;
    /* H.264 */
    struct h264_decoding h264;
    unsigned references[2]; /* of the slice */
    size_t coded;           /* bytes of the picture */
    /* JPEG */
    struct decoder jpeg_decoder;
    struct jpeg_file jpeg;
    struct bit_writer file;
    unsigned scanned; /* the components that there were scans of, a bit each */
    unsigned output_format;
    bool halves_chroma;
    unsigned pictures;
};

/* ---- States */

void mfd_select(const struct batch *batch, struct mfd **mfd, const uint32_t *words)
{
    unsigned standard = words[1] & MFX_STANDARD_MASK;

    if (!*mfd)
        *mfd = calloc(1, sizeof **mfd);
    if (!*mfd)
        return;
    if (standard != MFX_STANDARD_AVC && standard != MFX_STANDARD_JPEG)
        report_undone(batch->file->device, "decoding of other codecs than H.264 and JPEG");
    (*mfd)->standard = standard;
    (*mfd)->post_deblocking = words[1] & MFX_POST_DEBLOCKING;
    (*mfd)->damaged = false;
    (*mfd)->scanned = 0;
    (*mfd)->coded = 0;
    bits_clear(&(*mfd)->file);
    h264_decoding_begin(&(*mfd)->h264);
}

static void take_target(struct mfd *mfd, const uint32_t *words)
{
    mfd->target = (struct target){
        .pitch = get(words, SURFACE_PITCH) + 1,
        .tiled = get(words, SURFACE_TILED_Y),
        .half_chroma_pitch = get(words, SURFACE_HALF_PITCH_FOR_CHROMA),
        .chroma_row = get(words, SURFACE_CHROMA_ROW),
        .cr_row = get(words, SURFACE_CR_ROW),
    };
}

static void take_image(struct mfd *mfd, const uint32_t *words)
{
    struct h264_parameters *parameters = &mfd->h264.parameters;

    parameters->width = get(words, MFX_AVC_IMG_WIDTH) + 1;
    parameters->height = get(words, MFX_AVC_IMG_HEIGHT) + 1;
    parameters->is_monochrome = !get(words, MFX_AVC_IMG_CHROMA_FORMAT);
    parameters->frame_mbs_only = get(words, MFX_AVC_IMG_FRAME_MBS_ONLY);
    parameters->mb_adaptive_frame_field = get(words, MFX_AVC_IMG_MBAFF);
    parameters->direct_8x8_inference = get(words, MFX_AVC_IMG_DIRECT_8X8_INFERENCE);
    parameters->log2_max_frame_num = get(words, MFX_AVC_IMG_LOG2_MAX_FRAME_NUM) + 4;
    parameters->pic_order_cnt_type = get(words, MFX_AVC_IMG_PIC_ORDER_CNT_TYPE);
    parameters->log2_max_pic_order_cnt_lsb = get(words, MFX_AVC_IMG_LOG2_MAX_PIC_ORDER_CNT) + 4;
    parameters->delta_pic_order_always_zero = get(words, MFX_AVC_IMG_DELTA_PIC_ORDER_ALWAYS_ZERO);
    if (!mfd->h264.guesses)
        parameters->max_num_ref_frames = FRAME_REFERENCES;
    mfd->h264.guesses = true;
    mfd->h264.reference_frames = get(words, MFX_AVC_IMG_STRUCTURE) ? H264_UNKNOWN_REFERENCES
                                                                  : get(words, MFX_AVC_IMG_REFERENCE_FRAMES);
    parameters->entropy_coding_mode = get(words, MFX_AVC_IMG_ENTROPY_CODING);
    parameters->bottom_field_pic_order_in_frame_present = get(words, MFX_AVC_IMG_PIC_ORDER_PRESENT);
    parameters->weighted_pred = get(words, MFX_AVC_IMG_WEIGHTED_PRED);
    parameters->weighted_bipred_idc = get(words, MFX_AVC_IMG_WEIGHTED_BIPRED_IDC);
    parameters->pic_init_qp = get_signed(words, MFX_AVC_IMG_INITIAL_QP) + 26;
    parameters->pic_init_qs = 26;
    parameters->chroma_qp_index_offset[0] = get_signed(words, MFX_AVC_IMG_CB_QP_OFFSET);
    parameters->chroma_qp_index_offset[1] = get_signed(words, MFX_AVC_IMG_CR_QP_OFFSET);
    parameters->deblocking_filter_control_present = get(words, MFX_AVC_IMG_DEBLOCKING_CONTROL);
    parameters->constrained_intra_pred = get(words, MFX_AVC_IMG_CONSTRAINED_INTRA);
    parameters->redundant_pic_cnt_present = get(words, MFX_AVC_IMG_REDUNDANT_PIC_CNT);
    parameters->transform_8x8_mode = get(words, MFX_AVC_IMG_TRANSFORM_8X8);
}

static void take_matrices(struct mfd *mfd, const uint32_t *words)
{
    const uint8_t *matrices = (const uint8_t *)(words + MFX_QM_FIRST);
    uint8_t (*lists)[64] = mfd->h264.parameters.scaling_lists;
    uint32_t type = get(words, MFX_QM_TYPE);

    if (mfd->standard == MFX_STANDARD_JPEG) {
        if (type < JPEG_COMPONENTS)
            memcpy(mfd->jpeg.quantisation[type], matrices, sizeof mfd->jpeg.quantisation[type]);
    } else if (type == AVC_INTRA_4X4 || type == AVC_INTER_4X4) {
        for (size_t i = 0; i < H264_LISTS_4X4 / 2; i++)
            memcpy(lists[type * (H264_LISTS_4X4 / 2) + i], matrices + 16 * i, 16);
    } else {
        memcpy(lists[H264_LISTS_4X4 + type - AVC_INTRA_8X8], matrices, 64);
    }
}

/* ---- The target */

static struct surface_plane plane_from(const struct batch *batch, const struct mfd *mfd, uint32_t row)
{
    uint64_t address = mfd->post_deblocking ? mfd->after_deblocking : mfd->before_deblocking;

    return (struct surface_plane){
        .bytes = batch_bytes(batch, address, 1),
        .available = batch_available(batch, address),
        .pitch = mfd->target.pitch,
        .tiled = mfd->target.tiled,
        .first_row = row,
    };
}

static bool put(const struct batch *batch, const struct mfd *mfd, const struct decoded *picture)
{
    struct surface_plane planes[] = {
        plane_from(batch, mfd, 0),
        plane_from(batch, mfd, mfd->target.chroma_row),
        plane_from(batch, mfd, mfd->target.cr_row),
    };
    struct layout_plane luma = {{planes[0]}, false}, chroma = {{planes[1]}, false};
    unsigned format = mfd->standard == MFX_STANDARD_JPEG ? mfd->output_format : JPEG_NV12;

    if (mfd->target.half_chroma_pitch)
        planes[1].pitch = planes[2].pitch = mfd->target.pitch / 2;
    switch (format) {
    case JPEG_NV12:
        return layout_nv12(picture, &luma, &chroma, mfd->halves_chroma);
    case JPEG_UYVY:
    case JPEG_YUY2:
        return layout_packed(picture, &planes[0], format == JPEG_YUY2);
    default:
        return layout_planar(picture, planes);
    }
}

static void finish(const struct batch *batch, struct mfd *mfd, struct decode_record *record, struct decoded *picture)
{
    if (record->result == PICTURE_CODED && !put(batch, mfd, picture)) {
        message("a picture of %ux%u does not fit into its target", picture->width, picture->height);
        record->result = PICTURE_OVERFLOW;
    }
    mfd->damaged = record->result != PICTURE_CODED || picture->damaged;
    record->number = mfd->pictures;
    report_decoded(batch->file->device, record, picture);
    decoded_free(picture);
    if (!mfd->pictures++)
        report_session_opened(batch->file->device);
}

/* The data of a slice or scan; null where it is not mapped. */
static const uint8_t *data(const struct batch *batch, const struct mfd *mfd, const uint32_t *words, size_t *size)
{
    const uint8_t *bytes;

    *size = get(words, MFD_DATA_LENGTH);
    bytes = batch_bytes(batch, mfd->bitstream + get(words, MFD_DATA_START), *size);
    if (!bytes)
        message("the bitstream of %zu bytes is not where the driver says", *size);
    return bytes;
}

/* ---- H.264 */

static void take_slice(const struct batch *batch, struct mfd *mfd, const uint32_t *words)
{
    struct decode_record record = {.codec = DECODER_H264, .result = PICTURE_IMPOSSIBLE};
    struct decoded picture = {0};
    size_t size;
    const uint8_t *bytes = data(batch, mfd, words, &size);

    if (bytes)
        h264_decoding_add(&mfd->h264, bytes, size, mfd->references);
    mfd->coded += size;
    if (!get(words, MFD_AVC_LAST_SLICE) || !engine_begin_picture(batch->file->device))
        return;
    if (h264_decoding_finish(&mfd->h264, &picture))
        record.result = PICTURE_CODED;
    record.bytes = mfd->coded;
    mfd->halves_chroma = false;
    finish(batch, mfd, &record, &picture);
}

/* ---- JPEG */

static const struct {
    unsigned components;
    uint8_t luma, chroma; /* H and V, 4 bits each */
} samplings[] = {
    [JPEG_GREY] = {1, 0x11, 0},         [JPEG_420] = {3, 0x22, 0x11},     [JPEG_422H_2Y] = {3, 0x21, 0x11},
    [JPEG_444] = {3, 0x11, 0x11},       [JPEG_411] = {3, 0x41, 0x11},     [JPEG_422V_2Y] = {3, 0x12, 0x11},
    [JPEG_422H_4Y] = {3, 0x22, 0x12},   [JPEG_422V_4Y] = {3, 0x22, 0x21},
};

static void take_jpeg_picture(const struct batch *batch, struct mfd *mfd, const uint32_t *words)
{
    uint32_t format = get(words, MFX_JPEG_INPUT_FORMAT);

    mfd->jpeg.width = (get(words, MFX_JPEG_WIDTH) + 1) * BLOCK_SIZE;
    mfd->jpeg.height = (get(words, MFX_JPEG_HEIGHT) + 1) * BLOCK_SIZE;
    mfd->jpeg.components = samplings[format].components;
    mfd->jpeg.sampling[0] = samplings[format].luma;
    mfd->jpeg.sampling[1] = mfd->jpeg.sampling[2] = samplings[format].chroma;
    mfd->output_format = get(words, MFX_JPEG_OUTPUT_FORMAT);
    mfd->halves_chroma = get(words, MFX_JPEG_VERTICAL_DOWN_SAMPLING);
    if (get(words, MFX_JPEG_ROTATION))
        report_undone(batch->file->device, "rotation of JPEG");
    if (get(words, MFX_JPEG_AVERAGE_SAMPLING) || get(words, MFX_JPEG_HORIZONTAL_DOWN_SAMPLING) ||
        get(words, MFX_JPEG_VERTICAL_UP_SAMPLING))
        report_undone(batch->file->device, "sampling of JPEG other than leaving out rows");
}

static void take_huffman_table(struct mfd *mfd, const uint32_t *words)
{
    struct jpeg_huffman *table = &mfd->jpeg.huffman[get(words, MFX_JPEG_HUFFMAN_TABLE)];

    *table = (struct jpeg_huffman){.is_known = true};
    memcpy(table->dc_counts, words + MFX_JPEG_DC_COUNTS, JPEG_DC_VALUES); /* no code is longer */
    memcpy(table->dc_values, words + MFX_JPEG_DC_VALUES, JPEG_DC_VALUES);
    memcpy(table->ac_counts, words + MFX_JPEG_AC_COUNTS, JPEG_LENGTHS);
    memcpy(table->ac_values, words + MFX_JPEG_AC_VALUES, JPEG_AC_VALUES);
}

static void take_scan(const struct batch *batch, struct mfd *mfd, const uint32_t *words)
{
    struct decode_record record = {.codec = DECODER_JPEG, .result = PICTURE_IMPOSSIBLE};
    unsigned all = mfd->jpeg.components == 1 ? 1 : SCAN_ALL;
    unsigned components = get(words, MFD_JPEG_SCAN_COMPONENTS) & all;
    struct decoded picture = {0};
    size_t size;
    const uint8_t *bytes = data(batch, mfd, words, &size);

    if (!bytes || !mfd->jpeg.components || mfd->scanned == all)
        return;
    if (!mfd->scanned)
        jpeg_write_header(&mfd->file, &mfd->jpeg);
    jpeg_write_scan(&mfd->file, &mfd->jpeg, components, get(words, MFD_JPEG_RESTART_INTERVAL), bytes, size);
    mfd->scanned |= components;
    if (mfd->scanned != all || !engine_begin_picture(batch->file->device))
        return;
    jpeg_write_end(&mfd->file);
    if (!mfd->file.failed &&
        decoder_decode(&mfd->jpeg_decoder, DECODER_JPEG, mfd->file.bytes, mfd->file.count, &picture))
        record.result = PICTURE_CODED;
    record.bytes = mfd->file.count;
    finish(batch, mfd, &record, &picture);
}

/* ---- Commands */

/* How many dwords of each command are read. */
static size_t needed(uint32_t command)
{
    switch (command) {
    case MFX_SURFACE_STATE:
    case MFD_JPEG_BSD_OBJECT:
        return 6;
    case MFX_PIPE_BUF_ADDR_STATE:
        return MFX_PIPE_BUF_POST_DEBLOCKING + 2;
    case MFX_AVC_IMG_STATE:
        return 15;
    case MFX_QM_STATE:
        return MFX_QM_FIRST + 16;
    case MFD_AVC_BSD_OBJECT:
        return 5;
    case MFX_JPEG_HUFF_TABLE_STATE:
        return MFX_JPEG_AC_VALUES + (JPEG_AC_VALUES + sizeof(uint32_t) - 1) / sizeof(uint32_t);
    default:
        return 3;
    }
}

void mfd_execute(const struct batch *batch, struct mfd *mfd, const uint32_t *words, size_t count)
{
    uint32_t command = words[0] >> 16;

    if (!mfd || count < needed(command))
        return;
    switch (command) {
    case MFX_SURFACE_STATE:
        take_target(mfd, words);
        break;
    case MFX_PIPE_BUF_ADDR_STATE:
        mfd->before_deblocking = batch_address(batch, words + MFX_PIPE_BUF_PRE_DEBLOCKING);
        mfd->after_deblocking = batch_address(batch, words + MFX_PIPE_BUF_POST_DEBLOCKING);
        break;
    case MFX_IND_OBJ_BASE_ADDR_STATE:
        mfd->bitstream = batch_address(batch, words + MFX_IND_OBJ_BITSTREAM);
        break;
    case MFX_QM_STATE:
        take_matrices(mfd, words);
        break;
    case MFX_AVC_IMG_STATE:
        take_image(mfd, words);
        break;
    case MFX_AVC_SLICE_STATE:
        mfd->references[0] = get(words, MFX_AVC_SLICE_REFERENCES_0);
        mfd->references[1] = get(words, MFX_AVC_SLICE_REFERENCES_1);
        break;
    case MFD_AVC_BSD_OBJECT:
        take_slice(batch, mfd, words);
        break;
    case MFX_JPEG_PIC_STATE:
        take_jpeg_picture(batch, mfd, words);
        break;
    case MFX_JPEG_HUFF_TABLE_STATE:
        take_huffman_table(mfd, words);
        break;
    case MFD_JPEG_BSD_OBJECT:
        take_scan(batch, mfd, words);
        break;
    default:
        break; /* references and motion vectors, which the decoder keeps itself */
    }
}

uint32_t mfd_error_flags(const struct mfd *mfd)
{
    return mfd && mfd->damaged ? ERROR_OF_SYNTAX : 0;
}

void mfd_free(struct device *device, struct mfd *mfd)
{
    if (!mfd)
        return;
    if (mfd->pictures)
        report_session_closed(device, mfd->pictures);
    h264_decoding_free(&mfd->h264);
    decoder_close(&mfd->jpeg_decoder);
    bits_free(&mfd->file);
    free(mfd);
}

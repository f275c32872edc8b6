#include "JPEGDecoder.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
// After jpeglib.h, whose configuration decides which codes exist.
#include <jerror.h>

// Limits on what a picture may cost: a progressive one is kept whole as coefficients, and each of its
// scans goes over all of them.
enum { MAXIMUM_MEMORY = 256 << 20, MAXIMUM_SCANS = 64 };

struct cyuv_jpeg_decoder {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf failure;
    int is_created;
    // The picture's coded samples are damaged.
    int is_damaged;
    char message[JMSG_LENGTH_MAX];
};

static void fail(j_common_ptr jpeg) {
    cyuv_jpeg_decoder *decoder = jpeg->client_data;
    jpeg->err->format_message(jpeg, decoder->message);
    longjmp(decoder->failure, 1);
}

static void take_message(j_common_ptr jpeg, int level) {
    cyuv_jpeg_decoder *decoder = jpeg->client_data;
    if (level >= 0) return;
    switch (jpeg->err->msg_code) {
        case JWRN_HIT_MARKER:
        case JWRN_HUFF_BAD_CODE:
        case JWRN_ARITH_BAD_CODE:
        case JWRN_MUST_RESYNC:
        case JWRN_BOGUS_PROGRESSION:
            if (!decoder->is_damaged) jpeg->err->format_message(jpeg, decoder->message);
            decoder->is_damaged = 1;
            break;
        default:
            // A missing end marker, padding between segments and the like cost no pixels.
            break;
    }
}

static void print_nothing(j_common_ptr jpeg) { (void)jpeg; }

static void limit_scans(j_common_ptr jpeg) {
    if (((j_decompress_ptr)jpeg)->input_scan_number > MAXIMUM_SCANS) {
        cyuv_jpeg_decoder *decoder = jpeg->client_data;
        snprintf(decoder->message, sizeof decoder->message, "more than %d scans", MAXIMUM_SCANS);
        longjmp(decoder->failure, 1);
    }
}

static void discard(cyuv_jpeg_decoder *decoder) {
    if (decoder->is_created) jpeg_destroy_decompress(&decoder->jpeg);
    decoder->is_created = 0;
}

// Called with `failure` set.
static void create(cyuv_jpeg_decoder *decoder) {
    decoder->jpeg.err = jpeg_std_error(&decoder->errors);
    decoder->jpeg.client_data = decoder;
    decoder->errors.error_exit = fail;
    decoder->errors.emit_message = take_message;
    decoder->errors.output_message = print_nothing;
    jpeg_create_decompress(&decoder->jpeg);
    decoder->is_created = 1;
    decoder->progress.progress_monitor = limit_scans;
    decoder->jpeg.progress = &decoder->progress;
    decoder->jpeg.mem->max_memory_to_use = MAXIMUM_MEMORY;
}

// Gives up the picture, and with it any tables it left in the decoder: a camera that sends none of its own
// would have them used for every later picture.
static cyuv_jpeg_status give_up(cyuv_jpeg_decoder *decoder, cyuv_jpeg_status status) {
    discard(decoder);
    return status;
}

cyuv_jpeg_decoder *cyuv_jpeg_create(void) { return calloc(1, sizeof(cyuv_jpeg_decoder)); }

void cyuv_jpeg_destroy(cyuv_jpeg_decoder *decoder) {
    if (decoder) discard(decoder);
    free(decoder);
}

const char *cyuv_jpeg_message(const cyuv_jpeg_decoder *decoder) { return decoder->message; }

// How often `part` fits into `whole`, if that is 1, 2 or 4; otherwise 0.
static int subsampling(int whole, int part) {
    if (part <= 0 || whole % part != 0) return 0;
    int ratio = whole / part;
    return ratio == 1 || ratio == 2 || ratio == 4 ? ratio : 0;
}

static int describe(const struct jpeg_decompress_struct *jpeg, cyuv_jpeg_layout *layout) {
    const jpeg_component_info *planes = jpeg->comp_info;
    layout->plane_count = jpeg->num_components;
    layout->band_rows = jpeg->max_v_samp_factor * DCTSIZE;
    layout->horizontal_subsampling = layout->vertical_subsampling = 1;
    if (jpeg->num_components == 1) return 1;
    if (jpeg->num_components != 3) return 0;
    layout->horizontal_subsampling = subsampling(jpeg->max_h_samp_factor, planes[1].h_samp_factor);
    layout->vertical_subsampling = subsampling(jpeg->max_v_samp_factor, planes[1].v_samp_factor);
    return layout->horizontal_subsampling > 0 && layout->vertical_subsampling > 0
        && planes[0].h_samp_factor == jpeg->max_h_samp_factor
        && planes[0].v_samp_factor == jpeg->max_v_samp_factor
        && planes[1].h_samp_factor == planes[2].h_samp_factor
        && planes[1].v_samp_factor == planes[2].v_samp_factor;
}

// Whether a side of the picture has the wanted length, or exceeds it by less than an MCU: cameras round up to
// whole ones.
static int holds(
    JDIMENSION side, int wanted, const jpeg_component_info *planes, int plane_count, int is_height) {
    int unit = DCTSIZE;
    for (int plane = 0; plane < plane_count; plane++) {
        int factor = is_height ? planes[plane].v_samp_factor : planes[plane].h_samp_factor;
        if (factor * DCTSIZE > unit) unit = factor * DCTSIZE;
    }
    return side >= (JDIMENSION)wanted && side - (JDIMENSION)wanted < (JDIMENSION)unit;
}

cyuv_jpeg_status cyuv_jpeg_begin(
    cyuv_jpeg_decoder *decoder, const uint8_t *bytes, size_t count, int width, int height,
    cyuv_jpeg_layout *layout) {
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    decoder->is_damaged = 0;
    if (setjmp(decoder->failure)) return give_up(decoder, CYUV_JPEG_CORRUPT);
    if (!decoder->is_created) create(decoder);
    jpeg_abort_decompress(jpeg);
    jpeg_mem_src(jpeg, bytes, count);
    jpeg_read_header(jpeg, TRUE);
    if (!holds(jpeg->image_width, width, jpeg->comp_info, jpeg->num_components, 0)
        || !holds(jpeg->image_height, height, jpeg->comp_info, jpeg->num_components, 1)) {
        snprintf(
            decoder->message, sizeof decoder->message, "a JPEG of %ux%u in a stream of %dx%d",
            jpeg->image_width, jpeg->image_height, width, height);
        return give_up(decoder, CYUV_JPEG_OTHER_SIZE);
    }
    if (jpeg->jpeg_color_space != JCS_YCbCr && jpeg->jpeg_color_space != JCS_GRAYSCALE) {
        snprintf(decoder->message, sizeof decoder->message, "a JPEG that is not YCbCr");
        return give_up(decoder, CYUV_JPEG_UNSUPPORTED);
    }
    if (!describe(jpeg, layout)) {
        snprintf(decoder->message, sizeof decoder->message, "a JPEG with unusual subsampling");
        return give_up(decoder, CYUV_JPEG_UNSUPPORTED);
    }
    jpeg->raw_data_out = TRUE;
    jpeg->out_color_space = jpeg->jpeg_color_space;
    jpeg_start_decompress(jpeg);
    return decoder->is_damaged ? give_up(decoder, CYUV_JPEG_CORRUPT) : CYUV_JPEG_OK;
}

cyuv_jpeg_status cyuv_jpeg_read_band(cyuv_jpeg_decoder *decoder, uint8_t *planes, size_t stride) {
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    if (!decoder->is_created) return CYUV_JPEG_CORRUPT;
    if (setjmp(decoder->failure)) return give_up(decoder, CYUV_JPEG_CORRUPT);
    JSAMPROW rows[3][CYUV_JPEG_MAXIMUM_BAND_ROWS];
    JSAMPARRAY image[3] = {rows[0], rows[1], rows[2]};
    for (int plane = 0; plane < jpeg->num_components; plane++) {
        uint8_t *start = planes + plane * CYUV_JPEG_MAXIMUM_BAND_ROWS * stride;
        int count = jpeg->comp_info[plane].v_samp_factor * DCTSIZE;
        for (int row = 0; row < count; row++) rows[plane][row] = start + row * stride;
    }
    jpeg_read_raw_data(jpeg, image, jpeg->max_v_samp_factor * DCTSIZE);
    return decoder->is_damaged ? give_up(decoder, CYUV_JPEG_CORRUPT) : CYUV_JPEG_OK;
}

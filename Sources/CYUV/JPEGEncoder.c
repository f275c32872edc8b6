#include "JPEGEncoder.h"

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

// libjpeg reports errors through error_exit, which must not return: the jump stays within this file.
struct failure {
    struct jpeg_error_mgr manager;
    jmp_buf place;
};

static void leave(j_common_ptr codec) { longjmp(((struct failure *)codec->err)->place, 1); }

static void say_nothing(j_common_ptr codec) { (void)codec; }

static void nothing(j_compress_ptr codec) { (void)codec; }

// The buffer has a fixed size: a request for more is a failure.
static boolean overflow(j_compress_ptr codec) {
    leave((j_common_ptr)codec);
    return FALSE;
}

static void begin(struct jpeg_compress_struct *codec, int width, int height, J_COLOR_SPACE space, int quality) {
    codec->image_width = width;
    codec->image_height = height;
    codec->input_components = 3;
    codec->in_color_space = space;
    jpeg_set_defaults(codec);
    jpeg_set_quality(codec, quality, TRUE);
    codec->dct_method = JDCT_ISLOW;
}

// Called with the error manager's jump set.
static void encode_rgb(
    struct jpeg_compress_struct *codec, const uint8_t *rgb, ptrdiff_t stride, int width, int height, int luma_rows) {
    begin(codec, width, height, JCS_RGB, 90);
    codec->comp_info[0].h_samp_factor = 2;
    codec->comp_info[0].v_samp_factor = luma_rows;
    jpeg_start_compress(codec, TRUE);
    while (codec->next_scanline < codec->image_height) {
        JSAMPROW row = (JSAMPROW)(rgb + codec->next_scanline * stride);
        jpeg_write_scanlines(codec, &row, 1);
    }
    jpeg_finish_compress(codec);
}

// Called with the error manager's jump set.
static void encode_420(struct jpeg_compress_struct *codec, const cyuv_jpeg_picture *picture) {
    begin(codec, picture->width, picture->height, JCS_YCbCr, picture->quality);
    // 4:2:0 is libjpeg's default.
    codec->raw_data_in = TRUE;
    jpeg_start_compress(codec, TRUE);
    while (codec->next_scanline < codec->image_height) {
        JSAMPROW rows[3][2 * DCTSIZE];
        JSAMPARRAY image[3] = {rows[0], rows[1], rows[2]};
        for (int plane = 0; plane < 3; plane++) {
            int count = plane == 0 ? 2 * DCTSIZE : DCTSIZE;
            ptrdiff_t first = plane == 0 ? codec->next_scanline : codec->next_scanline / 2;
            for (int row = 0; row < count; row++)
                rows[plane][row] = (JSAMPROW)(picture->planes[plane] + (first + row) * picture->strides[plane]);
        }
        jpeg_write_raw_data(codec, image, 2 * DCTSIZE);
    }
    jpeg_finish_compress(codec);
}

// What to encode: one of the two.
struct task {
    const uint8_t *rgb;
    ptrdiff_t stride;
    int width, height, luma_rows;
    const cyuv_jpeg_picture *picture;
};

static size_t encode(const struct task *task, uint8_t *out, size_t capacity) {
    struct jpeg_compress_struct codec;
    struct failure failure;
    struct jpeg_destination_mgr destination = {
        .next_output_byte = out,
        .free_in_buffer = capacity,
        .init_destination = nothing,
        .empty_output_buffer = overflow,
        .term_destination = nothing,
    };
    codec.err = jpeg_std_error(&failure.manager);
    failure.manager.error_exit = leave;
    failure.manager.output_message = say_nothing;
    if (setjmp(failure.place)) {
        jpeg_destroy_compress(&codec);
        return 0;
    }
    jpeg_create_compress(&codec);
    codec.dest = &destination;
    if (task->picture)
        encode_420(&codec, task->picture);
    else
        encode_rgb(&codec, task->rgb, task->stride, task->width, task->height, task->luma_rows);
    jpeg_destroy_compress(&codec);
    return capacity - destination.free_in_buffer;
}

size_t cyuv_jpeg_encode(
    const uint8_t *rgb, ptrdiff_t stride, int width, int height, int luma_rows, uint8_t *out, size_t capacity) {
    return encode(
        &(struct task){.rgb = rgb, .stride = stride, .width = width, .height = height, .luma_rows = luma_rows}, out,
        capacity);
}

size_t cyuv_jpeg_encode_420(const cyuv_jpeg_picture *picture, uint8_t *out, size_t capacity) {
    return encode(&(struct task){.picture = picture}, out, capacity);
}

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

static void set_up(j_compress_ptr codec, int width, int height) {
    codec->image_width = width;
    codec->image_height = height;
    codec->input_components = 3;
    codec->in_color_space = JCS_RGB;
    jpeg_set_defaults(codec);
    jpeg_set_quality(codec, 90, TRUE);
    codec->dct_method = JDCT_ISLOW;
    codec->comp_info[0].h_samp_factor = 2;
    codec->comp_info[0].v_samp_factor = 1;
}

size_t cyuv_jpeg_encode(const uint8_t *rgb, ptrdiff_t stride, int width, int height, uint8_t *out, size_t capacity) {
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
    set_up(&codec, width, height);
    jpeg_start_compress(&codec, TRUE);
    while (codec.next_scanline < codec.image_height) {
        JSAMPROW row = (JSAMPROW)(rgb + codec.next_scanline * stride);
        jpeg_write_scanlines(&codec, &row, 1);
    }
    jpeg_finish_compress(&codec);
    jpeg_destroy_compress(&codec);
    return capacity - destination.free_in_buffer;
}

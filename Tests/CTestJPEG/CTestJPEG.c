#include "CTestJPEG.h"

#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

uint8_t *test_jpeg_encode(const uint8_t *samples, struct test_jpeg_options options, size_t *count) {
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    unsigned char *bytes = NULL;
    unsigned long length = 0;
    jpeg_mem_dest(&jpeg, &bytes, &length);
    jpeg.image_width = options.width;
    jpeg.image_height = options.height;
    jpeg.input_components = options.components;
    jpeg.in_color_space = options.components == 1 ? JCS_GRAYSCALE : options.rgb ? JCS_RGB : JCS_YCbCr;
    jpeg_set_defaults(&jpeg);
    if (options.rgb) jpeg_set_colorspace(&jpeg, JCS_RGB);
    jpeg_set_quality(&jpeg, 90, TRUE);
    jpeg.comp_info[0].h_samp_factor = options.horizontal;
    jpeg.comp_info[0].v_samp_factor = options.vertical;
    jpeg.restart_in_rows = options.restart_rows;
    if (options.progressive) jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < jpeg.image_height) {
        JSAMPROW row =
            (JSAMPROW)samples + (size_t)jpeg.next_scanline * options.width * options.components;
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    *count = length;
    return bytes;
}

long test_jpeg_decode(const uint8_t *bytes, size_t count, uint8_t *samples) {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, bytes, count);
    jpeg_read_header(&jpeg, TRUE);
    jpeg.out_color_space = jpeg.num_components == 1 ? JCS_GRAYSCALE : JCS_YCbCr;
    jpeg.do_fancy_upsampling = FALSE;
    jpeg_start_decompress(&jpeg);
    while (jpeg.output_scanline < jpeg.output_height) {
        JSAMPROW row =
            samples + (size_t)jpeg.output_scanline * jpeg.output_width * jpeg.output_components;
        jpeg_read_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_decompress(&jpeg);
    long warnings = errors.num_warnings;
    jpeg_destroy_decompress(&jpeg);
    return warnings;
}

// Converts pseudo-random pictures with all that camrec has in C for it, and prints a line for each conversion:
// NAME HASH, where the hash is that of libyuv's C reference, of libjpeg's planes, of libv4lconvert's picture.
// Fails if what libyuv makes with the processor's vector instructions differs from its C reference by more than 1, or if
// RGB's own conversion differs from plain C at all.
#include <CYUV.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 96, HEIGHT = 64, ROOM = 8 * WIDTH * HEIGHT };

static uint64_t state = 0x9e3779b97f4a7c15;

static uint8_t random_byte(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint8_t)(state >> 32);
}

static uint64_t hash(const uint8_t *bytes, size_t count) { // FNV-1a
    uint64_t value = 0xcbf29ce484222325;
    for (size_t i = 0; i < count; i++) value = (value ^ bytes[i]) * 0x100000001b3;
    return value;
}

static uint8_t input[ROOM], output[ROOM], reference[ROOM];
// Parts of a conversion's output, each with room for a plane of any size here.
#define PLANE(n) (out + (n) * WIDTH * HEIGHT)

typedef void conversion(uint8_t *out, int width, int height);

static void copy(uint8_t *out, int w, int h) { CopyPlane(input, WIDTH, out, WIDTH, w, h); }
static void set(uint8_t *out, int w, int h) { SetPlane(out, WIDTH, w, h, 128); }
static void interpolate(uint8_t *out, int w, int h) {
    InterpolatePlane(input, WIDTH, input + WIDTH * HEIGHT, WIDTH, out, WIDTH, w, h, 128);
}
static void merge(uint8_t *out, int w, int h) {
    MergeUVPlane(input, WIDTH, input + WIDTH * HEIGHT, WIDTH, out, 2 * WIDTH, w, h);
}
static void split(uint8_t *out, int w, int h) { SplitUVPlane(input, 2 * WIDTH, PLANE(0), WIDTH, PLANE(1), WIDTH, w, h); }
static void swap(uint8_t *out, int w, int h) { SwapUVPlane(input, 2 * WIDTH, out, 2 * WIDTH, w, h); }
static void yuyv_planar(uint8_t *out, int w, int h) {
    YUY2ToI420(input, 2 * WIDTH, PLANE(0), WIDTH, PLANE(1), WIDTH, PLANE(2), WIDTH, w, h);
}
static void uyvy_planar(uint8_t *out, int w, int h) {
    UYVYToI420(input, 2 * WIDTH, PLANE(0), WIDTH, PLANE(1), WIDTH, PLANE(2), WIDTH, w, h);
}
// camrec calls it at these widths only: with AVX2 it mixes up the chroma at others (PackedReader).
static void yuyv_nv12(uint8_t *out, int w, int h) {
    if (w % 32 == 0) YUY2ToNV12(input, 2 * WIDTH, PLANE(0), WIDTH, PLANE(1), WIDTH, w, h);
}

static void mirror(uint8_t *out, int w, int h) { MirrorPlane(input, WIDTH, out, WIDTH, w, h); }
static void planar_rgb(uint8_t *out, int w, int h) {
    J420ToRAW(input, WIDTH, input + WIDTH * HEIGHT, WIDTH, input + 2 * WIDTH * HEIGHT, WIDTH, out, 3 * WIDTH, w, h);
}

static const struct {
    const char *name;
    conversion *convert;
} conversions[] = {
    {"CopyPlane", copy}, {"SetPlane", set}, {"InterpolatePlane", interpolate}, {"MergeUVPlane", merge},
    {"SplitUVPlane", split}, {"SwapUVPlane", swap}, {"MirrorPlane", mirror},
    {"J420ToRAW", planar_rgb},
    {"YUY2ToI420", yuyv_planar}, {"UYVYToI420", uyvy_planar}, {"YUY2ToNV12", yuyv_nv12},
};

// Below, at and above the width of a vector.
static const int sizes[][2] = {{2, 2}, {14, 6}, {16, 4}, {30, 10}, {32, 32}, {66, 18}, {WIDTH, HEIGHT}};

static int libyuv(void) {
    int failed = 0;
    if (!TestCpuFlag(kCpuHasNEON) && !TestCpuFlag(kCpuHasSSE2)) {
        fprintf(stderr, "libyuv finds no vector instructions\n");
        failed = 1;
    }
    for (size_t c = 0; c < sizeof conversions / sizeof *conversions; c++) {
        uint64_t sum = 0;
        int largest = 0;
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            memset(output, 0, ROOM);
            memset(reference, 0, ROOM);
            MaskCpuFlags(-1);
            conversions[c].convert(output, sizes[s][0], sizes[s][1]);
            MaskCpuFlags(1); // none but "initialized"
            conversions[c].convert(reference, sizes[s][0], sizes[s][1]);
            for (size_t i = 0; i < ROOM; i++) {
                int difference = abs(output[i] - reference[i]);
                if (difference > largest) largest = difference;
            }
            sum = sum * 31 + hash(reference, ROOM);
        }
        printf("%s %016llx\n", conversions[c].name, (unsigned long long)sum);
        if (largest > 1) {
            fprintf(stderr, "%s differs from its reference by %d\n", conversions[c].name, largest);
            failed = 1;
        }
    }
    MaskCpuFlags(-1);
    return failed;
}

static int rgb(void) {
    struct color_rgb rgb = {.luma = {9798, 19235, 3735, 16384},
                            .cb = {-5529, -10855, 16384, (128 << 15) + 16384},
                            .cr = {16384, -13720, -2664, (128 << 15) + 16384}};
    uint64_t sum = 0;
    int failed = 0;
    for (int size = 3; size <= 4; size++) {
        rgb.layout = (struct color_layout){size, size - 1, 1, size - 3};
        for (int step = 1; step <= 2; step++) {
            for (int width = 1; width <= WIDTH; width++) {
                const struct color_rows rows = {input, input + size * WIDTH};
                uint8_t *samples[] = {output, reference};
                for (int plain = 0; plain < 2; plain++) {
                    uint8_t *luma = samples[plain], *chroma = luma + 2 * WIDTH;
                    memset(luma, 0, 4 * WIDTH);
                    const struct color_target target = {luma, luma + WIDTH, chroma, step == 2 ? chroma + 1 : chroma + WIDTH, step};
                    color_convert_rgb(&rgb, plain ? COLOR_PLAIN : color_best_unit(), rows, width, target);
                }
                if (memcmp(output, reference, 4 * WIDTH)) {
                    fprintf(stderr, "RGB of %d bytes, %d wide: not what plain C computes\n", size, width);
                    failed = 1;
                }
                sum = sum * 31 + hash(reference, 4 * WIDTH);
            }
        }
    }
    printf("RGB %016llx\n", (unsigned long long)sum);
    return failed;
}

// Full range to limited and BT.601 to BT.709, near enough, and limited range to full.
static const struct color_change all_changes[] = {
    {14071, -1644, 1660 - 5000, 0, 16, 14500, 1680, 1100, 14600},
    {19077, 0, 0, 16, 0, 18651, 0, 0, 18651},
};

static int changes(const struct color_change change) {
    uint64_t sum = 0;
    int failed = 0;
    for (int step = 1; step <= 2; step++) {
        for (int width = 1; width <= WIDTH; width++) {
            const struct color_planes source = {input, input + WIDTH, input + 2 * WIDTH, input + 3 * WIDTH};
            uint8_t *samples[] = {output, reference};
            for (int plain = 0; plain < 2; plain++) {
                uint8_t *luma = samples[plain], *chroma = luma + 2 * WIDTH;
                memset(luma, 0, 5 * WIDTH);
                const struct color_target target = {luma, luma + WIDTH, chroma, step == 2 ? chroma + 1 : chroma + WIDTH, step};
                (plain ? color_change_rows_plainly : color_change_rows)(&change, source, width, target);
                (plain ? color_halve_pairs_plainly : color_halve_pairs)(input, input + 2 * WIDTH, width, luma + 4 * WIDTH);
            }
            if (memcmp(output, reference, 5 * WIDTH)) {
                fprintf(stderr, "colours changed or halved, %d wide: not what plain C computes\n", width);
                failed = 1;
            }
            sum = sum * 31 + hash(reference, 5 * WIDTH);
        }
    }
    printf("changes %016llx\n", (unsigned long long)sum);
    return failed;
}

static int jpeg(void) {
    static uint8_t coded[ROOM], planes[3][CYUV_JPEG_MAXIMUM_BAND_ROWS * (WIDTH + 32)];
    size_t count = cyuv_jpeg_encode(input, 3 * WIDTH, WIDTH, HEIGHT, 1, coded, sizeof coded);
    printf("JPEG-encoded %zu %016llx\n", count, (unsigned long long)hash(coded, count));
    cyuv_jpeg_decoder *decoder = cyuv_jpeg_create();
    cyuv_jpeg_layout layout;
    if (!count || !decoder || cyuv_jpeg_begin(decoder, coded, count, WIDTH, HEIGHT, &layout) != CYUV_JPEG_OK) return 1;
    uint64_t sum = 0;
    for (int row = 0; row < HEIGHT; row += layout.band_rows) {
        if (cyuv_jpeg_read_band(decoder, planes[0], WIDTH + 32) != CYUV_JPEG_OK) return 1;
        for (int plane = 0; plane < 3; plane++) sum = sum * 31 + hash(planes[plane], sizeof planes[plane]);
    }
    printf("JPEG-decoded %016llx\n", (unsigned long long)sum);
    // Damage, and an end that is missing, are noticed alike.
    for (size_t cut = 2; cut < count; cut += count / 7) {
        cyuv_jpeg_status status = cyuv_jpeg_begin(decoder, coded, cut, WIDTH, HEIGHT, &layout);
        for (int row = 0; status == CYUV_JPEG_OK && row < HEIGHT; row += layout.band_rows)
            status = cyuv_jpeg_read_band(decoder, planes[0], WIDTH + 32);
        printf("JPEG-cut-%zu %d\n", cut, status);
    }
    cyuv_jpeg_destroy(decoder);
    return 0;
}

static int vendor(void) {
    static const char formats[][5] = {"BA81", "GBRG", "GRBG", "RGGB", "HM12", "S501", "S505", "S508", "CPIA", "KONI", "M420", "Y10B"};
    static uint8_t picture[ROOM], yu12[WIDTH * HEIGHT * 3 / 2];
    cyuv_vendor_converter *converter = cyuv_vendor_create();
    int converted = 0;
    for (size_t f = 0; converter && f < sizeof formats / sizeof *formats; f++) {
        const char *name = formats[f];
        uint32_t format = (uint32_t)name[0] | (uint32_t)name[1] << 8 | (uint32_t)name[2] << 16 | (uint32_t)name[3] << 24;
        cyuv_vendor_rows rows = cyuv_vendor_find_rows(format, WIDTH, HEIGHT);
        if (!rows.count) continue;
        memcpy(picture, input, ROOM);
        memset(yu12, 0, sizeof yu12);
        int status = cyuv_vendor_convert(converter, format, WIDTH, HEIGHT, picture, (size_t)rows.bytes * rows.count, yu12);
        printf("%s %d %016llx\n", name, status, (unsigned long long)hash(yu12, sizeof yu12));
        converted += status == 0;
    }
    cyuv_vendor_destroy(converter);
    return converted == 0;
}

int main(void) {
    for (size_t i = 0; i < ROOM; i++) input[i] = random_byte();
    int failed = libyuv();
    failed |= rgb();
    for (int i = 0; i < 2; i++) failed |= changes(all_changes[i]);
    failed |= jpeg();
    failed |= vendor();
    return failed;
}

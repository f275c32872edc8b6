// Creates coded streams for the tests, and reads containers with libavformat's ordinary calls.
#ifndef CTESTFORMAT_H
#define CTESTFORMAT_H

#include <stdbool.h>
#include <stdint.h>

struct test_packet {
    const uint8_t *bytes;
    int count;
    int64_t presentation, decoding;
    bool is_key;
};
typedef void (*test_packet_handler)(void *context, const struct test_packet *packet);

enum { TEST_WIDTH = 64, TEST_HEIGHT = 48 };

struct test_encoding {
    bool is_hevc;
    int frames, keyframe_interval, b_frames;
};

// Encodes a moving picture with libx264 or libx265, parameter sets before each keyframe. The presentation
// times are the pictures' numbers. Returns 0, a libav error, or 1 if the encoder is missing.
int test_encode(struct test_encoding encoding, test_packet_handler handler, void *context);

struct test_container {
    bool is_hevc;
    uint32_t tag;
    int width, height;
    // Ticks of the packets' times are numerator / denominator seconds.
    int numerator, denominator;
    uint8_t extradata[256];
    int extradata_count;
    int color_primaries, color_transfer, color_matrix, color_range;
    // Of a pixel, width to height; 0 if the container does not say.
    int aspect_width, aspect_height;
    char encoder[64];
};

// Reads what a container of so many streams states about the first one, and its packets as far as they are readable.
// Returns 0 or a libav error.
int test_read(const char *path, unsigned streams, struct test_container *container, test_packet_handler handler, void *context);

#endif

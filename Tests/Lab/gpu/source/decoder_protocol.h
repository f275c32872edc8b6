/* What fakegpu.so and the program `fakegpu-decode` say to each other over a socket: a request with an access unit, and
 * a reply with its picture. Both are built together, for one machine. */
#ifndef DECODER_PROTOCOL_H
#define DECODER_PROTOCOL_H

#include <stdint.h>

enum decoder_codec { DECODER_H264, DECODER_H265, DECODER_JPEG, DECODER_CODECS };

enum {
    DECODER_PLANES = 3,
    DECODER_LARGEST_SIZE = 16384,      /* of a picture, in samples */
    DECODER_LARGEST_UNIT = 256 << 20, /* of what is decoded at once, in bytes */
};

struct decoder_request {
    uint32_t codec; /* enum decoder_codec; the same in all of a process's requests */
    uint32_t size;  /* of what follows: H.264 or H.265 with start codes, or a JPEG file */
};

enum decoder_status { DECODER_NOTHING, DECODER_PICTURE, DECODER_DAMAGED };

/* Where there is a picture, its planes follow, of 8 bits a sample and without gaps. */
struct decoder_reply {
    uint32_t status; /* enum decoder_status; DAMAGED: a picture in which something is missing */
    uint32_t width, height;
    uint32_t planes; /* 1 where it is grey, else 3 */
    uint32_t chroma_width, chroma_height;
};

#endif

/* What decodes in the place of an engine: libavcodec, in a process of its own, so that neither its version nor its
 * memory nor what it says is the program's. */
#ifndef DECODER_H
#define DECODER_H

#include "decoder_protocol.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A decoder with its reference pictures, of one session. Made empty; starts at the first picture. */
struct decoder {
    int socket; /* to its process; where that has not been started less than 1 */
    int owner;  /* the process that started it: a forked child starts its own */
    uint64_t inode; /* the socket's: the program may have closed it, and have another file by its number */
};

/* A picture as the engine has it before it is put into a surface. */
struct decoded {
    bool damaged;
    uint32_t width, height;
    unsigned planes;                      /* 1: grey */
    uint32_t chroma_width, chroma_height; /* of each of two */
    uint8_t *bytes[DECODER_PLANES];       /* their rows, without gaps; the first is to be freed */
};

/* Decodes an access unit, and gives the picture of these very bytes, whatever the order of output. False: there is
 * none. With the lock held. */
bool decoder_decode(struct decoder *decoder, enum decoder_codec codec, const uint8_t *bytes, size_t size,
                    struct decoded *picture);
void decoded_free(struct decoded *picture);

/* Ends the process, and forgets the reference pictures. */
void decoder_close(struct decoder *decoder);

#endif

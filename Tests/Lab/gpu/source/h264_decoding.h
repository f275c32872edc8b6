/* A session that decodes H.264: slices as the driver gave them, behind parameter sets that are written again. */
#ifndef H264_DECODING_H
#define H264_DECODING_H

#include "bits.h"
#include "decoder.h"
#include "h264_parameters.h"

enum { H264_PARAMETER_SET_IDS = 256, H264_UNKNOWN_REFERENCES = 17 };

/* What was decoded since the last IDR picture. An engine that is not told max_num_ref_frames finds it out by how many
 * reference frames each picture has; where the number turns out to be another one, all is decoded again with that. */
struct h264_history {
    struct bit_writer units; /* without SPS, one after another */
    size_t *ends;
    size_t count, capacity;
    unsigned latest, most; /* reference frames of the latest picture, and of the one that had most */
    bool is_reference;     /* the latest picture is a frame that others may refer to */
};

struct h264_decoding {
    struct decoder decoder;
    struct h264_parameters parameters; /* of this picture; the driver's engine sets them */
    struct bit_writer slices;          /* of this picture so far */
    bool uses[H264_PARAMETER_SET_IDS]; /* by pic_parameter_set_id */
    bool is_idr, is_reference;         /* of this picture */
    /* How many reference frames this picture has: of engines that are not told max_num_ref_frames. */
    unsigned reference_frames; /* H264_UNKNOWN_REFERENCES: not counted, a field */
    bool guesses;
    struct h264_history history;
    unsigned pictures;
};

/* Forgets the slices of a picture that was never finished. */
void h264_decoding_begin(struct h264_decoding *decoding);

/* Takes a slice's NAL unit, without start code; others are passed over. `references`: how many the slice uses of each
 * list, as the driver has it. */
void h264_decoding_add(struct h264_decoding *decoding, const uint8_t *unit, size_t size, const unsigned references[2]);

/* Decodes the slices. False where there is no picture. */
bool h264_decoding_finish(struct h264_decoding *decoding, struct decoded *picture);

void h264_decoding_free(struct h264_decoding *decoding);

#endif

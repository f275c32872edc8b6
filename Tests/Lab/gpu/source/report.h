/* What the emulated GPU writes down: a line a picture (FAKEGPU_LOG), the input (FAKEGPU_DUMP), and what there
 * was in all when the program ends (FAKEGPU_REPORT). */
#ifndef REPORT_H
#define REPORT_H

#include "decoder.h"
#include "picture.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device;
struct file;

enum { REPORT_UNITS_SIZE = 128, REPORT_NO_NUMBER = -1 };

enum picture_result { PICTURE_CODED, PICTURE_IMPOSSIBLE, PICTURE_OVERFLOW };

/* What a driver asked the engine for, and what came of it. */
struct picture_record {
    bool h264; /* else H.265 */
    unsigned number;
    char type; /* I, P, B; S: an AMD P_SKIP */
    uint32_t coded_width, coded_height;
    uint32_t tiling;               /* the hardware's number; 0: rows */
    char units[REPORT_UNITS_SIZE]; /* the NAL units before the slices */
    bool cabac;
    int qp;
    uint32_t rate_control, bit_rate, peak_bit_rate, frame_rate[2], vbv_size, vbv_level;
    uint64_t buffer_size;
    size_t bytes;
    bool skipped; /* P_Skip in place of I_PCM */
    enum picture_result result;
};

/* What a driver had decoded. */
struct decode_record {
    enum decoder_codec codec;
    unsigned number;
    size_t bytes;
    enum picture_result result; /* OVERFLOW: it does not fit into its surface */
};

enum { UNMODELLED_LIMIT = 16, UNMODELLED_SIZE = 64 };

/* What was made and never freed: when a node's last descriptor was closed, or at the end. */
struct leftovers {
    size_t buffers, mappings, contexts, buffer_lists, address_spaces, syncobjs;
    uint64_t bytes; /* of the buffers */
};

/* What there was from a device since the program began. */
struct statistics {
    uint64_t ioctls, submissions, opened;
    uint64_t pictures[2], intra, skipped, failed; /* pictures: H.265, H.264 */
    uint64_t coded_bytes;
    uint64_t decoded[DECODER_CODECS], damaged, undecoded; /* by codec; damaged ones are among them */
    uint64_t converted; /* pictures that got another layout */
    uint64_t sessions_opened, sessions_closed;
    uint64_t memory_peak, imports, faults;
    struct leftovers closed; /* by closing the node */
    char unmodelled[UNMODELLED_LIMIT][UNMODELLED_SIZE];
    size_t unmodelled_count;
};

/* Opens the files; once, before main. */
void report_start(void);
/* Has FAKEGPU_REPORT's line written, where a node was opened by this process, when its destructors have run. */
void report_end(void);
/* In a child that was forked: what it has of its parent is the parent's to report. With the lock held. */
void report_forked(void);

/* With the lock held. */
void report_picture(struct device *device, const struct picture_record *record, const struct picture *picture);
void report_decoded(struct device *device, const struct decode_record *record, const struct decoded *picture);
void report_opened(struct device *device);
void report_closed(const struct file *file); /* the node's last descriptor is gone, and `file` is about to be freed */
void report_memory(struct device *device, uint64_t bytes); /* that its buffers take now */
void report_session_opened(struct device *device);
void report_session_closed(struct device *device, unsigned pictures);
/* A question or a number that is unknown here: said on standard error, once. */
void report_unmodelled(struct device *device, const char *what, uint64_t number);
/* Work that is not done, so that the program's pictures will be wrong: said on standard error, once. */
void report_undone(struct device *device, const char *what);

/* Adds a NAL unit's name, or its type after a prefix, to a record. */
void report_unit(struct picture_record *record, const char *name, int number);

#endif

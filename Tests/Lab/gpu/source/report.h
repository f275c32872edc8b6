/* What the emulated GPU writes down: a line a picture (FAKEGPU_LOG), the input (FAKEGPU_DUMP), and what it was asked
 * for that it does not model. */
#ifndef REPORT_H
#define REPORT_H

#include "picture.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device;

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
    uint32_t rate_control, bit_rate, peak_bit_rate, frame_rate[2], vbv_size;
    uint64_t buffer_size;
    size_t bytes;
    bool skipped; /* P_Skip in place of I_PCM */
    enum picture_result result;
};

/* Opens the files; once, before main. */
void report_start(void);

/* With the lock held. */
void report_picture(struct device *device, const struct picture_record *record, const struct picture *picture);
void report_session_opened(struct device *device);
void report_session_closed(struct device *device, unsigned pictures);
void report_unmodelled(struct device *device, const char *what, uint64_t number);

/* Adds a NAL unit's name, or its type behind a prefix, to a record. */
void report_unit(struct picture_record *record, const char *name, int number);

#endif

/* Faults on request. FAKEGPU_FAULTS, or the file FAKEGPU_CONTROL, which is read again when it changes and then holds
 * alone, has them on lines or between semicolons; README.md has the list with the reasons. */
#ifndef FAULTS_H
#define FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device;

enum { FAULT_FAILURE_LIMIT = 8, FAULT_NAME_SIZE = 40 };

/* fail IOCTL ERRNO [CALL [TIMES]] */
struct ioctl_failure {
    char name[FAULT_NAME_SIZE]; /* as ioctl_name says it; * is any */
    int error; /* 0: the call never returns */
    uint64_t first, times;
    uint64_t calls; /* so far */
};

struct faults {
    struct ioctl_failure failures[FAULT_FAILURE_LIMIT];
    size_t failure_count;
    uint64_t memory_limit;  /* memory BYTES */
    uint64_t hang_from;     /* hang PICTURE [MILLISECONDS] */
    uint64_t hang_duration; /* nanoseconds until the kernel resets the device; NEVER */
    uint64_t lost_from;     /* lost PICTURE */
    uint64_t coded_limit;   /* coded BYTES */
    uint64_t picture_time;  /* slow MILLISECONDS; in nanoseconds */
    int import_error;       /* import ERRNO; 0: imports work */
};

/* With the lock held. Reads the faults at the first call, and the control file's when that has changed. */
void faults_refresh(void);

/* What an ioctl is to fail with: a negative errno, or 0. Counts the call, and does not return from one that is to be
 * stuck. `name`: null for an unknown one. */
int faults_ioctl(struct device *device, const char *name);

#endif

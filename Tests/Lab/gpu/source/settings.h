/* What the environment says: read once, at the first use. README.md has the list. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>

struct settings {
    const char *devices; /* FAKEGPU_DEVICES: models by name, separated by commas */
    const char *log;     /* FAKEGPU_LOG: a file that gets a JSON line a picture */
    const char *dump;    /* FAKEGPU_DUMP: a file that gets the input pictures */
    const char *report;  /* FAKEGPU_REPORT: a file that gets a JSON line when the program ends */
    const char *faults;  /* FAKEGPU_FAULTS: see faults.h */
    const char *control; /* FAKEGPU_CONTROL: a file with faults, read again whenever it changes */
    const char *memory;  /* FAKEGPU_MEMORY: a DRM device's card node, whose memory is the GPU's */
    bool cheap;          /* FAKEGPU_PICTURES=cheap: flat I and skipped P pictures */
    bool debug;          /* FAKEGPU_DEBUG: submissions and what is not modelled, on standard error */
};

const struct settings *settings(void);

/* Where the program has not set `name` itself: what the drivers are told. Null for other names. */
const char *settings_for_drivers(const char *name);

#endif

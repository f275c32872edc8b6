#include "settings.h"

#include "message.h"
#include "real.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

static struct settings values;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char *setting(const char *name)
{
    const char *value = real()->getenv(name);

    return value && *value ? value : NULL;
}

static void read_environment(void)
{
    const char *pictures = setting("FAKEGPU_PICTURES");

    values.debug = setting("FAKEGPU_DEBUG") != NULL;
    values.devices = setting("FAKEGPU_DEVICES");
    if (!values.devices)
        values.devices = "renoir";
    values.log = setting("FAKEGPU_LOG");
    values.dump = setting("FAKEGPU_DUMP");
    values.report = setting("FAKEGPU_REPORT");
    values.faults = setting("FAKEGPU_FAULTS");
    values.control = setting("FAKEGPU_CONTROL");
    values.memory = setting("FAKEGPU_MEMORY");
    values.cheap = pictures && strcmp(pictures, "cheap") == 0;
    if (pictures && !values.cheap)
        message("FAKEGPU_PICTURES is 'cheap' or not set: '%s' is nothing", pictures);
}

const struct settings *settings(void)
{
    pthread_once(&once, read_environment);
    return &values;
}

const char *settings_for_drivers(const char *name)
{
    /* Linear surfaces, so that what the CPU writes is what the engine reads. */
    return strcmp(name, "AMD_DEBUG") == 0 ? "notiling,nodcc" : NULL;
}

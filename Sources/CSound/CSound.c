#include "CSound.h"

#include <dlfcn.h>
#include <stdio.h>

static const char *const library_name = "libasound.so.2";

// In place of ALSA's own, which prints to standard error.
static void ignore(const char *file, int line, const char *function, int error, const char *format, ...) {
    (void)file, (void)line, (void)function, (void)error, (void)format;
}

bool csound_load(struct csound_library *library, char *reason, size_t size) {
    // Its plugins run threads and exit handlers, so nothing is ever unloaded.
    void *handle = dlopen(library_name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) {
        snprintf(reason, size, "%s", dlerror());
        return false;
    }
#define RESOLVE(member)                                                                   \
    if (!(library->member = (__typeof__(library->member))dlsym(handle, "snd_" #member))) { \
        snprintf(reason, size, "%s has no snd_" #member, library_name);                    \
        return false;                                                                      \
    }
#define RESOLVE_PCM(member)                                                                   \
    if (!(library->member = (__typeof__(library->member))dlsym(handle, "snd_pcm_" #member))) { \
        snprintf(reason, size, "%s has no snd_pcm_" #member, library_name);                    \
        return false;                                                                          \
    }
    RESOLVE(strerror)
    RESOLVE(pcm_open)
    RESOLVE(pcm_close)
    RESOLVE(pcm_start)
    RESOLVE(pcm_wait)
    RESOLVE(pcm_prepare)
    RESOLVE(pcm_resume)
    RESOLVE(pcm_avail_update)
    RESOLVE(pcm_htimestamp)
    RESOLVE(pcm_readi)
    RESOLVE_PCM(hw_params_malloc)
    RESOLVE_PCM(hw_params_free)
    RESOLVE_PCM(hw_params_any)
    RESOLVE_PCM(hw_params_set_access)
    RESOLVE_PCM(hw_params_set_format)
    RESOLVE_PCM(hw_params_set_rate_resample)
    RESOLVE_PCM(hw_params_set_rate_near)
    RESOLVE_PCM(hw_params_set_channels_near)
    RESOLVE_PCM(hw_params_set_period_time_near)
    RESOLVE_PCM(hw_params_set_buffer_time_near)
    RESOLVE_PCM(hw_params)
    RESOLVE_PCM(hw_params_get_period_size)
    RESOLVE_PCM(hw_params_get_buffer_size)
    RESOLVE_PCM(hw_params_get_rate_min)
    RESOLVE_PCM(hw_params_get_rate_max)
    RESOLVE_PCM(hw_params_get_channels_min)
    RESOLVE_PCM(hw_params_get_channels_max)
    RESOLVE_PCM(sw_params_malloc)
    RESOLVE_PCM(sw_params_free)
    RESOLVE_PCM(sw_params_current)
    RESOLVE_PCM(sw_params_set_tstamp_mode)
    RESOLVE_PCM(sw_params_set_tstamp_type)
    RESOLVE_PCM(sw_params_set_avail_min)
    RESOLVE_PCM(sw_params)
#undef RESOLVE
#undef RESOLVE_PCM
    int (*set_handler)(snd_lib_error_handler_t) = (int (*)(snd_lib_error_handler_t))dlsym(handle, "snd_lib_error_set_handler");
    if (set_handler) set_handler(ignore);
    return true;
}

void csound_set_layout(AVChannelLayout *layout, int channels) { av_channel_layout_default(layout, channels); }

int csound_convert(SwrContext *context, uint8_t **output, int room, const uint8_t **input, int count) {
    return swr_convert(context, output, room, input, count);
}

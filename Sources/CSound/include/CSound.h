// ALSA, loaded when sound is recorded, and libswresample, which libavcodec brings along anyway.
//
// Where nobody asks for sound, libasound costs nothing. Its functions come from dlopen; its types are opaque, so that any
// release will do.
#ifndef CSOUND_H
#define CSOUND_H

#include <CFFmpeg.h>
#include <alsa/asoundlib.h>
#include <libswresample/swresample.h>
#include <stdbool.h>

// The functions of libasound that camrec uses, named without snd_.
struct csound_library {
    __typeof__(&snd_strerror) strerror;
    __typeof__(&snd_pcm_open) pcm_open;
    __typeof__(&snd_pcm_close) pcm_close;
    __typeof__(&snd_pcm_start) pcm_start;
    __typeof__(&snd_pcm_wait) pcm_wait;
    __typeof__(&snd_pcm_prepare) pcm_prepare;
    __typeof__(&snd_pcm_resume) pcm_resume;
    __typeof__(&snd_pcm_avail_update) pcm_avail_update;
    __typeof__(&snd_pcm_htimestamp) pcm_htimestamp;
    __typeof__(&snd_pcm_readi) pcm_readi;
    __typeof__(&snd_pcm_hw_params_malloc) hw_params_malloc;
    __typeof__(&snd_pcm_hw_params_free) hw_params_free;
    __typeof__(&snd_pcm_hw_params_any) hw_params_any;
    __typeof__(&snd_pcm_hw_params_set_access) hw_params_set_access;
    __typeof__(&snd_pcm_hw_params_set_format) hw_params_set_format;
    __typeof__(&snd_pcm_hw_params_set_rate_resample) hw_params_set_rate_resample;
    __typeof__(&snd_pcm_hw_params_set_rate_near) hw_params_set_rate_near;
    __typeof__(&snd_pcm_hw_params_set_channels_near) hw_params_set_channels_near;
    __typeof__(&snd_pcm_hw_params_set_period_time_near) hw_params_set_period_time_near;
    __typeof__(&snd_pcm_hw_params_set_buffer_time_near) hw_params_set_buffer_time_near;
    __typeof__(&snd_pcm_hw_params) hw_params;
    __typeof__(&snd_pcm_hw_params_get_period_size) hw_params_get_period_size;
    __typeof__(&snd_pcm_hw_params_get_buffer_size) hw_params_get_buffer_size;
    __typeof__(&snd_pcm_hw_params_get_rate_min) hw_params_get_rate_min;
    __typeof__(&snd_pcm_hw_params_get_rate_max) hw_params_get_rate_max;
    __typeof__(&snd_pcm_hw_params_get_channels_min) hw_params_get_channels_min;
    __typeof__(&snd_pcm_hw_params_get_channels_max) hw_params_get_channels_max;
    __typeof__(&snd_pcm_sw_params_malloc) sw_params_malloc;
    __typeof__(&snd_pcm_sw_params_free) sw_params_free;
    __typeof__(&snd_pcm_sw_params_current) sw_params_current;
    __typeof__(&snd_pcm_sw_params_set_tstamp_mode) sw_params_set_tstamp_mode;
    __typeof__(&snd_pcm_sw_params_set_tstamp_type) sw_params_set_tstamp_type;
    __typeof__(&snd_pcm_sw_params_set_avail_min) sw_params_set_avail_min;
    __typeof__(&snd_pcm_sw_params) sw_params;
};

// Loads the library, which prints nothing from then on, and fills the table. False if there is none or it lacks a
// function; `reason`, of `size` bytes, then says why. It stays loaded for the life of the process. Safe in any thread.
bool csound_load(struct csound_library *library, char *reason, size_t size);

// The layout of one or two channels, or of more, whose places are then unknown.
void csound_set_layout(AVChannelLayout *layout, int channels);

// swr_convert, whose pointers' constness changed in FFmpeg 7.
int csound_convert(SwrContext *context, uint8_t **output, int room, const uint8_t **input, int count);

#endif

#include "Format.h"

#include <dlfcn.h>
#include <libavutil/display.h>
#include <math.h>
#include <stdio.h>
#include <syslog.h>

#define STRING(x) #x
#define EXPANDED_STRING(x) STRING(x)

const char *const cformat_library_name = "libavformat.so." EXPANDED_STRING(LIBAVFORMAT_VERSION_MAJOR);

bool cformat_load(struct cformat_library *library, char *reason, size_t size) {
    // Its libraries run threads and exit handlers, so nothing is ever unloaded.
    void *handle = dlopen(cformat_library_name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) {
        snprintf(reason, size, "%s", dlerror());
        return false;
    }
#define RESOLVE(member, function)                                                   \
    if (!(library->member = (__typeof__(library->member))dlsym(handle, #function))) { \
        snprintf(reason, size, "%s has no " #function, cformat_library_name);         \
        return false;                                                                 \
    }
    RESOLVE(alloc_output_context2, avformat_alloc_output_context2)
    RESOLVE(free_context, avformat_free_context)
    RESOLVE(new_stream, avformat_new_stream)
    RESOLVE(write_header, avformat_write_header)
    RESOLVE(write_frame, av_write_frame)
    RESOLVE(write_trailer, av_write_trailer)
    RESOLVE(alloc_io_context, avio_alloc_context)
    RESOLVE(free_io_context, avio_context_free)
    RESOLVE(find_input_format, av_find_input_format)
    RESOLVE(alloc_context, avformat_alloc_context)
    RESOLVE(open_input, avformat_open_input)
    RESOLVE(close_input, avformat_close_input)
    RESOLVE(read_frame, av_read_frame)
    RESOLVE(seek_frame, av_seek_frame)
    RESOLVE(open_io, avio_open2)
    RESOLVE(write_io, avio_write)
    RESOLVE(flush_io, avio_flush)
    RESOLVE(close_io, avio_closep)
#undef RESOLVE
    // Where libavformat has SRT, libsrt prints what it thinks of a peer to standard error; only its crashes are of interest.
    void (*set_level)(int) = (void (*)(int))dlsym(handle, "srt_setloglevel");
    if (set_level) set_level(LOG_CRIT);
    return true;
}

int cformat_rotation(const AVStream *stream) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 100)
    const AVPacketSideData *data = stream->codecpar->coded_side_data;
    const int count = stream->codecpar->nb_coded_side_data;
#else
    const AVPacketSideData *data = stream->side_data;
    const int count = stream->nb_side_data;
#endif
    for (int index = 0; index < count; index++) {
        if (data[index].type != AV_PKT_DATA_DISPLAYMATRIX || data[index].size < 9 * sizeof(int32_t)) continue;
        const double degrees = av_display_rotation_get((const int32_t *)data[index].data);
        return isnan(degrees) ? 0 : (int)lround(degrees);
    }
    return 0;
}

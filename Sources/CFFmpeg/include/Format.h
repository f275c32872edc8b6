// libavformat, loaded when a container is used.
//
// If it were linked like the others, libavformat would bring some 40 more libraries into every start of camrec,
// which takes two thirds longer and 9 MB more, even to record a raw stream. Its functions therefore come from
// dlopen, under the version of the header: structures are read as the header lays them out.
#ifndef CFFMPEG_FORMAT_H
#define CFFMPEG_FORMAT_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdbool.h>

enum {
    CFORMAT_TAG_AVC1 = MKTAG('a', 'v', 'c', '1'),
    CFORMAT_TAG_HVC1 = MKTAG('h', 'v', 'c', '1'),
    CFORMAT_FAILED = AVERROR(EIO),
    CFORMAT_REFUSED = AVERROR(EPERM),
    CFORMAT_NO_PROTOCOL = AVERROR_PROTOCOL_NOT_FOUND,
};

// The functions of libavformat that camrec uses, named without avformat_, av_ and avio_.
struct cformat_library {
    __typeof__(&avformat_alloc_output_context2) alloc_output_context2;
    __typeof__(&avformat_free_context) free_context;
    __typeof__(&avformat_new_stream) new_stream;
    __typeof__(&avformat_write_header) write_header;
    __typeof__(&av_write_frame) write_frame;
    __typeof__(&av_write_trailer) write_trailer;
    __typeof__(&avio_alloc_context) alloc_io_context;
    __typeof__(&avio_context_free) free_io_context;
    __typeof__(&av_find_input_format) find_input_format;
    __typeof__(&avformat_alloc_context) alloc_context;
    __typeof__(&avformat_open_input) open_input;
    __typeof__(&avformat_close_input) close_input;
    __typeof__(&av_read_frame) read_frame;
    __typeof__(&av_seek_frame) seek_frame;
    __typeof__(&avio_open2) open_io;
    __typeof__(&avio_write) write_io;
    __typeof__(&avio_flush) flush_io;
    __typeof__(&avio_closep) close_io;
};

// The file name of the library that matches the header.
extern const char *const cformat_library_name;

// Loads the library and fills the table. False if there is none or it lacks a function; `reason`, of `size`
// bytes, then says why. The library stays loaded for the life of the process. Safe in any thread.
bool cformat_load(struct cformat_library *library, char *reason, size_t size);

// The degrees, from -180 to 180, by which players rotate the stream's pictures; positive is to the left. Where a stream
// stores this changed in FFmpeg 6.1.
int cformat_rotation(const AVStream *stream);

#endif

// The same work done by other libraries, for the benchmark: each function does it once, on one thread.
#ifndef PEERS_H
#define PEERS_H

#include <stddef.h>
#include <stdint.h>

// libjpeg-turbo to planes, nothing more. 4:2:2 only. Returns 0 on success, like the others.
int peer_libjpeg(const uint8_t *jpeg, size_t count, int width, int height, uint8_t *planes);

// libyuv's MJPGToNV12.
int peer_libyuv_jpeg(const uint8_t *jpeg, size_t count, int width, int height, uint8_t *nv12);

// libyuv's YUY2ToNV12 over the whole picture.
int peer_libyuv_yuyv(const uint8_t *yuyv, int width, int height, uint8_t *nv12);

// libavcodec's decoder, followed by swscale if `nv12` is not NULL. Keeps its state in `*state`, which begins as NULL.
// Returns 1 if libswscale is not installed.
typedef struct peer_ffmpeg peer_ffmpeg;
int peer_libavcodec(
    peer_ffmpeg **state, const uint8_t *jpeg, size_t count, int width, int height, uint8_t *nv12);

// The number of start codes (00 00 01), found by memchr for each 01.
size_t peer_memchr_start_codes(const uint8_t *bytes, size_t count);

// The same by memmem.
size_t peer_memmem_start_codes(const uint8_t *bytes, size_t count);

// The number of bytes of a value, by memchr.
size_t peer_memchr_count(const uint8_t *bytes, size_t count, uint8_t value);

// The number of access units that libavcodec's H.264 parser finds in a stream that it gets in chunks; 0 if there is no
// such parser. The stream must be followed by 64 readable bytes.
size_t peer_libavcodec_access_units(const uint8_t *bytes, size_t count, size_t chunk);

#endif

// What others take for the same work: each function does it once, on one thread. For the benchmark.
#ifndef PEERS_H
#define PEERS_H

#include <stddef.h>
#include <stdint.h>

// libjpeg-turbo to planes, nothing more. 4:2:2 only. Returns 0 on success, as the others do.
int peer_libjpeg(const uint8_t *jpeg, size_t count, int width, int height, uint8_t *planes);

// libyuv's MJPGToNV12.
int peer_libyuv_jpeg(const uint8_t *jpeg, size_t count, int width, int height, uint8_t *nv12);

// libyuv's YUY2ToNV12 over the whole picture.
int peer_libyuv_yuyv(const uint8_t *yuyv, int width, int height, uint8_t *nv12);

// libavcodec's decoder, and where `nv12` is not NULL swscale after it. Keeps its state in `*state`, which
// begins as NULL. Returns 1 where libswscale is not installed.
typedef struct peer_ffmpeg peer_ffmpeg;
int peer_libavcodec(
    peer_ffmpeg **state, const uint8_t *jpeg, size_t count, int width, int height, uint8_t *nv12);

#endif

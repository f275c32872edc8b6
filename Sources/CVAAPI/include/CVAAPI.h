// libva for Swift, with its messages turned off: it prints to standard error while it probes.
#ifndef CVAAPI_H
#define CVAAPI_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <va/va.h>
#include <va/va_drm.h>

enum {
    CVAAPI_FOURCC_NV12 = VA_FOURCC_NV12,
    CVAAPI_FOURCC_YUYV = VA_FOURCC_YUY2,
    CVAAPI_FOURCC_UYVY = VA_FOURCC_UYVY,
    CVAAPI_INVALID_ID = VA_INVALID_ID,
};

// Where arrays of structures lie that have no names, which Swift does not import: offsets in bytes.
enum {
    CVAAPI_JPEG_COMPONENTS = offsetof(VAPictureParameterBufferJPEGBaseline, components),
    CVAAPI_JPEG_SCAN_COMPONENTS = offsetof(VASliceParameterBufferJPEGBaseline, components),
    CVAAPI_JPEG_TABLES = offsetof(VAHuffmanTableBufferJPEGBaseline, huffman_table),
    CVAAPI_JPEG_TABLE_SIZE = sizeof(((VAHuffmanTableBufferJPEGBaseline *)0)->huffman_table[0]),
    CVAAPI_JPEG_DC_VALUES = offsetof(VAHuffmanTableBufferJPEGBaseline, huffman_table[0].dc_values) - CVAAPI_JPEG_TABLES,
    CVAAPI_JPEG_AC_COUNTS = offsetof(VAHuffmanTableBufferJPEGBaseline, huffman_table[0].num_ac_codes) - CVAAPI_JPEG_TABLES,
    CVAAPI_JPEG_AC_VALUES = offsetof(VAHuffmanTableBufferJPEGBaseline, huffman_table[0].ac_values) - CVAAPI_JPEG_TABLES,
};

// A descriptor or -errno.
static inline int cvaapi_open(const char *path) {
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}

// The file that libva was loaded from; NULL if unknown.
const char *cvaapi_library_path(void);

// Where a picture of even size lies in memory, in bytes: NV12's luma and chroma, or the pixels of YUYV or UYVY.
struct cvaapi_layout {
    uint32_t fourcc, width, height, pitch[2], offset[2];
};

// Creates a surface whose rows lie one after the other, if the driver can, in the wanted layout or another.
VAStatus cvaapi_create_linear(VADisplay display, const struct cvaapi_layout *wanted, VASurfaceID *surface);

// Shares a surface's memory as a DMA-BUF, which the caller closes. Fails where it is tiled, or in several pieces.
VAStatus cvaapi_export(VADisplay display, VASurfaceID surface, int *descriptor, struct cvaapi_layout *layout);

// Creates a surface in a DMA-BUF of `size` bytes, which stays the caller's.
VAStatus cvaapi_import(VADisplay display, int descriptor, uint32_t size, const struct cvaapi_layout *layout, VASurfaceID *surface);

// What converts surfaces of one size to NV12, without changing their colours.
struct cvaapi_processor {
    VADisplay display;
    VAConfigID config;
    VAContextID context;
};

// Whether the driver says that it processes surfaces of a format.
bool cvaapi_processes(VADisplay display, uint32_t fourcc);

// Fails where the driver does not process pictures.
VAStatus cvaapi_processor_open(VADisplay display, uint32_t width, uint32_t height, struct cvaapi_processor *processor);
void cvaapi_processor_close(const struct cvaapi_processor *processor);

// The driver keeps the order with what uses the surfaces later.
VAStatus cvaapi_process(const struct cvaapi_processor *processor, VASurfaceID source, VASurfaceID target);

static inline void cvaapi_silence_message(void *context, const char *message) {
    (void)context;
    (void)message;
}

static inline void cvaapi_silence(VADisplay display) {
    vaSetErrorCallback(display, cvaapi_silence_message, NULL);
    vaSetInfoCallback(display, cvaapi_silence_message, NULL);
}

#endif

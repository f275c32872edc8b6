/* The cable: USB/IP to the kernel's virtual host controller (its Documentation/usb/usbip_protocol.rst). */
#ifndef USBIP_H
#define USBIP_H

#include "camera.h"

/* The transfers of a USB/IP request, as host numbers. */
struct usbip_request {
    bool unlink; /* else submit */
    uint32_t number, endpoint, length;
    bool in;
    uint8_t setup[8];        /* of a control transfer */
    uint32_t unlinks_number; /* the transfer that an unlink takes back */
    int packet_count;        /* of an isochronous transfer */
    uint32_t offsets[PACKETS_MAX], lengths[PACKETS_MAX];
};

/* Attaches to the port of the host controller; 0 or a negative errno. */
int usbip_attach(struct camera *camera);

/* Lets go of the host; `camera->usb` is -1 from here on. */
void usbip_detach(struct camera *camera, const char *why);

/* Reads a request, or what comes with it; false, and detached, where the host has let go. */
bool usbip_receive(struct camera *camera, struct usbip_request *request);
bool usbip_receive_data(struct camera *camera, void *data, size_t length);

/* Ends a transfer. `length` counts bytes to or from the host; `data` is null where none go to it. */
void usbip_reply(struct camera *camera, uint32_t number, int status, const void *data, size_t length);

/* Ends an isochronous transfer from the device: `data` fills its packets. */
void usbip_reply_packets(struct camera *camera, const struct waiting_sound *sound, const void *data);

/* Answers an unlink: whether the transfer was still there. */
void usbip_reply_unlink(struct camera *camera, uint32_t number, bool found);

#endif

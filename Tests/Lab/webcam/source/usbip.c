#include "usbip.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "message.h"

enum { CMD_SUBMIT = 1, CMD_UNLINK, RET_SUBMIT, RET_UNLINK };

struct header { /* big-endian */
    uint32_t command, number, device, direction, endpoint;
    union {
        struct {
            uint32_t flags, length, start_frame, packets, interval;
            uint8_t setup[8];
        } submit;
        struct {
            uint32_t status, length, start_frame, packets, errors, unused[2];
        } result;
        struct {
            uint32_t number, unused[6];
        } unlink;
    };
};
_Static_assert(sizeof(struct header) == 48, "USB/IP header");

struct packet { /* big-endian */
    uint32_t offset, length, actual_length, status;
};

/* Hands `usb` to the controller; 0 or an errno. The port stays busy for a moment after an unplug. */
static int hand_over(int port, int usb)
{
    enum { SPEED_HIGH = 3, DEVICE = 0x00010001 };
    char line[64];
    int length = snprintf(line, sizeof line, "%d %d %d %d", port, usb, DEVICE, SPEED_HIGH);
    int error = EBUSY;
    for (int tries = 0; tries < 100 && error == EBUSY; tries++) {
        if (tries > 0)
            usleep(50000);
        int file = open("/sys/devices/platform/vhci_hcd.0/attach", O_WRONLY | O_CLOEXEC);
        error = file < 0 || write(file, line, (size_t)length) < 0 ? errno : 0;
        if (file >= 0)
            close(file);
    }
    return error;
}

int usbip_attach(struct camera *camera)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        die("socketpair");
    int error = hand_over(camera->port, ends[1]);
    close(ends[1]);
    if (error)
        close(ends[0]);
    else
        camera->usb = ends[0];
    return -error;
}

void usbip_detach(struct camera *camera, const char *why)
{
    close(camera->usb);
    camera->usb = -1;
    note("unplugged (%s)", why);
}

bool usbip_receive_data(struct camera *camera, void *data, size_t length)
{
    bool whole = recv(camera->usb, data, length, MSG_WAITALL) == (ssize_t)length;
    if (!whole)
        usbip_detach(camera, "the host has let go");
    return whole;
}

/* Of an isochronous transfer from the device: they follow the header. */
static bool receive_packets(struct camera *camera, struct usbip_request *request, uint32_t count)
{
    struct packet packets[PACKETS_MAX];
    if (count > PACKETS_MAX) {
        usbip_detach(camera, "more packets than there is room for");
        return false;
    }
    if (!usbip_receive_data(camera, packets, count * sizeof *packets))
        return false;
    request->packet_count = (int)count;
    for (uint32_t i = 0; i < count; i++) {
        request->offsets[i] = ntohl(packets[i].offset);
        request->lengths[i] = ntohl(packets[i].length);
    }
    return true;
}

bool usbip_receive(struct camera *camera, struct usbip_request *request)
{
    struct header header;
    if (!usbip_receive_data(camera, &header, sizeof header))
        return false;
    uint32_t command = ntohl(header.command);
    if (command != CMD_SUBMIT && command != CMD_UNLINK) {
        usbip_detach(camera, "unknown USB/IP command");
        return false;
    }
    *request = (struct usbip_request){.unlink = command == CMD_UNLINK, .number = ntohl(header.number)};
    if (request->unlink) {
        request->unlinks_number = ntohl(header.unlink.number);
    } else {
        request->endpoint = ntohl(header.endpoint);
        request->in = ntohl(header.direction);
        request->length = ntohl(header.submit.length);
        memcpy(request->setup, header.submit.setup, sizeof request->setup);
        if (request->endpoint == ENDPOINT_SOUND && request->in)
            return receive_packets(camera, request, ntohl(header.submit.packets));
    }
    return true;
}

/* The socket blocks, so that all is sent or the host has gone. */
static void send_parts(struct camera *camera, struct iovec *parts, size_t count)
{
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
    size_t length = 0;
    for (size_t i = 0; i < count; i++)
        length += parts[i].iov_len;
    if (camera->usb >= 0 && sendmsg(camera->usb, &message, MSG_NOSIGNAL) != (ssize_t)length)
        usbip_detach(camera, "the host has gone");
}

static void send_reply(struct camera *camera, struct header *header, const void *data, size_t length)
{
    struct iovec parts[] = {{header, sizeof *header}, {(void *)(uintptr_t)data, length}};
    send_parts(camera, parts, 2);
}

void usbip_reply(struct camera *camera, uint32_t number, int status, const void *data, size_t length)
{
    struct header header = {.command = htonl(RET_SUBMIT),
                            .number = htonl(number),
                            .result = {.status = htonl((uint32_t)status), .length = htonl((uint32_t)length)}};
    send_reply(camera, &header, data, data ? length : 0);
}

void usbip_reply_packets(struct camera *camera, const struct waiting_sound *sound, const void *data)
{
    struct packet packets[PACKETS_MAX];
    uint32_t length = 0;
    for (int i = 0; i < sound->count; i++) {
        length += sound->lengths[i];
        packets[i] = (struct packet){htonl(sound->offsets[i]), htonl(sound->lengths[i]), htonl(sound->lengths[i]), 0};
    }
    struct header header = {.command = htonl(RET_SUBMIT),
                            .number = htonl(sound->number),
                            .result = {.length = htonl(length), .packets = htonl((uint32_t)sound->count)}};
    struct iovec parts[] = {{&header, sizeof header},
                            {(void *)(uintptr_t)data, length},
                            {packets, (size_t)sound->count * sizeof *packets}};
    send_parts(camera, parts, 3);
}

void usbip_reply_unlink(struct camera *camera, uint32_t number, bool found)
{
    struct header header = {.command = htonl(RET_UNLINK),
                            .number = htonl(number),
                            .result = {.status = htonl((uint32_t)(found ? -ECONNRESET : 0))}};
    send_reply(camera, &header, NULL, 0);
}

/* Control requests: USB 9.4, and those of video devices, UVC 4. */
#ifndef REQUESTS_H
#define REQUESTS_H

#include "camera.h"
#include "descriptors.h"

enum { REQUEST_ANSWER_MAX = DESCRIPTOR_MAX };

struct setup { /* USB 9.3 */
    uint8_t type, request;
    uint16_t value, index, length;
};

/* Carries out a request. `data` is what came with it, or room for REQUEST_ANSWER_MAX bytes of the answer: zeros at
 * first. The answer's length, or -EPIPE where the request is refused. */
int request_answer(struct camera *camera, const struct setup *setup, uint8_t *data);

#endif

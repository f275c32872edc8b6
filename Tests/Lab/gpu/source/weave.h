/* The one shader whose effect is modelled: Mesa's weaving of two fields into a picture. */
#ifndef WEAVE_H
#define WEAVE_H

#include <stddef.h>
#include <stdint.h>

struct file;

/* Executes what matters of a graphics or compute ring's commands. With the lock held. */
void weave_execute(struct file *file, const uint32_t *words, size_t count);

#endif

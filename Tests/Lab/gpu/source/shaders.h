/* The shaders of Mesa's whose effect is modelled: those that clear, copy and weave the planes of surfaces. */
#ifndef SHADERS_H
#define SHADERS_H

#include <stddef.h>
#include <stdint.h>

struct file;

/* Executes what matters of a graphics or compute ring's commands. With the lock held. */
void shaders_execute(struct file *file, const uint32_t *words, size_t count);

#endif

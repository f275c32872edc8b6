/* The encode ring of AMD's VCN 2. */
#ifndef VCN_H
#define VCN_H

#include <stddef.h>
#include <stdint.h>

struct file;

/* Executes what a driver submitted to the ring. With the lock held. */
void vcn_execute(struct file *file, const uint32_t *words, size_t count);
void vcn_free_sessions(struct file *file);

#endif

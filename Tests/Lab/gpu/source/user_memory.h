/* The program's memory, by the addresses that its ioctls point to: what is not mapped is an error, as it is to the
 * kernel, and no crash. */
#ifndef USER_MEMORY_H
#define USER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 0, or -EFAULT with as much done as was possible. */
int user_read(void *to, uint64_t from, uint64_t size);
int user_write(uint64_t to, const void *from, uint64_t size);

/* A copy of an array, which the caller frees; null with a negative errno by `status`. */
void *user_array(uint64_t from, uint64_t count, size_t size, int *status);

/* Whether each page of it can be read. */
bool user_is_mapped(uint64_t from, uint64_t size);

#endif

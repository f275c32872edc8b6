#include "CCrypt.h"
#include <crypt.h>
#include <stdlib.h>
#include <string.h>

// What crypt_ra leaves in its memory can be turned into the password.
static void release(void *data, int size) {
    if (data && size > 0) explicit_bzero(data, (size_t)size);
    free(data);
}

char *camrec_crypt_hash(const char *password, const char *prefix, unsigned long cost) {
    char *setting = crypt_gensalt_ra(prefix, cost, NULL, 0);
    if (!setting) return NULL;
    void *data = NULL;
    int size = 0;
    const char *hash = crypt_ra(password, setting, &data, &size);
    // A failure is a text that begins with '*'.
    char *copy = hash && hash[0] != '*' ? strdup(hash) : NULL;
    release(data, size);
    free(setting);
    return copy;
}

bool camrec_crypt_matches(const char *password, const char *hash) {
    void *data = NULL;
    int size = 0;
    const char *found = crypt_ra(password, hash, &data, &size);
    size_t length = strlen(hash);
    unsigned char difference = 1;
    if (found && found[0] != '*' && strlen(found) == length) {
        difference = 0;
        for (size_t i = 0; i < length; i++) difference |= (unsigned char)(found[i] ^ hash[i]);
    }
    release(data, size);
    return difference == 0;
}

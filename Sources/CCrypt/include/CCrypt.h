#pragma once
#include <stdbool.h>

// A new hash of a password, with a salt of the system's; NULL where there is no memory or randomness. To be freed.
char *camrec_crypt_hash(const char *password, const char *prefix, unsigned long cost);

// Whether a password has a hash. Takes as much time and memory as the hash says, and the same for any password.
bool camrec_crypt_matches(const char *password, const char *hash);

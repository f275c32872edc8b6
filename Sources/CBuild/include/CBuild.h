// What a build says of itself.
#ifndef CBUILD_H
#define CBUILD_H

// The commit that was built; empty if nobody named one.
const char *cbuild_commit(void);

#endif

// GnuTLS, loaded when a stream is encrypted.
//
// Debian's and Ubuntu's libavformat and libsrt need it anyway. Its functions come from dlopen, because most recordings
// encrypt nothing.
#ifndef CTLS_H
#define CTLS_H

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdint.h>
#include <sys/types.h>

// The functions that camrec uses, named without gnutls_.
struct ctls_library {
    __typeof__(&gnutls_certificate_allocate_credentials) allocate_credentials;
    __typeof__(&gnutls_certificate_free_credentials) free_credentials;
    __typeof__(&gnutls_certificate_set_x509_system_trust) trust_system;
    __typeof__(&gnutls_certificate_set_x509_trust_mem) trust_bytes;
    __typeof__(&gnutls_init) init;
    __typeof__(&gnutls_deinit) deinit;
    __typeof__(&gnutls_set_default_priority_append) append_priority;
    __typeof__(&gnutls_credentials_set) set_credentials;
    __typeof__(&gnutls_server_name_set) set_server_name;
    __typeof__(&gnutls_session_set_verify_cert2) verify_server;
    __typeof__(&gnutls_session_get_verify_cert_status) verification;
    __typeof__(&gnutls_transport_set_int2) set_descriptors;
    __typeof__(&gnutls_handshake) handshake;
    __typeof__(&gnutls_record_get_direction) direction;
    __typeof__(&gnutls_record_send) send;
    __typeof__(&gnutls_record_recv) receive;
    __typeof__(&gnutls_bye) bye;
    __typeof__(&gnutls_strerror) describe;
    __typeof__(&gnutls_error_is_fatal) is_fatal;
};

// Loads the library and fills the table. Returns why that failed, until the thread's next call of dlopen, or NULL. The
// library stays loaded for the life of the process. Safe in any thread.
const char *ctls_load(struct ctls_library *library);

// As a client that waits for nothing and raises no SIGPIPE. Zero, or one of GnuTLS's errors.
// What a server's certificate must be: for its name, and for servers. The session keeps a pointer to it, and to the name.
struct ctls_identity {
    gnutls_typed_vdata_st parts[2];
};
void ctls_verify_server(const struct ctls_library *library, gnutls_session_t session, struct ctls_identity *identity, const char *name);

int ctls_init(const struct ctls_library *library, gnutls_session_t *session);

// What send(2) and recv(2) would return, with -errno for errors: -EAGAIN if the socket has no room or no data. After that
// the same bytes must be sent again.
ssize_t ctls_send(const struct ctls_library *library, gnutls_session_t session, const void *bytes, size_t count);
ssize_t ctls_receive(const struct ctls_library *library, gnutls_session_t session, void *bytes, size_t count);

#endif

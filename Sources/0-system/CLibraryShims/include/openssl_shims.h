// What of OpenSSL is a macro and so unseen by Swift.
#ifndef BELFRY_OPENSSL_SHIMS_H
#define BELFRY_OPENSSL_SHIMS_H
#include <features.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>

static inline long belfry_SSL_CTX_set_mode(SSL_CTX *_Nonnull context, long mode) {
  return SSL_CTX_set_mode(context, mode);
}

static inline int belfry_SSL_CTX_set_min_proto_version(SSL_CTX *_Nonnull context, int version) {
  return SSL_CTX_set_min_proto_version(context, version);
}

static inline long belfry_SSL_set_tlsext_host_name(SSL *_Nonnull ssl, const char *_Nonnull name) {
  return SSL_set_tlsext_host_name(ssl, name);
}

static inline EVP_PKEY *_Nullable belfry_EVP_EC_gen_p256(void) { return EVP_EC_gen("P-256"); }

static inline long belfry_BIO_get_mem_data(BIO *_Nonnull bio, char *_Nullable *_Nonnull data) {
  return BIO_get_mem_data(bio, data);
}

#endif

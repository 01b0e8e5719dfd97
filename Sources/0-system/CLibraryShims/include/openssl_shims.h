// What of OpenSSL is a macro and so unseen by Swift.
#ifndef BELFRY_OPENSSL_SHIMS_H
#define BELFRY_OPENSSL_SHIMS_H
#include <features.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

static inline long belfry_SSL_set_tlsext_host_name(SSL *_Nonnull ssl, const char *_Nonnull name) {
  return SSL_set_tlsext_host_name(ssl, name);
}

static inline EVP_PKEY *_Nullable belfry_EVP_EC_gen_p256(void) { return EVP_EC_gen("P-256"); }

// What every TLS context of ours refuses: renegotiation, compression, resumption (a reconnect is a full handshake, so a
// client's certificate is seen each time), and old ciphers.
static inline int belfry_SSL_CTX_harden(SSL_CTX *_Nonnull context) {
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(
      context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 && SSL_CTX_set_num_tickets(context, 0) == 1 &&
         SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1;
}

static inline void belfry_BIO_set_retry_read(BIO *_Nonnull bio) { BIO_set_retry_read(bio); }

static inline void belfry_BIO_clear_retry_flags(BIO *_Nonnull bio) { BIO_clear_retry_flags(bio); }

static inline void belfry_X509V3_set_ctx_nodb(X509V3_CTX *_Nonnull context) { X509V3_set_ctx_nodb(context); }

#endif

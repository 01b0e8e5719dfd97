// The variadic calls of libmicrohttpd in fixed forms.
#ifndef BELFRY_MICROHTTPD_SHIMS_H
#define BELFRY_MICROHTTPD_SHIMS_H
#include <features.h>
#include <microhttpd.h>
#include <string.h>

struct belfry_mhd_settings {
  // Bound and listening; the daemon closes it unless it was quiesced.
  int listening_socket;
  // Threads, each with its own epoll; at least 1.
  unsigned int threads;
  unsigned int connection_limit;
  // Seconds without a byte before a connection is closed; 0 for never.
  unsigned int idle_seconds;
  // The pool of one connection in bytes: head of the request, read buffer, head of the answer.
  size_t memory_limit;
  // Certificates and private key in PEM for TLS (GnuTLS), kept by the caller while the daemon runs; NULL for plain HTTP.
  char *_Nullable identity;
  // Given to every callback.
  void *_Nullable context;
  MHD_AccessHandlerCallback _Nonnull access;
  void *_Nullable (*_Nonnull target)(
      void *_Nullable context, const char *_Nonnull uri, struct MHD_Connection *_Nonnull connection);
  MHD_RequestCompletedCallback _Nonnull completed;
  MHD_NotifyConnectionCallback _Nonnull connection;
};

// Paths and queries stay as they came: the raw target is what we route by.
static inline size_t belfry_mhd_keep_escaped(
    void *_Nullable context, struct MHD_Connection *_Nullable connection, char *_Nonnull text) {
  (void)context;
  (void)connection;
  return strlen(text);
}

static inline struct MHD_Daemon *_Nullable belfry_mhd_start(const struct belfry_mhd_settings *_Nonnull settings) {
  unsigned int flags = MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE;
  flags |= MHD_is_feature_supported(MHD_FEATURE_EPOLL) == MHD_YES ? MHD_USE_EPOLL_INTERNAL_THREAD
                                                                  : MHD_USE_AUTO_INTERNAL_THREAD;
  struct MHD_OptionItem optional[4];
  int count = 0;
  if (settings->threads > 1) {
    optional[count++] = (struct MHD_OptionItem){MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)settings->threads, NULL};
  }
  if (settings->identity != NULL) {
    flags |= MHD_USE_TLS;
    optional[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, settings->identity};
    optional[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, settings->identity};
  }
  optional[count] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
  return MHD_start_daemon(
      flags, 0, NULL, NULL, settings->access, settings->context,                     //
      MHD_OPTION_LISTEN_SOCKET, settings->listening_socket,                          //
      MHD_OPTION_CONNECTION_LIMIT, settings->connection_limit,                       //
      MHD_OPTION_CONNECTION_TIMEOUT, settings->idle_seconds,                         //
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, settings->memory_limit,                    //
      MHD_OPTION_URI_LOG_CALLBACK, settings->target, settings->context,              //
      MHD_OPTION_NOTIFY_COMPLETED, settings->completed, settings->context,           //
      MHD_OPTION_NOTIFY_CONNECTION, settings->connection, settings->context,         //
      MHD_OPTION_UNESCAPE_CALLBACK, &belfry_mhd_keep_escaped, NULL,                  //
      MHD_OPTION_ARRAY, optional, MHD_OPTION_END);
}

static inline int belfry_mhd_has_tls(void) { return MHD_is_feature_supported(MHD_FEATURE_TLS) == MHD_YES; }

static inline int belfry_mhd_descriptor(struct MHD_Connection *_Nonnull connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == NULL ? -1 : info->connect_fd;
}

static inline const struct sockaddr *_Nullable belfry_mhd_peer(struct MHD_Connection *_Nonnull connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info == NULL ? NULL : info->client_addr;
}

// Bytes of the request's head, line included; known once the access handler runs.
static inline size_t belfry_mhd_head_size(struct MHD_Connection *_Nonnull connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info == NULL ? 0 : info->header_size;
}

// What the connection callback stored for this connection.
static inline void *_Nullable belfry_mhd_context(struct MHD_Connection *_Nonnull connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info == NULL ? NULL : info->socket_context;
}

static inline void belfry_mhd_release_upgraded(struct MHD_UpgradeResponseHandle *_Nonnull handle) {
  MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
}

#endif

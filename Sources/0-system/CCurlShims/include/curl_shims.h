// `curl_easy_setopt` and `curl_easy_getinfo` are variadic and so unseen by Swift.
#ifndef BELFRY_CURL_SHIMS_H
#define BELFRY_CURL_SHIMS_H
#include <features.h>
#include <curl/curl.h>

static inline CURLcode belfry_curl_set_long(CURL *_Nonnull handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode belfry_curl_set_pointer(CURL *_Nonnull handle, CURLoption option, const void *_Nullable value) {
  return curl_easy_setopt(handle, option, value);
}

typedef size_t (*belfry_curl_sink)(char *_Nullable bytes, size_t size, size_t count, void *_Nullable context);

static inline CURLcode belfry_curl_set_sink(CURL *_Nonnull handle, CURLoption option, belfry_curl_sink _Nonnull sink) {
  return curl_easy_setopt(handle, option, sink);
}

// Opens the socket for an address, or answers CURL_SOCKET_BAD to refuse it.
typedef curl_socket_t (*belfry_curl_opener)(
    void *_Nullable context, curlsocktype purpose, struct curl_sockaddr *_Nonnull address);

static inline CURLcode belfry_curl_set_opener(CURL *_Nonnull handle, belfry_curl_opener _Nonnull opener) {
  return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, opener);
}

// Called at least once a second during a call; other than 0 ends it with CURLE_ABORTED_BY_CALLBACK.
typedef int (*belfry_curl_watch)(
    void *_Nullable context, curl_off_t down, curl_off_t downloaded, curl_off_t up, curl_off_t uploaded);

static inline CURLcode belfry_curl_set_watch(CURL *_Nonnull handle, belfry_curl_watch _Nonnull watch) {
  curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
  return curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, watch);
}

static inline long belfry_curl_status(CURL *_Nonnull handle) {
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

#endif

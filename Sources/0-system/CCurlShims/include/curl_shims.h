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

static inline long belfry_curl_status(CURL *_Nonnull handle) {
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

#endif

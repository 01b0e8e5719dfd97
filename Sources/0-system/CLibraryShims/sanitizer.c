#include "sanitizer.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BELFRY_SANITIZED 1
#endif
#endif

bool belfry_is_sanitized(void) {
#ifdef BELFRY_SANITIZED
  return true;
#else
  return false;
#endif
}

// A mutex that ThreadSanitizer understands. Swift's own `Mutex` reports races that are not there under it.
#ifndef BELFRY_LOCK_H
#define BELFRY_LOCK_H
#include <features.h>
#include <pthread.h>
#include <stdlib.h>

static inline pthread_mutex_t *_Nonnull belfry_lock_create(void) {
  pthread_mutex_t *lock = (pthread_mutex_t *)malloc(sizeof(pthread_mutex_t));
  if (lock == NULL || pthread_mutex_init(lock, NULL) != 0) {
    abort();
  }
  return lock;
}

static inline void belfry_lock_destroy(pthread_mutex_t *_Nonnull lock) {
  pthread_mutex_destroy(lock);
  free(lock);
}

static inline void belfry_lock_take(pthread_mutex_t *_Nonnull lock) { pthread_mutex_lock(lock); }

static inline void belfry_lock_give(pthread_mutex_t *_Nonnull lock) { pthread_mutex_unlock(lock); }

#endif

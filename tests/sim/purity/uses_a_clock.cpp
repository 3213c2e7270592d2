// Everything that the core must not do, so that the check of its purity is seen to fail.
#include <pthread.h>
#include <time.h>

#include <chrono>
#include <random>

long uses_a_clock() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  std::random_device chance;
  return std::chrono::steady_clock::now().time_since_epoch().count() + now.tv_sec +
         static_cast<long>(chance());
}

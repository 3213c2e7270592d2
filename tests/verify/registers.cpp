// See registers.h.
#include "verify/registers.h"

namespace redlock::verify {

bool later(const Writer& a, const Writer& b) {
  const bool by_fencing = a.fencing != 0 && b.fencing != 0 && a.fencing != b.fencing;
  return by_fencing ? a.fencing > b.fencing : a.granted > b.granted;
}

bool tells_of_a_stale_write(const Write& write) {
  if (!write.accepted || !write.over) return false;
  return later(*write.over, write.by) || (write.over_came_between && later(write.by, *write.over));
}

}  // namespace redlock::verify

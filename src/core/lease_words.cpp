// The words of lease.h.
#include "redlock/lease.h"

namespace redlock {

std::string_view to_string(Released result) {
  switch (result) {
    case Released::released:
      return "released";
    case Released::already_gone:
      return "already gone";
    case Released::unknown:
      return "unknown";
  }
  return "?";
}

}  // namespace redlock

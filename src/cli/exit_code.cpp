// One switch without a default, so that a new error code of the library is a compiler warning here.
#include "cli/exit_code.h"

namespace redlock::cli {

Exit exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid:
      return Exit::usage;
    case ErrorCode::contended:
      return Exit::held;
    case ErrorCode::settling:
    case ErrorCode::too_slow:
    case ErrorCode::no_quorum:
      return Exit::no_quorum;
    case ErrorCode::denied:
      return Exit::denied;
    case ErrorCode::lost:
      return Exit::lost;
    case ErrorCode::cancelled:
    case ErrorCode::overloaded:
    case ErrorCode::closed:
    case ErrorCode::wrong_thread:
      return Exit::internal;
  }
  return Exit::internal;
}

}  // namespace redlock::cli

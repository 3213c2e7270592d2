// Files that the options name: that they can be read, and the password in the first line of one. A password
// is read anew for each connection, so what is checked once must be there the next time, too.
#pragma once

#include <optional>
#include <string>

#include "redlock/result.h"

namespace redlock::redis {

// Why `path` is no regular file that we may read; nothing: it is one.
std::optional<std::string> file_fault(const std::string& path);

// The error is one line and names the path, never what stands in the file.
expected<std::string, std::string> read_password_file(const std::string& path);

}  // namespace redlock::redis

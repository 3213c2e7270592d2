// Passwords: where they come from, and where they must not go: into messages, the process list, and the
// environment of the command that `run` starts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "redlock/result.h"

namespace redlock::cli {

// `text` with the password of every URL in it written as ***.
std::string mask_passwords(std::string_view text);

// Overwrites the passwords of URLs in our own argument memory, which is what ps shows, up to "--": what
// follows is the command's. Best effort: they can be seen until this is called. Call it on a copied command
// line.
void scrub_arguments(int argc, char** argv);

// The first line of the file. The error is one line that begins with `where` the file was named.
expected<std::string, std::string> read_password_file(std::string_view where, const std::string& path);

// The environment for the command, as NAME=value: ours without REDLOCK_PASSWORD, and without REDLOCK_NODES
// when a URL in it holds a password (without one it stays, so that `redlock extend` works inside the
// command); with REDLOCK_NAME and REDLOCK_TOKEN.
std::vector<std::string> command_environment(const char* const* environment, std::string_view name,
                                             std::string_view token);

}  // namespace redlock::cli

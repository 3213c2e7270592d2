// What is fuzzed: each target takes any bytes and aborts where something doesn't hold. They are plain
// functions, so that libFuzzer drives them under clang, and a test replays the corpus under every compiler.
#pragma once

#include <cstddef>
#include <cstdint>

namespace redlock::fuzz {

void node_url(const std::uint8_t* data, std::size_t size);
void duration(const std::uint8_t* data, std::size_t size);
void token_and_name(const std::uint8_t* data, std::size_t size);
void detached(const std::uint8_t* data, std::size_t size);
void decoder(const std::uint8_t* data, std::size_t size);
void guard(const std::uint8_t* data, std::size_t size);
void notice(const std::uint8_t* data, std::size_t size);

}  // namespace redlock::fuzz

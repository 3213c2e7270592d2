// The corpus under every compiler and sanitizer: what fuzzing once found stays found. A target that fails
// aborts.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fuzz/targets.h"

namespace redlock::fuzz {
namespace {

using Target = void (*)(const std::uint8_t*, std::size_t);

void replay(const std::string& name, Target target) {
  int inputs = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(REDLOCK_FUZZ_CORPUS) + "/" + name)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    SCOPED_TRACE(entry.path());
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    target(data, bytes.size());
    // Its beginnings too: a reply or a text that was cut off.
    for (std::size_t size = 0; size < bytes.size() && size < 300; ++size) target(data, size);
    ++inputs;
  }
  EXPECT_GE(inputs, 5) << "the corpus of " << name << " is missing";
}

TEST(Corpus, NodeUrl) {
  replay("node_url", node_url);
}
TEST(Corpus, Duration) {
  replay("duration", duration);
}
TEST(Corpus, Guard) {
  replay("guard", guard);
}
TEST(Corpus, Notice) {
  replay("notice", notice);
}
TEST(Corpus, TokenAndName) {
  replay("token_and_name", token_and_name);
}
TEST(Corpus, Detached) {
  replay("detached", detached);
}
TEST(Corpus, Decoder) {
  replay("decoder", decoder);
}

}  // namespace
}  // namespace redlock::fuzz

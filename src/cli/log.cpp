// spdlog does the work; this file only chooses level, colour and the queue that never blocks.
#include "cli/log.h"

#include <spdlog/async.h>
#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <memory>

#include "cli/secrets.h"

namespace redlock::cli {

namespace {

// Lines; a screenful of trouble per second for a minute.
constexpr std::size_t kQueue = 4096;

spdlog::level::level_enum level(LogLevel level) {
  switch (level) {
    case LogLevel::trace:
      return spdlog::level::trace;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
  }
  return spdlog::level::warn;
}

}  // namespace

std::function<void(LogLevel, std::string_view)> make_log(int verbosity, const Output& output) {
  if (verbosity == 0) return {};
  const auto color = output.colored(STDERR_FILENO) ? spdlog::color_mode::always : spdlog::color_mode::never;
  auto sink = std::make_shared<spdlog::sinks::ansicolor_stderr_sink_mt>(color);
  spdlog::init_thread_pool(kQueue, 1);
  auto logger = std::make_shared<spdlog::async_logger>("redlock", std::move(sink), spdlog::thread_pool(),
                                                       spdlog::async_overflow_policy::overrun_oldest);
  logger->set_level(verbosity == 1 ? spdlog::level::info : spdlog::level::trace);
  logger->flush_on(spdlog::level::trace);
  logger->set_pattern("%T.%e %^%-7l%$ %v");
  spdlog::register_logger(logger);
  return [logger](LogLevel at, std::string_view line) { logger->log(level(at), mask_passwords(line)); };
}

void finish_log() {
  spdlog::shutdown();
}

}  // namespace redlock::cli

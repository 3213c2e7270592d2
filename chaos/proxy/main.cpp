// chaos_proxy: stands between clients and one Redis node, and is as bad a network as it is told to be,
// without any rights. Commands come on standard input and answers go to standard output (commands.h); it ends
// with its input.
#include <uv.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

#include "proxy/commands.h"

namespace redlock::chaos {
namespace {

constexpr int kUsage = 64;
constexpr int kFailed = 69;

struct Input {
  uv_pipe_t pipe{};
  std::string rest;
  Proxy* proxy = nullptr;
};

void answer(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

void took(Input& input, const char* bytes, std::size_t size) {
  input.rest.append(bytes, size);
  for (std::size_t end = 0; (end = input.rest.find('\n')) != std::string::npos; input.rest.erase(0, end + 1))
    answer(obey(*input.proxy, input.rest.substr(0, end)));
}

void follow_input(uv_loop_t* loop, Input& input) {
  uv_pipe_init(loop, &input.pipe, 0);
  if (const int status = uv_pipe_open(&input.pipe, 0); status != 0)
    throw std::runtime_error(std::string("standard input is no pipe: ") + uv_strerror(status));
  input.pipe.data = &input;
  uv_read_start(
      reinterpret_cast<uv_stream_t*>(&input.pipe),
      [](uv_handle_t* /*unused*/, std::size_t /*unused*/, uv_buf_t* out) {
        static std::array<char, 4096> buffer;
        *out = uv_buf_init(buffer.data(), buffer.size());
      },
      [](uv_stream_t* from, ssize_t size, const uv_buf_t* buffer) {
        if (size < 0) return uv_stop(from->loop);
        took(*static_cast<Input*>(from->data), buffer->base, static_cast<std::size_t>(size));
      });
}

int run(const std::string& upstream, const std::vector<std::string>& listen, std::uint64_t seed) {
  sockaddr_in server{};
  if (!read_address(upstream, server)) {
    std::fprintf(stderr, "chaos_proxy: --upstream: '%s' is no address such as 127.0.0.1:6379\n",
                 upstream.c_str());
    return kUsage;
  }
  // libuv leaves it to its users that a write to an end that is gone does not end the process.
  std::signal(SIGPIPE, SIG_IGN);
  std::mt19937_64 random(seed);
  Proxy proxy;
  uv_loop_t* const loop = uv_default_loop();
  std::string ports;
  for (const std::string& text : listen) {
    sockaddr_in at{};
    if (!read_address(text, at)) {
      std::fprintf(stderr, "chaos_proxy: --listen: '%s' is no address such as 127.0.0.1:0\n", text.c_str());
      return kUsage;
    }
    proxy.doors.push_back(std::make_unique<Door>(loop, at, server, proxy.counters, random));
    ports += (ports.empty() ? "" : ",") + std::to_string(proxy.doors.back()->port());
  }
  Input input;
  input.proxy = &proxy;
  follow_input(loop, input);
  answer(R"({"ok":true,"ports":[)" + ports + "]}");
  uv_run(loop, UV_RUN_DEFAULT);
  // Whoever told it what to do is gone, and all sockets go with the process.
  std::_Exit(0);
}

}  // namespace
}  // namespace redlock::chaos

int main(int argc, char** argv) {
  CLI::App app("A bad network before one Redis node; see commands.h for what may be said to it.",
               "chaos_proxy");
  std::string upstream;
  std::vector<std::string> listen{"127.0.0.1:0"};
  std::uint64_t seed = 1;
  app.add_option("--upstream", upstream, "the server's address: 127.0.0.1:6379")->required();
  app.add_option("--listen", listen, "where clients come in, once for each door; port 0: any that is free");
  app.add_option("--seed", seed, "of jitter, loss and truncation");
  try {
    app.parse(argc, argv);
    return redlock::chaos::run(upstream, listen, seed);
  } catch (const CLI::ParseError& fault) {
    return app.exit(fault) == 0 ? 0 : redlock::chaos::kUsage;
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "chaos_proxy: %s\n", fault.what());
    return redlock::chaos::kFailed;
  }
}

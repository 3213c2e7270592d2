// Requests to bytes and bytes to replies. MB/s are of what goes over the wire.
#include <benchmark/benchmark.h>

#include <array>
#include <string>

#include "counting.h"
#include "redis/codec.h"
#include "redis/guard_wire.h"

namespace redlock::bench {

namespace {

using core::RequestKind;
using redis::Decoder;
using redis::Value;

core::Request request(RequestKind kind) {
  core::Request request;
  request.kind = kind;
  request.token = Token{0x0123456789abcdef, 0xfedcba9876543210};
  request.ttl = core::Millis{10'000};
  return request;
}

void count_bytes(benchmark::State& state, std::size_t per_iteration) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * per_iteration));
}

// One request to five nodes, of which four are copies.
void encode(benchmark::State& state, RequestKind kind) {
  redis::Encoder encoder;
  std::array<std::string, 5> out;
  auto what = request(kind);
  const CountAllocations counting(state);
  for (auto _ : state) {
    ++what.token.low;  // as in life: no two attempts share a token
    for (auto& bytes : out) {
      bytes.clear();
      encoder.append(what, "lock:stock:42", false, bytes);
    }
    benchmark::DoNotOptimize(out);
  }
  count_bytes(state, out.size() * out[0].size());
}
BENCHMARK_CAPTURE(encode, acquire, RequestKind::acquire);
BENCHMARK_CAPTURE(encode, extend, RequestKind::extend);
BENCHMARK_CAPTURE(encode, release, RequestKind::release);

void decode(benchmark::State& state, const std::string& bytes, int replies) {
  Decoder decoder;
  Value value;
  const CountAllocations counting(state);
  for (auto _ : state) {
    decoder.feed(bytes);
    for (int i = 0; i < replies; ++i)
      if (decoder.next(value) != Decoder::Status::value) return state.SkipWithError("no reply");
    benchmark::DoNotOptimize(value);
  }
  count_bytes(state, bytes.size());
}

std::string times(int count, const std::string& text) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}
std::string bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

// What a guard check is answered with; INFO is as long as that of a server without replicas.
std::string check_answer() {
  std::string info = "# Replication\r\nrole:master\r\nconnected_slaves:0\r\nmaster_replid:" + times(40, "a") +
                     "\r\nmaster_replid2:" + times(40, "0") + "\r\n# Stats\r\nevicted_keys:0\r\n";
  for (int i = 0; i < 50; ++i) info += "some_other_statistic_" + std::to_string(i) + ":123456\r\n";
  const std::string guard = times(40, "b") + " " + times(40, "a") + " 5 30000 default";
  return "*2\r\n" + bulk(guard) + "$-1\r\n*2\r\n" + bulk("1700000000") + bulk("123456") + bulk(info);
}

void decode_grants(benchmark::State& state) {
  decode(state, times(64, "+OK\r\n"), 64);
}
BENCHMARK(decode_grants);
void decode_counters(benchmark::State& state) {
  decode(state, times(64, ":1700000000123456\r\n"), 64);
}
BENCHMARK(decode_counters);
void decode_check(benchmark::State& state) {
  decode(state, check_answer(), 3);
}
BENCHMARK(decode_check);
void decode_long_value(benchmark::State& state) {
  decode(state, bulk(std::string(std::size_t{64} << 10, 'x')), 1);
}
BENCHMARK(decode_long_value);

void interpret_grant(benchmark::State& state) {
  const auto what = request(RequestKind::acquire);
  Value ok;
  ok.type = Value::Type::status;
  ok.text = "OK";
  const CountAllocations counting(state);
  for (auto _ : state) benchmark::DoNotOptimize(redis::interpret(what, &ok));
}
BENCHMARK(interpret_grant);

}  // namespace

}  // namespace redlock::bench

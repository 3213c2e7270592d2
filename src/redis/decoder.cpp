// Bytes to values: the scanner finds a whole reply, hiredis parses it straight into the caller's Value. No
// tree of hiredis' own is made, so a Value that is used again costs no allocation for the short replies that
// nearly all are.
#include <hiredis/read.h>

#include <cstdlib>
#include <new>
#include <utility>

#include "redis/codec.h"
#include "redis/reply_scanner.h"

namespace redlock::redis {
namespace {

// What is kept of an emptied buffer: more than a loop turn of ordinary replies.
constexpr std::size_t kKeptBytes = 64U << 10;

// The Value that this task fills: the caller's, or the next place in the array around it. hiredis keeps what
// these functions return and hands it back as `parent->obj`.
Value& target(const redisReadTask* task) {
  if (task->parent == nullptr) return *static_cast<Value*>(task->privdata);
  return static_cast<Value*>(task->parent->obj)->items[static_cast<std::size_t>(task->idx)];
}

Value& start(const redisReadTask* task, Value::Type type) {
  auto& value = target(task);
  value.type = type;
  value.integer = 0;
  if (type != Value::Type::array) value.items.clear();  // an array keeps the memory of what is in it
  value.text.clear();
  return value;
}

void* on_string(const redisReadTask* task, char* text, std::size_t size) noexcept {
  auto type = Value::Type::bulk;
  if (task->type == REDIS_REPLY_ERROR) type = Value::Type::error;
  if (task->type == REDIS_REPLY_STATUS) type = Value::Type::status;
  auto& value = start(task, type);
  value.text.assign(text, size);
  return &value;
}

// The count is an int in hiredis 0.14 and a size_t since 1.0.
template <class Count>
void* on_array(const redisReadTask* task, Count count) noexcept {
  auto& value = start(task, Value::Type::array);
  value.items.resize(static_cast<std::size_t>(count));
  return &value;
}

void* on_integer(const redisReadTask* task, long long integer) noexcept {
  auto& value = start(task, Value::Type::integer);
  value.integer = integer;
  return &value;
}

void* on_nil(const redisReadTask* task) noexcept {
  return &start(task, Value::Type::nil);
}

// Named one by one: hiredis 1.0 added members between these, which stay empty since the scanner lets no RESP3
// pass.
redisReplyObjectFunctions* functions() {
  static redisReplyObjectFunctions table = [] {
    redisReplyObjectFunctions f{};
    f.createString = on_string;
    f.createArray = on_array;
    f.createInteger = on_integer;
    f.createNil = on_nil;
    f.freeObject = [](void*) {};
    return f;
  }();
  return &table;
}

struct FreeReader {
  void operator()(redisReader* reader) const { redisReaderFree(reader); }
};
using Reader = std::unique_ptr<redisReader, FreeReader>;

}  // namespace

struct Decoder::Impl {
  explicit Impl(DecoderLimits limits) : scanner(limits), reader(redisReaderCreateWithFunctions(functions())) {
    if (reader == nullptr) throw std::bad_alloc();
  }

  Status broken(std::string why) {
    problem = std::move(why);
    std::string().swap(buffer);  // assignment would keep the memory
    begin = 0;
    return Status::broken;
  }

  ReplyScanner scanner;
  Reader reader;
  std::string buffer;
  std::size_t begin = 0;  // of the first reply in `buffer` that was not taken yet
  std::string problem;
};

Decoder::Decoder(DecoderLimits limits) : impl_(std::make_unique<Impl>(limits)) {}
Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

void Decoder::feed(std::string_view bytes) {
  auto& d = *impl_;
  if (!d.problem.empty()) return;
  // Moving what is left to the front only when it is the smaller half keeps the cost per byte constant.
  if (d.begin > d.buffer.size() / 2) {
    d.buffer.erase(0, d.begin);
    d.begin = 0;
  }
  d.buffer.append(bytes);
}

Decoder::Status Decoder::next(Value& out) {
  auto& d = *impl_;
  if (!d.problem.empty()) return Status::broken;
  const auto rest = std::string_view(d.buffer).substr(d.begin);
  switch (d.scanner.scan(rest)) {
    case ReplyScanner::Status::need_more:
      return Status::need_more;
    case ReplyScanner::Status::broken:
      return d.broken(d.scanner.problem());
    case ReplyScanner::Status::whole:
      break;
  }
  const auto size = d.scanner.size();
  void* reply = nullptr;
  d.reader->privdata = &out;
  if (redisReaderFeed(d.reader.get(), rest.data(), size) != REDIS_OK ||
      redisReaderGetReply(d.reader.get(), &reply) != REDIS_OK)
    return d.broken("no RESP: " + clean_text(d.reader->errstr));
  if (reply == nullptr) return d.broken("a reply without end");
  d.scanner.restart();
  d.begin += size;
  if (d.begin == d.buffer.size()) {
    d.begin = 0;
    if (d.buffer.capacity() > kKeptBytes) std::string().swap(d.buffer);
    d.buffer.clear();
  }
  return Status::value;
}

const std::string& Decoder::problem() const {
  return impl_->problem;
}

}  // namespace redlock::redis

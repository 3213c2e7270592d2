// The only file that knows JSON's parser. Fields of a kind that was not expected count as absent.
#include "event.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace redlock::chaos {
namespace {

using nlohmann::json;

template <class T>
using Field = std::pair<std::string_view, T Event::*>;

constexpr Field<std::int64_t> kNumbers[] = {
    {"t", &Event::t},         {"id", &Event::id},         {"until", &Event::until}, {"fence", &Event::fence},
    {"ready", &Event::ready}, {"ttl_us", &Event::ttl_us}, {"nodes", &Event::count}};
constexpr Field<std::string> kTexts[] = {{"e", &Event::e},
                                         {"w", &Event::w},
                                         {"name", &Event::name},
                                         {"id", &Event::label},
                                         {"error", &Event::error},
                                         {"to", &Event::to},
                                         {"result", &Event::result},
                                         {"seen", &Event::seen},
                                         {"what", &Event::what},
                                         {"kind", &Event::kind},
                                         {"proof", &Event::proof},
                                         {"client", &Event::client},
                                         {"scenario", &Event::scenario}};

class Handler final : public nlohmann::json_sax<json> {
 public:
  explicit Handler(Event& event) : event_(event) {}

  bool null() override { return true; }
  bool boolean(bool value) override {
    if (direct() && key_ == "ok") event_.ok = value;
    return true;
  }
  bool number_integer(number_integer_t value) override { return number(value); }
  bool number_unsigned(number_unsigned_t value) override { return number(static_cast<std::int64_t>(value)); }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t& value) override {
    if (listed() && key_ == "left") event_.left.push_back(value);
    if (!direct()) return true;
    if (key_ == "read") event_.read = value;
    for (const auto& [name, field] : kTexts)
      if (name == key_) event_.*field = value;
    return true;
  }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    ++depth_;
    return true;
  }
  bool key(string_t& value) override {
    if (depth_ == 1) key_ = std::move(value);
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override {
    if (depth_ == 0) return false;  // a line is an object
    ++depth_;
    list_ = depth_ == 2;
    return true;
  }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  [[nodiscard]] bool direct() const { return depth_ == 1; }
  [[nodiscard]] bool listed() const { return depth_ == 2 && list_; }
  bool close() {
    --depth_;
    list_ = false;
    return true;
  }
  bool number(std::int64_t value) {
    if (direct()) {
      for (const auto& [name, field] : kNumbers)
        if (name == key_) event_.*field = value;
    } else if (listed() && key_ == "nodes") {
      event_.nodes.push_back(value);
    }
    return depth_ > 0;
  }

  Event& event_;
  std::string key_;
  int depth_ = 0;
  bool list_ = false;
};

}  // namespace

std::optional<Event> read_event(std::string_view line) {
  std::optional<Event> event(std::in_place);
  Handler handler(*event);
  if (!json::sax_parse(line.begin(), line.end(), &handler)) return std::nullopt;
  return event;
}

}  // namespace redlock::chaos

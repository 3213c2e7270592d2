// `redlock status`, once or again and again. A watch on a terminal paints over its own picture, line by line,
// so that nothing flickers, on the terminal's second screen, so that what stood there before comes back.
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "cli/commands.h"
#include "cli/descriptor.h"
#include "cli/grid.h"
#include "cli/guard_json.h"
#include "cli/status_table.h"
#include "redlock/duration.h"

namespace redlock::cli {

namespace {

using std::chrono::milliseconds;
using Seen = std::optional<expected<admin::Status, Error>>;

Exit verdict(const admin::Status& status) {
  if (status.ready) return Exit::ok;
  const bool denied = std::any_of(status.nodes.begin(), status.nodes.end(), [](const auto& node) {
    return node.cause == Cause::authentication || node.cause == Cause::permission;
  });
  return denied && !status.ready_in ? Exit::denied : Exit::no_quorum;
}

std::string clock_of_wall() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  return fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
}

// The second screen with a hidden cursor, and back, whatever happens.
class Screen {
 public:
  explicit Screen(bool wanted) : wanted_(wanted) { enter(); }
  ~Screen() { leave(); }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  void enter() {
    if (wanted_ && !std::exchange(inside_, true)) write("\033[?1049h\033[?25l\033[2J");
  }
  void leave() {
    if (std::exchange(inside_, false)) write("\033[?25h\033[?1049l");
  }
  // Cut to the size that the terminal has now; what is left of the picture before is wiped behind each line.
  void paint(std::string_view text) {
    const std::size_t known = terminal_height(STDOUT_FILENO);
    const std::size_t height = known == 0 ? SIZE_MAX : known;
    std::string frame = "\033[H\033[?7l";
    for (std::size_t row = 0; row < height && !text.empty(); ++row) {
      const auto end = std::min(text.find('\n'), text.size());
      if (row > 0) frame += "\r\n";
      (frame += text.substr(0, end)) += "\033[K";
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    write(frame + "\033[J\033[?7h");
  }

 private:
  // A terminal that takes no text is not worth a word.
  static void write(std::string_view text) {
    [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
  }
  bool wanted_;
  bool inside_ = false;
};

class Watch {
 public:
  Watch(const ClientOptions& client, milliseconds interval, Signals& signals, Output& output)
      : client_(client),
        interval_(interval),
        signals_(signals),
        output_(output),
        painted_(!output.json && ::isatty(STDOUT_FILENO) == 1 && fancy()),
        screen_(painted_) {}

  int run() {
    while (true) {
      Seen seen = look();
      if (signal_ != 0) return kSignalBase + signal_;
      if (!*seen) {
        screen_.leave();
        return output_.fail(failure(seen->error()));
      }
      last_ = std::move(**seen);
      if (!show()) return number(Exit::internal);
      if (!pause()) return kSignalBase + signal_;
    }
  }

 private:
  static bool fancy() {
    const char* term = std::getenv("TERM");
    return term != nullptr && std::string_view(term) != "dumb";
  }

  // Nodes that do not answer take seconds; signals do not wait for them.
  Seen look() {
    const Descriptor done(::eventfd(0, EFD_CLOEXEC));
    if (!done.valid()) throw std::system_error(errno, std::generic_category(), "eventfd");
    Seen seen;
    std::jthread worker([&] {
      seen = admin::status(client_);
      ::eventfd_write(done.number(), 1);
    });
    wait(done.number(), std::nullopt);
    worker.join();
    return seen;
  }
  // False: it is over.
  bool pause() { return wait(-1, interval_); }

  // Until the descriptor can be read, the time is over, or a signal ends the watch (false).
  bool wait(int descriptor, std::optional<milliseconds> time) {
    const auto until = std::chrono::steady_clock::now() + time.value_or(milliseconds{0});
    pollfd events[] = {{signals_.descriptor(), POLLIN, 0}, {descriptor, POLLIN, 0}};
    while (true) {
      const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now());
      if (time && left <= milliseconds{0}) return true;
      ::poll(events, 2, time ? static_cast<int>(std::min<long long>(left.count(), 60000)) : -1);
      if (!hear()) return false;
      if (descriptor >= 0 && (events[1].revents & POLLIN) != 0) return true;
    }
  }

  bool hear() {
    while (const auto signal = signals_.next()) {
      switch (meaning(*signal)) {
        case SignalMeaning::end:
          signal_ = *signal;
          screen_.leave();
          return false;
        case SignalMeaning::stop:
          screen_.leave();
          signals_.stop(*signal, false);
          screen_.enter();
          repaint();
          break;
        case SignalMeaning::information:  // another size, mostly
        case SignalMeaning::proceed:
          repaint();
          break;
        case SignalMeaning::child:
          break;
      }
    }
    return true;
  }

  void repaint() {
    if (painted_ && last_) screen_.paint(picture());
  }
  std::string picture() const {
    return fmt::format("redlock status at {}, every {}; ^C ends it\n\n{}", seen_at_,
                       format_duration(interval_),
                       status_table(*last_, terminal_width(STDOUT_FILENO), output_.colored(STDOUT_FILENO),
                                    VerdictAt::start));
  }
  bool show() {
    seen_at_ = clock_of_wall();
    if (painted_) {
      repaint();
      return true;
    }
    if (output_.json) return output_.print(status_json(*last_));
    return output_.print(
        fmt::format("{}\n{}\n", seen_at_, status_table(*last_, 0, output_.colored(STDOUT_FILENO))));
  }

  const ClientOptions& client_;
  milliseconds interval_;
  Signals& signals_;
  Output& output_;
  bool painted_;
  Screen screen_;
  int signal_ = 0;
  std::string seen_at_;
  std::optional<admin::Status> last_;
};

}  // namespace

int status(const ClientOptions& client, const StatusArguments& arguments, Signals* signals, Output& output) {
  if (arguments.watch && signals != nullptr) return Watch(client, *arguments.watch, *signals, output).run();
  const auto status = admin::status(client);
  if (!status) return output.fail(failure(status.error()));
  const std::string text =
      output.json ? status_json(*status)
                  : status_table(*status, terminal_width(STDOUT_FILENO), output.colored(STDOUT_FILENO));
  return number(output.print(text) ? verdict(*status) : Exit::internal);
}

}  // namespace redlock::cli

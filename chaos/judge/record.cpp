// Events to sections and faults. Files are read one after the other; within one process the order of its file
// is the order of things, and between processes only times matter.
#include "record.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "verify/validity.h"

namespace redlock::chaos {
namespace {

// What is said of processes by others, which may come before or after the process' own file is read.
struct Word {
  Us at{0};
  std::string what;
  std::string w;
};

class Builder {
 public:
  std::optional<std::string> read_file(const std::filesystem::path& path);
  Record finish();

 private:
  std::optional<std::string> take(const Event& event);
  std::optional<std::string> take_worker(const Event& event);
  std::optional<std::string> take_section(const Event& event);
  void take_grant(Section& section, const Event& event);
  void take_fault(const Event& event);
  void take_scenario(const Event& event);
  void settle_processes();
  void settle_faults();

  Record record_;
  std::vector<Word> words_;
  std::vector<Event> harness_;  // faults and scenarios, which are understood in order of time
  std::string scenario_;
  std::optional<std::size_t> process_;  // that the file belongs to
};

std::string process_of(const std::string& thread) {
  return thread.substr(0, thread.rfind('.'));
}

std::optional<std::string> Builder::read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return path.string() + " cannot be read";
  process_.reset();
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    const bool torn = in.eof();  // without its end, a process was killed while it wrote
    const auto event = read_event(line);
    if (!event && torn) break;
    const auto fault = event ? take(*event) : std::optional<std::string>("not a JSON object");
    if (fault) return path.string() + ":" + std::to_string(number) + ": " + *fault;
  }
  return std::nullopt;
}

std::optional<std::string> Builder::take(const Event& event) {
  if (event.t < 0 || event.e.empty()) return "an event needs a time `t` and a kind `e`";
  record_.last = std::max(record_.last, event.at());
  const std::string& e = event.e;
  if (e == "worker") return take_worker(event);
  if (e == "died" || e == "stopped" || e == "continued") {
    words_.push_back({event.at(), e, event.w});
  } else if (e == "fault" || e == "scenario") {
    if (event.what != "begin" && event.what != "end") return e + " needs `what`: begin or end";
    if (e == "fault" && event.label.empty()) return "fault needs an `id` that is a text";
    harness_.push_back(event);
  } else if (e == "quorum") {
    if (event.ready < 0) return "quorum needs `ready`, the number of nodes that can vote";
    record_.ready[event.at()] = event.ready;
  } else if (e == "keys") {
    record_.looked_for_leftovers = true;
    record_.leftovers.insert(record_.leftovers.end(), event.left.begin(), event.left.end());
  } else if (event.id >= 0 && !event.w.empty()) {
    return take_section(event);
  }
  return std::nullopt;
}

std::optional<std::string> Builder::take_worker(const Event& event) {
  if (event.w.empty() || event.ttl_us <= 0) return "worker needs `w` and `ttl_us`";
  for (const auto& process : record_.processes)
    if (process.w == event.w) return "a worker " + event.w + " is in another file already";
  process_ = record_.processes.size();
  Process process;
  process.w = event.w;
  process.client = event.client;
  process.began = process.last = event.at();
  process.ttl = Us{event.ttl_us};
  record_.processes.push_back(std::move(process));
  record_.nodes = std::max(record_.nodes, event.count);
  return std::nullopt;
}

std::optional<std::string> Builder::take_section(const Event& event) {
  if (!process_) return "before the line `worker`, which has to be the first of its file";
  Process& process = record_.processes[*process_];
  process.last = std::max(process.last, event.at());
  const auto id = static_cast<std::uint64_t>(event.id);
  const auto [place, fresh] = process.sections.try_emplace(id, record_.sections.size());
  if (fresh) {
    if (event.name.empty()) return "the first event of section " + std::to_string(id) + " needs a `name`";
    Section section;
    section.process = *process_;
    section.who = event.w;
    section.id = id;
    section.name = event.name;
    section.ttl = event.ttl_us > 0 ? Us{event.ttl_us} : process.ttl;
    record_.sections.push_back(std::move(section));
  }
  Section& section = record_.sections[place->second];
  const std::string& e = event.e;
  if ((e == "grant" || e == "extend") && event.until < 0) return e + " needs `until`";
  if (e == "wait") {
    section.waited = event.at();
  } else if (e == "grant") {
    take_grant(section, event);
  } else if (e == "fail") {
    section.failed = event.at();
    ++record_.fails[event.error];
  } else if (e == "extend") {
    section.until = std::max(section.until, Us{event.until});
    section.promised_too_much |= verify::promises_too_much(event.at(), section.ttl, Us{event.until});
  } else if (e == "release") {
    section.released = event.at();
  } else if (e == "released") {
    section.let_go = event.at();
    section.clean = event.result == "released" || event.result == "already_gone";
  } else if (e == "lost") {
    section.lost = event.at();
  } else if (e == "write") {
    record_.writings.push_back({place->second, event.to == "fenced", event.ok, event.seen, event.read});
  }
  return std::nullopt;
}

void Builder::take_grant(Section& section, const Event& event) {
  section.granted = event.at();
  section.until = Us{event.until};
  section.fence = event.fence > 0 ? static_cast<std::uint64_t>(event.fence) : 0;
  section.promised_too_much = verify::promises_too_much(event.at(), section.ttl, section.until);
}

void Builder::take_scenario(const Event& event) {
  scenario_ = event.what == "begin" ? event.scenario : "";
}

void Builder::take_fault(const Event& event) {
  auto& faults = record_.faults;
  const auto known =
      std::find_if(faults.begin(), faults.end(), [&](const Fault& f) { return f.id == event.label; });
  if (event.what == "begin") {
    if (known != faults.end()) return record_.problems.push_back(event.label + " began twice");
    faults.push_back(
        {event.label, event.kind, scenario_, event.proof, event.nodes, event.at(), std::nullopt});
    return;
  }
  if (known == faults.end()) return record_.problems.push_back(event.label + " ended and had not begun");
  known->healed = event.at();
  if (!event.proof.empty()) known->proof = event.proof;
}

void Builder::settle_faults() {
  std::stable_sort(harness_.begin(), harness_.end(),
                   [](const Event& a, const Event& b) { return a.t < b.t; });
  for (const auto& event : harness_) event.e == "fault" ? take_fault(event) : take_scenario(event);
  for (const auto& fault : record_.faults) {
    if (!fault.healed) record_.problems.push_back(fault.id + " has no end");
    if (fault.proof.empty()) record_.problems.push_back(fault.id + " has no proof");
  }
}

void Builder::settle_processes() {
  std::stable_sort(words_.begin(), words_.end(), [](const Word& a, const Word& b) { return a.at < b.at; });
  for (const auto& word : words_) {
    const auto process = std::find_if(record_.processes.begin(), record_.processes.end(),
                                      [&](const Process& p) { return p.w == word.w; });
    if (process == record_.processes.end()) {
      record_.problems.push_back("worker " + word.w + " " + word.what + " and has no events file");
    } else if (word.what == "died") {
      if (!process->died) process->died = word.at;
    } else if (word.what == "stopped") {
      process->stopped.push_back({word.at, Us::max()});
    } else if (!process->stopped.empty()) {
      process->stopped.back().to = word.at;
    }
  }
  for (auto& process : record_.processes) {
    process.stopped = verify::merged(std::move(process.stopped));
    // Its claims after that would count for nothing.
    if (process.died && process.last > *process.died)
      record_.problems.push_back("worker " + process.w + " went on after it had died");
  }
}

Record Builder::finish() {
  settle_processes();
  settle_faults();
  for (const auto& [at, ready] : record_.ready) record_.nodes = std::max(record_.nodes, ready);
  return std::move(record_);
}

}  // namespace

std::int64_t Record::ready_at(Us at) const {
  const auto after = ready.upper_bound(at);
  return after == ready.begin() ? nodes : std::prev(after)->second;
}

Spans Record::quorum_ready() const {
  Spans spans;
  Us from{0};
  bool now = true;
  for (const auto& [at, count] : ready) {
    if (now) spans.push_back({from, at});
    from = at;
    now = count >= quorum();
  }
  if (now) spans.push_back({from, Us::max()});
  return verify::merged(std::move(spans));
}

const Section* Record::find(const std::string& who_and_id) const {
  const auto colon = who_and_id.rfind(':');
  if (colon == std::string::npos) return nullptr;
  std::uint64_t id = 0;
  std::from_chars(who_and_id.data() + colon + 1, who_and_id.data() + who_and_id.size(), id);
  const std::string w = process_of(who_and_id.substr(0, colon));
  for (const auto& process : processes) {
    if (process.w != w) continue;
    const auto found = process.sections.find(id);
    return found == process.sections.end() ? nullptr : &sections[found->second];
  }
  return nullptr;
}

expected<Record, std::string> read_record(const std::string& folder) {
  std::error_code fault;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, fault))
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  if (fault) return unexpected<std::string>(folder + ": " + fault.message());
  if (files.empty())
    return unexpected<std::string>(folder + ": no events in it; files named *.jsonl are needed");
  std::sort(files.begin(), files.end());
  Builder builder;
  for (const auto& file : files)
    if (auto wrong = builder.read_file(file)) return unexpected<std::string>(std::move(*wrong));
  return builder.finish();
}

}  // namespace redlock::chaos

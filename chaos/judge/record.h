// The history of one series, put together from its events files: sections and what they did, and beside them
// what the harness did to the nodes. What cannot be understood is an error; what can, and should not be, is
// a problem that the verdict names.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "event.h"
#include "redlock/result.h"
#include "verify/spans.h"

namespace redlock::chaos {

using verify::Span;
using verify::Spans;

struct Process {
  std::string w;
  std::string client;
  Us began{0};
  Us ttl{0};
  std::optional<Us> died;
  Us last{0};  // its last word
  Spans stopped;
  std::unordered_map<std::uint64_t, std::size_t> sections;  // by their numbers
};

// From a call for a lock to the end of it. Times that did not come are nothing.
struct Section {
  std::size_t process = 0;
  std::string who;
  std::uint64_t id = 0;
  std::string name;
  Us ttl{0};
  std::optional<Us> waited;
  std::optional<Us> granted;
  std::optional<Us> failed;
  std::optional<Us> released;  // release was called
  std::optional<Us> let_go;    // and answered
  std::optional<Us> lost;
  Us until{0};
  std::uint64_t fence = 0;
  bool clean = false;  // the answer was that the keys are gone
  bool promised_too_much = false;
};

struct Writing {
  std::size_t section = 0;
  bool fenced = false;
  bool accepted = false;
  std::string seen;
  std::optional<std::string> read;  // unknown, or who; an empty text: nobody
};

struct Fault {
  std::string id;
  std::string kind;
  std::string scenario;  // that it belongs to
  std::string proof;
  std::vector<std::int64_t> nodes;
  Us began{0};
  std::optional<Us> healed;
};

struct Record {
  std::vector<Process> processes;
  std::vector<Section> sections;
  std::vector<Writing> writings;
  std::vector<Fault> faults;
  std::map<std::string, std::uint64_t> fails;
  std::map<Us, std::int64_t> ready;  // how many nodes could vote from then on
  std::int64_t nodes = 0;
  std::vector<std::string> leftovers;
  bool looked_for_leftovers = false;
  std::vector<std::string> problems;
  Us last{0};

  [[nodiscard]] std::int64_t quorum() const { return nodes / 2 + 1; }
  // How many could vote; all of them as long as nothing was said.
  [[nodiscard]] std::int64_t ready_at(Us at) const;
  [[nodiscard]] Spans quorum_ready() const;
  // "w2.5:7"
  [[nodiscard]] const Section* find(const std::string& who_and_id) const;
};

// Reads every *.jsonl in the folder. The error is one line, with file and line number.
expected<Record, std::string> read_record(const std::string& folder);

}  // namespace redlock::chaos

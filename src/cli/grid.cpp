// See grid.h.
#include "cli/grid.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace redlock::cli {

namespace {

constexpr std::size_t kIndent = 2, kGap = 2;

// Code points of UTF-8; what is printed here has no wide ones.
std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::vector<std::size_t> widths(const std::vector<Column>& columns,
                                const std::vector<std::vector<Cell>>& rows) {
  std::vector<std::size_t> width;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::size_t widest = columns_of(columns[i].title);
    for (const auto& row : rows) widest = std::max(widest, columns_of(row[i].text));
    width.push_back(widest);
  }
  return width;
}

std::size_t sum(const std::vector<std::size_t>& width) {
  std::size_t all = kIndent;
  for (const std::size_t each : width) all += each + kGap;
  return all - kGap;
}

winsize size_of(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0) return {};
  return size;
}

}  // namespace

std::string painted(std::string_view text, Paint paint, bool colored) {
  if (!colored || paint == Paint::none || text.empty()) return std::string(text);
  const char* code = paint == Paint::green    ? "\033[32m"
                     : paint == Paint::yellow ? "\033[33m"
                     : paint == Paint::red    ? "\033[31m"
                                              : "\033[2m";
  return code + std::string(text) + "\033[0m";
}

std::string grid(std::vector<Column> columns, std::vector<std::vector<Cell>> rows, std::size_t width,
                 bool colored) {
  auto wide = widths(columns, rows);
  while (width != 0 && sum(wide) > width) {
    const auto least = std::max_element(columns.begin(), columns.end(),
                                        [](const Column& a, const Column& b) { return a.rank < b.rank; });
    if (least->rank == 0) break;
    const auto at = least - columns.begin();
    columns.erase(least);
    wide.erase(wide.begin() + at);
    for (auto& row : rows) row.erase(row.begin() + at);
  }
  const auto line = [&](auto&& cell) {
    std::string text(kIndent, ' ');
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const Cell& here = cell(i);
      const std::string fill(wide[i] - columns_of(here.text), ' ');
      const std::string shown = painted(here.text, here.paint, colored);
      text += columns[i].right ? fill + shown : shown + fill;
      text.append(kGap, ' ');
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::vector<Cell> titles;
  std::transform(columns.begin(), columns.end(), std::back_inserter(titles), [](const Column& column) {
    return Cell{std::string(column.title), Paint::none};
  });
  std::string text = line([&](std::size_t i) -> const Cell& { return titles[i]; });
  for (const auto& row : rows) text += line([&](std::size_t i) -> const Cell& { return row[i]; });
  return text;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::string& line = lines.back();
    if (line.empty() || columns_of(line) + 1 + columns_of(word) <= width)
      (line += line.empty() ? "" : " ") += word;
    else
      lines.emplace_back(word);
  }
  return lines;
}

std::string grouped(const std::vector<std::pair<std::string, std::string>>& said, std::size_t width) {
  std::string text;
  std::vector<std::string_view> told;
  for (const auto& [label, words] : said) {
    if (words.empty() || std::find(told.begin(), told.end(), words) != told.end()) continue;
    told.push_back(words);
    std::string names;
    for (const auto& [other, same] : said)
      if (same == words) (names += names.empty() ? "" : ", ") += other;
    for (const std::string& line : wrapped(names + ": " + words, width > 20 ? width - kIndent : SIZE_MAX))
      text += std::string(kIndent, ' ') + line + "\n";
  }
  return text;
}

std::size_t terminal_width(int descriptor) {
  return size_of(descriptor).ws_col;
}

std::size_t terminal_height(int descriptor) {
  return size_of(descriptor).ws_row;
}

}  // namespace redlock::cli

// A table for people: columns as wide as their widest cell, cells in colour, and on a terminal that is too
// narrow the columns that matter least left out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::cli {

enum class Paint { none, green, yellow, red, dim };

struct Cell {
  std::string text;  // printable; a column of the terminal per code point
  Paint paint = Paint::none;
};

struct Column {
  std::string_view title;
  int rank = 0;  // the highest goes first when there is no room; 0 stays
  bool right = false;
};

std::string painted(std::string_view text, Paint paint, bool colored);

// `width`: of the terminal; 0: as wide as it gets. Lines are indented by two.
std::string grid(std::vector<Column> columns, std::vector<std::vector<Cell>> rows, std::size_t width,
                 bool colored);

// Words broken into lines of at most `width` columns; longer words stand alone. At least one line.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

// Paragraphs indented by two, "A, B: what both say"; nodes that say the same share one, and who says nothing
// has none. `said`: label and text of each node.
std::string grouped(const std::vector<std::pair<std::string, std::string>>& said, std::size_t width);

// Of the terminal on that descriptor; 0 where it is none.
std::size_t terminal_width(int descriptor);
std::size_t terminal_height(int descriptor);

}  // namespace redlock::cli

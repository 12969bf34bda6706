// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <regex>

#include "images.h"

namespace ckpt::tool {

namespace {

struct Arguments {
  std::vector<std::string> paths;
  std::vector<std::uint32_t> pids;
  std::string find;
  std::string regex;
  bool hexdump = false;
  std::string address = "0";
  std::string length = "256";
};

constexpr std::size_t kMaxHits = 10'000;
constexpr std::size_t kOverlap = 4096;  ///< the longest text that a search finds across two pieces

std::uint64_t number(const std::string& option, const std::string& text) {
  const bool hex = text.rfind("0x", 0) == 0;
  const char* begin = text.data() + (hex ? 2 : 0);
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(begin, text.data() + text.size(), value, hex ? 16 : 10);
  if (failure != std::errc() || end != text.data() + text.size())
    throw Error(ErrorCode::invalid_argument, {}, fmt::format("{} {}: a number is wanted", option, text));
  return value;
}

/// One mapping and how much of it is in the checkpoint.
struct Mapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::string protection;
  std::string kind;
  std::string file;
  std::string build_id;
  std::uint64_t dumped_pages = 0;
  std::uint64_t parent_pages = 0;
};

std::string protection_of(std::uint64_t prot, std::uint64_t flags) {
  std::string text = "----";
  if ((prot & 1) != 0) text[0] = 'r';
  if ((prot & 2) != 0) text[1] = 'w';
  if ((prot & 4) != 0) text[2] = 'x';
  text[3] = (flags & 1) != 0 ? 's' : 'p';
  return text;
}

std::string kind_of(std::uint64_t status) {
  static constexpr struct {
    std::uint64_t bit;
    const char* word;
  } kKinds[] = {{0x8, "vdso"},   {0x1000, "vvar"}, {0x4, "vsyscall"}, {0x2, "stack"},    {0x20, "heap"},
                {0x2000, "aio"}, {0x400, "sysv"},  {0x4000, "memfd"}, {0x800, "socket"}, {0x40, "file"},
                {0x80, "file"},  {0x100, "shmem"}, {0x200, "anon"}};
  for (const auto& kind : kKinds)
    if ((status & kind.bit) != 0) return kind.word;
  return "other";
}

// Note bytes in little-endian words, as CRIU packs them.
std::string build_id_of(const Json& file) {
  std::string text;
  for (const Json& word : file["reg"]["build_id"].items())
    for (int shift = 0; shift < 32; shift += 8) text += fmt::format("{:02x}", word.as_uint() >> shift & 0xff);
  return text;
}

std::vector<Mapping> mappings_of(Images& images, std::uint32_t pid, const PageMap& map) {
  std::vector<Mapping> mappings;
  for (const Json& vma : images.only(fmt::format("mm-{}.img", pid))["vmas"].items()) {
    Mapping mapping;
    mapping.start = vma["start"].as_uint();
    mapping.end = vma["end"].as_uint();
    const std::uint64_t status = vma["status"].as_uint();
    mapping.protection = protection_of(vma["prot"].as_uint(), vma["flags"].as_uint());
    mapping.kind = kind_of(status);
    if ((status & 0xc0) != 0) {
      const Json& file = images.file(vma["shmid"].as_uint());
      mapping.file = describe_file(images, file);
      mapping.build_id = build_id_of(file);
    }
    mappings.push_back(std::move(mapping));
  }
  std::sort(mappings.begin(), mappings.end(), [](const Mapping& a, const Mapping& b) { return a.start < b.start; });
  for (const PageRun& run : map.runs) {
    const std::uint64_t end = run.address + run.pages * map.page_size;
    auto mapping = std::upper_bound(mappings.begin(), mappings.end(), run.address,
                                    [](std::uint64_t at, const Mapping& one) { return at < one.end; });
    for (; mapping != mappings.end() && mapping->start < end; ++mapping) {
      const std::uint64_t from = std::max(run.address, mapping->start);
      const std::uint64_t to = std::min(end, mapping->end);
      if (from >= to) continue;
      (run.present ? mapping->dumped_pages : mapping->parent_pages) += (to - from) / map.page_size;
    }
  }
  return mappings;
}

struct Totals {
  std::uint64_t mapped = 0;
  std::uint64_t dumped = 0;
  std::uint64_t shared = 0;
  std::uint64_t in_parent = 0;
};

Totals totals_of(const std::vector<Mapping>& mappings, std::uint64_t page_size) {
  Totals totals;
  for (const Mapping& mapping : mappings) {
    totals.mapped += mapping.end - mapping.start;
    totals.dumped += mapping.dumped_pages * page_size;
    totals.in_parent += mapping.parent_pages * page_size;
    if (mapping.protection[3] == 's') totals.shared += mapping.end - mapping.start;
  }
  return totals;
}

PageMap page_map_of(Images& images, std::uint32_t pid) {
  PageMap map;
  map.pid = pid;
  images.guard([&] { map = read_page_map(images.checkpoint(), pid); });
  return map;
}

bool has_memory(const Process& process) { return !process.state || *process.state != 6; }

std::string table_text(Images& images, const Arguments& arguments) {
  std::string text;
  for (const Process& process : chosen(images.checkpoint(), arguments.pids)) {
    if (!has_memory(process)) continue;
    const PageMap map = page_map_of(images, process.pid);
    const auto mappings = mappings_of(images, process.pid, map);
    const Totals totals = totals_of(mappings, map.page_size);
    text +=
        fmt::format("{}process {} {}: mapped {}, shared {}, in the image {}, in a parent image {}, page size {}\n",
                    text.empty() ? "" : "\n", process.pid, safe(process.comm), human_size(totals.mapped),
                    human_size(totals.shared), human_size(totals.dumped), human_size(totals.in_parent), map.page_size);
    Table table({"START", "END", "SIZE", "PERM", "KIND", "PAGES", "FILE", "BUILD-ID"});
    for (const Mapping& mapping : mappings)
      table.row({fmt::format("{:x}", mapping.start), fmt::format("{:x}", mapping.end),
                 human_size(mapping.end - mapping.start), mapping.protection, mapping.kind,
                 std::to_string(mapping.dumped_pages), mapping.file, mapping.build_id});
    text += table.text();
  }
  return text.empty() ? "No memory.\n" : text;
}

Json table_json(Images& images, const Arguments& arguments) {
  Json list = Json::array();
  for (const Process& process : chosen(images.checkpoint(), arguments.pids)) {
    if (!has_memory(process)) continue;
    const PageMap map = page_map_of(images, process.pid);
    const auto mappings = mappings_of(images, process.pid, map);
    const Totals totals = totals_of(mappings, map.page_size);
    Json maps = Json::array();
    for (const Mapping& mapping : mappings) {
      Json json = Json::object();
      json.set("start", mapping.start).set("end", mapping.end).set("permissions", mapping.protection);
      json.set("kind", mapping.kind).set("pages", mapping.dumped_pages).set("parent_pages", mapping.parent_pages);
      maps.push(
          std::move(json.set("file", optional_text(mapping.file)).set("build_id", optional_text(mapping.build_id))));
    }
    Json json = Json::object();
    json.set("pid", process.pid).set("command", process.comm).set("page_size", map.page_size);
    json.set("mapped_size", totals.mapped).set("shared_size", totals.shared);
    json.set("memory_size", totals.dumped).set("parent_size", totals.in_parent);
    list.push(std::move(json.set("mappings", std::move(maps))));
  }
  Json json = Json::object();
  return json.set("archive", images.checkpoint().name()).set("memory", std::move(list));
}

struct Hit {
  std::uint32_t pid = 0;
  std::uint64_t address = 0;
  std::string text;
};

/// Looks through memory that comes by in pieces; a match may lie across two that join.
class Search {
 public:
  explicit Search(const Arguments& arguments) : find_(arguments.find) {
    if (arguments.regex.empty()) return;
    try {
      regex_.emplace(arguments.regex, std::regex::optimize);
    } catch (const std::regex_error& error) {
      throw Error(ErrorCode::invalid_argument, {}, fmt::format("--regex {}: {}", arguments.regex, error.what()));
    }
  }

  void take(std::uint32_t pid, std::uint64_t address, std::string_view piece) {
    if (pid != pid_ || address != start_ + window_.size()) {
      pid_ = pid;
      start_ = address;
      window_.clear();
      told_ = 0;
    }
    window_ += piece;
    look();
    if (window_.size() <= kOverlap) return;
    start_ += window_.size() - kOverlap;
    window_.erase(0, window_.size() - kOverlap);
  }

  std::vector<Hit> hits;

 private:
  void look() { regex_ ? look_for_regex() : look_for_text(); }

  void note(std::size_t at, std::size_t size) {
    if (start_ + at < told_ || hits.size() >= kMaxHits) return;
    told_ = start_ + at + std::max<std::size_t>(size, 1);
    hits.push_back({pid_, start_ + at, window_.substr(at, size)});
  }

  void look_for_text() {
    for (std::size_t at = window_.find(find_); at != std::string::npos; at = window_.find(find_, at + 1))
      note(at, find_.size());
  }

  // Runs of text only: std::regex recurses once a letter, and binary memory has no lines to stop it.
  void look_for_regex() {
    constexpr std::size_t kLongest = kOverlap;
    for (std::size_t begin = 0; begin < window_.size();) {
      std::size_t end = begin;
      while (end < window_.size() && end - begin < kLongest && is_text(window_[end])) ++end;
      const auto* from = window_.data() + begin;
      for (std::cregex_iterator match(from, window_.data() + end, *regex_), none; match != none; ++match)
        if (match->length() > 0)
          note(begin + static_cast<std::size_t>(match->position()), static_cast<std::size_t>(match->length()));
      begin = end + 1;
    }
  }

  static bool is_text(char letter) { return static_cast<unsigned char>(letter) >= 0x20 || letter == '\t'; }

  std::string find_;
  std::optional<std::regex> regex_;
  std::uint32_t pid_ = 0;
  std::uint64_t start_ = 0;
  std::uint64_t told_ = 0;
  std::string window_;
};

std::vector<Hit> search(Images& images, const Arguments& arguments) {
  Search search(arguments);
  std::vector<std::uint32_t> pids;
  for (const Process& process : chosen(images.checkpoint(), arguments.pids)) {
    if (!has_memory(process)) continue;
    images.guard([&] {
      const PageMap map = read_page_map(images.checkpoint(), process.pid);
      pids.push_back(process.pid);
    });
  }
  images.guard([&] {
    stream_memory(images.checkpoint(), pids, [&](std::uint32_t pid, std::uint64_t address, std::string_view piece) {
      search.take(pid, address, piece);
    });
  });
  return std::move(search.hits);
}

std::string search_text(Images& images, const Arguments& arguments) {
  Table table({"PID", "ADDRESS", "TEXT"});
  for (const Hit& hit : search(images, arguments))
    table.row({std::to_string(hit.pid), fmt::format("{:x}", hit.address), hit.text});
  return table.empty() ? "Not found.\n" : table.text();
}

Json search_json(Images& images, const Arguments& arguments) {
  Json list = Json::array();
  for (const Hit& hit : search(images, arguments)) {
    Json json = Json::object();
    list.push(std::move(json.set("pid", hit.pid).set("address", hit.address).set("text", hit.text)));
  }
  Json json = Json::object();
  return json.set("archive", images.checkpoint().name()).set("matches", std::move(list));
}

std::vector<MemoryPiece> dumped(Images& images, const Arguments& arguments) {
  if (arguments.pids.size() != 1) throw Error(ErrorCode::invalid_argument, {}, "--hexdump needs one --pid");
  chosen(images.checkpoint(), arguments.pids);
  const std::uint64_t address = number("--address", arguments.address);
  const std::uint64_t length = number("--length", arguments.length);
  return read_memory(images.checkpoint(), {{arguments.pids.front(), address, length}}).front();
}

std::string hexdump_line(std::uint64_t address, std::string_view bytes) {
  std::string hex;
  std::string text;
  for (std::size_t i = 0; i < 16; ++i) {
    if (i == 8) hex += ' ';
    hex += i < bytes.size() ? fmt::format(" {:02x}", static_cast<unsigned char>(bytes[i])) : "   ";
    if (i < bytes.size()) text += bytes[i] >= 0x20 && bytes[i] < 0x7f ? bytes[i] : '.';
  }
  return fmt::format("{:016x} {}  |{}|\n", address, hex, text);
}

std::string hexdump_text(Images& images, const Arguments& arguments) {
  std::string text;
  for (const MemoryPiece& piece : dumped(images, arguments))
    for (std::size_t i = 0; i < piece.bytes.size(); i += 16)
      text += hexdump_line(piece.address + i, std::string_view(piece.bytes).substr(i, 16));
  return text.empty() ? "No page of it is in the image.\n" : text;
}

Json hexdump_json(Images& images, const Arguments& arguments) {
  Json list = Json::array();
  for (const MemoryPiece& piece : dumped(images, arguments)) {
    std::string hex;
    for (const char byte : piece.bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    Json json = Json::object();
    list.push(std::move(json.set("address", piece.address).set("hex", hex)));
  }
  Json json = Json::object();
  json.set("archive", images.checkpoint().name()).set("pid", arguments.pids.front());
  return json.set("pieces", std::move(list));
}

int run(const Arguments& arguments, Context context) {
  const bool searching = !arguments.find.empty() || !arguments.regex.empty();
  if (int{arguments.hexdump} + int{!arguments.find.empty()} + int{!arguments.regex.empty()} > 1)
    throw Error(ErrorCode::invalid_argument, {}, "choose one of --find, --regex and --hexdump");
  const auto json = searching ? search_json : arguments.hexdump ? hexdump_json : table_json;
  const auto text = searching ? search_text : arguments.hexdump ? hexdump_text : table_text;
  return report_images(context, arguments.paths,
                       {"ckpt.memory/1", [&](Images& images) { return json(images, arguments); },
                        [&](Images& images) { return text(images, arguments); }});
}

}  // namespace

Action add_memory(CLI::App& app, Context context) {
  CLI::App* command =
      app.add_subcommand("memory", "List mappings with what was dumped of them; search and show memory");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("ARCHIVE", arguments->paths, "Checkpoint archives")->required();
  add_pid_option(*command, arguments->pids);
  command->add_option("--find", arguments->find, "Where this text is in the dumped pages")->type_name("TEXT");
  command->add_option("--regex", arguments->regex, "Where text matches this ECMAScript expression")->type_name("RE");
  command->add_flag("--hexdump", arguments->hexdump, "Bytes of one process, see --address and --length");
  command->add_option("--address", arguments->address, "First byte of --hexdump, decimal or 0x...")->type_name("A");
  command->add_option("--length", arguments->length, "Bytes that --hexdump shows (default 256)")->type_name("N");
  return [arguments, context] { return run(*arguments, context); };
}

}  // namespace ckpt::tool

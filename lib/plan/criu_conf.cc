// SPDX-License-Identifier: Apache-2.0
#include "plan/criu_conf.h"

#include <algorithm>
#include <array>

#include "base/escape.h"
#include "ckpt/file.h"

namespace ckpt {

namespace {

Finding problem(const std::string& code, const std::string& file, std::size_t line, const std::string& message) {
  return {code, Severity::note, file + ":" + std::to_string(line), message, {}, false};
}

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string_view without_leading_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

/// Reads one line the way CRIU does; what it refuses becomes a problem.
class Line {
 public:
  Line(CriuOptions& out, const std::string& file, std::size_t number) : out_(out), file_(file), number_(number) {}

  void read(std::string_view line) {
    line = without_leading_blanks(line);
    if (line.empty() || line.front() == '#') return;
    if (line.find('\r') != std::string_view::npos) say("the carriage return becomes part of the value");
    // The name ends at the first space of the whole line, and only without any at the first tab.
    std::size_t end = line.find(' ');
    if (end == std::string_view::npos) end = line.find('\t');
    if (end == std::string_view::npos) return add_literal(line);
    read_value(std::string(line.substr(0, end)), without_leading_blanks(line.substr(end)));
  }

 private:
  void say(const std::string& message) { out_.problems.push_back(problem("conf.syntax", file_, number_, message)); }

  void add(std::string name, std::string value, bool has_value) {
    out_.options.push_back({std::move(name), std::move(value), has_value, number_});
  }

  // No separator: the line goes to the option parser as it is, "name=value" included.
  void add_literal(std::string_view line) {
    const std::size_t sign = line.find('=');
    if (sign == std::string_view::npos) return add(std::string(line), {}, false);
    add(std::string(line.substr(0, sign)), std::string(line.substr(sign + 1)), true);
  }

  void read_value(std::string name, std::string_view text) {
    if (text.empty() || text.front() == '#') return add(std::move(name), {}, false);
    std::string value;
    if (text.front() == '"') {
      if (!read_quoted(text, value)) return;
    } else {
      value = std::string(text);
    }
    // The cut at the first # comes last, inside quotes too.
    if (const std::size_t hash = value.find('#'); hash != std::string::npos) {
      say("the value is cut at the #");
      value.resize(hash);
    }
    while (!value.empty() && is_blank(value.back())) value.pop_back();
    if (value.find_first_of(" \t") != std::string::npos)
      return say("CRIU refuses a value with blanks, and with it the whole file");
    add(std::move(name), std::move(value), true);
  }

  bool read_quoted(std::string_view text, std::string& value) {
    std::size_t at = 1;
    for (; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] == '\\' && at + 1 < text.size() && text[at + 1] == '"') ++at;
      value += text[at];
    }
    if (at >= text.size()) {
      say("the quote is not closed; CRIU refuses the whole file");
      return false;
    }
    const std::string_view rest = without_leading_blanks(text.substr(at + 1));
    if (!rest.empty() && rest.front() != '#') {
      say("text behind the closing quote; CRIU refuses the whole file");
      return false;
    }
    return true;
  }

  CriuOptions& out_;
  const std::string& file_;
  std::size_t number_;
};

[[noreturn]] void refuse(const std::string& key, const std::string& value, const std::string& reason,
                         const std::string& hint = {}) {
  throw Error(ErrorCode::invalid_argument, {}, "mnt[" + key + "]:" + value + " cannot be listed: " + reason, hint);
}

std::string octal_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f && c != '\\' && c != '\'') {
      out += c;
      continue;
    }
    out += '\\';
    for (int shift = 6; shift >= 0; shift -= 3) out += static_cast<char>('0' + (byte >> shift & 7));
  }
  return out;
}

// Control characters are spelled out in bash's $'...' form, so that a pair stays on its line.
std::string shell_quoted(const std::string& text) {
  const bool control = std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (control) return "$'" + octal_escaped(text) + "'";
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

std::string blank_name(char c) {
  switch (c) {
    case ' ':
      return "a space";
    case '\t':
      return "a tab";
    case '\r':
      return "a carriage return";
    case '\n':
      return "a line feed";
    default:
      return "a control character";
  }
}

}  // namespace

CriuOptions parse_criu_options(const std::string& text, const std::string& file) {
  CriuOptions out;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    Line(out, file, ++number).read(std::string_view(text).substr(at, end - at));
    at = end + 1;
  }
  return out;
}

CriuConf criu_conf_from(const CriuOptions& options, const std::string& file) {
  CriuConf conf;
  conf.file = file;
  conf.problems = options.problems;
  for (const CriuOption& option : options.options) {
    const bool legacy = option.name == "ext-mount-map";
    if (option.name != "external" && !legacy) continue;
    if (legacy && option.value == "auto") {
      conf.autodetect = true;
      continue;
    }
    constexpr std::string_view kOpen = "mnt[";
    if (!legacy && option.value.compare(0, kOpen.size(), kOpen) != 0) continue;
    const std::string rest = legacy ? option.value : option.value.substr(kOpen.size());
    if (!legacy && (!rest.empty() && rest.front() == ']')) {
      conf.autodetect = true;
      if (rest.size() > 3)
        conf.problems.push_back(problem("conf.flags", file, option.line, "CRIU reads only the first flag of mnt[]"));
      continue;
    }
    const std::size_t close = legacy ? rest.find(':') : rest.find("]:");
    if (close == std::string::npos) {
      conf.problems.push_back(problem("conf.no_value", file, option.line, "no value: CRIU treats it as no mapping"));
      continue;
    }
    conf.externals.push_back({rest.substr(0, close), rest.substr(close + (legacy ? 1 : 2)), option.line});
  }
  return conf;
}

CriuConf load_criu_conf(const std::string& path) { return parse_criu_conf(read_text_file(path), path); }

CriuConf parse_criu_conf(const std::string& text, const std::string& file) {
  return criu_conf_from(parse_criu_options(text, file), file);
}

std::vector<Finding> lint_criu_conf(const CriuConf& conf, const Checkpoint& checkpoint, const Target& target) {
  std::vector<Finding> findings = conf.problems;
  for (const ExternalLine& line : conf.externals) {
    const auto say = [&](const std::string& code, const std::string& message) {
      findings.push_back(problem(code, conf.file, line.line, message));
    };
    const auto& mounts = checkpoint.mounts();
    const bool used = std::any_of(mounts.begin(), mounts.end(), [&](const Mount& mount) {
      return mount.key_kind != KeyKind::internal && mount.ext_key == line.key;
    });
    if (!used) say("conf.unused", "mnt[" + line.key + "] matches no mount of this archive");
    const bool with_slash = std::any_of(mounts.begin(), mounts.end(), [&](const Mount& mount) {
      return mount.ext_key && *mount.ext_key == "/" + line.key;
    });
    if (with_slash) say("conf.slash", "the archive's key is /" + line.key + ", with a leading slash");
    if (line.value.empty() || line.value.front() != '/')
      say("conf.value", "the value is not an absolute path: " + line.value);
    if (!target.has_root()) continue;
    const auto file = target.look(line.value);
    if (!file)
      say("conf.missing", line.value + " does not exist on the target");
    else if (file->kind == RootedFile::Kind::symlink)
      say("conf.symlink", line.value + " is a symlink, which CRIU does not follow");
  }
  return findings;
}

void check_external_pair(const std::string& key, const std::string& value) {
  const std::string shown = escape_text(key);
  if (key.empty()) refuse(shown, value, "an empty key would ask CRIU to detect mounts");
  if (key.rfind("CRIU:", 0) == 0) refuse(shown, value, "keys that begin with CRIU: are reserved");
  if (key.front() == ']') refuse(shown, value, "a key that begins with \"]\" reads as an empty one");
  if (key.find("]:") != std::string::npos) refuse(shown, value, "the key holds \"]:\", where CRIU ends a key");
  if (key.find('\0') != std::string::npos || value.find('\0') != std::string::npos)
    refuse(shown, escape_text(value), "it holds a NUL, which no argument can carry");
  if (value.empty() || value.front() != '/') refuse(shown, value, "the source is not an absolute path");
}

std::string external_conf_line(const std::string& key, const std::string& value) {
  check_external_pair(key, value);
  for (const std::string* text : {&key, &value}) {
    const std::size_t bad = text->find_first_of(" \t\r\n\v\f");
    if (bad == std::string::npos) continue;
    refuse(escape_text(key), escape_text(value),
           "a line of a CRIU configuration cannot hold " + blank_name((*text)[bad]),
           "--externals-format args or json can carry it");
  }
  return "external=mnt[" + key + "]:" + value;
}

std::string external_args_lines(const std::string& key, const std::string& value) {
  check_external_pair(key, value);
  return "--external " + shell_quoted("mnt[" + key + "]:" + value) + "\n";
}

}  // namespace ckpt

// SPDX-License-Identifier: Apache-2.0
#include "common/app.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "ckpt/text.h"

namespace ckpt::tool {

namespace {

std::string version_text(const std::string& name) {
  return fmt::format("{0} {1} (libckpt {1}, CRIU images up to {2}, CDI up to {3})", name, library_version(),
                     known_criu_version(), known_cdi_version());
}

// CLI11 appends a pointer to --help in some of its texts; the first line is the message.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

int parse(Console& console, CLI::App& app, std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(std::move(arguments));
    return -1;
  } catch (const CLI::CallForHelp&) {
    console.write_raw(app.help());
  } catch (const CLI::CallForAllHelp&) {
    console.write_raw(app.help("", CLI::AppFormatMode::All));
  } catch (const CLI::CallForVersion&) {
    console.write_raw(version_text(app.get_name()) + "\n");
  } catch (const CLI::ParseError& error) {
    console.error(first_line(error.what()));
    console.hint(app.get_name() + " --help lists the options");
    return kTrouble;
  }
  return kYes;
}

}  // namespace

void add_common_options(CLI::App& app, CommonOptions& options) {
  app.add_flag("--json", options.json, "Print one JSON document instead of text (same as --format json)");
  app.add_option("--format", options.format, "Output format: text or json")->type_name("FORMAT");
  app.add_flag("-q,--quiet", options.quiet, "Print nothing on standard output, only set the exit status");
  app.add_flag("-v,--verbose", options.verbose, "Say more");
  app.add_option("--color", options.color, "Colour the text: auto (on a terminal), always or never")->type_name("WHEN");
  app.set_version_flag("--version", version_text(app.get_name()), "Print the version of the tool and what it knows");
}

void apply_common_options(CommonOptions& options, Console& console) {
  if (options.format == "json")
    options.json = true;
  else if (!options.format.empty() && options.format != "text" && options.format != "table")
    throw Error(ErrorCode::invalid_argument, {}, "--format " + options.format + ": choose text or json");
  if (options.color == "always")
    console.set_color(ColorMode::always);
  else if (options.color == "never")
    console.set_color(ColorMode::never);
  else if (options.color != "auto")
    throw Error(ErrorCode::invalid_argument, {}, "--color " + options.color + ": choose auto, always or never");
  if (options.quiet) console.set_quiet();
}

int run_tool(Console& console, CLI::App& app, std::vector<std::string> arguments, const std::function<int()>& body) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is a write that fails, and says so
  std::signal(SIGXFSZ, SIG_IGN);  // and so is a file over the limit
  try {
    const int parsed = parse(console, app, std::move(arguments));
    if (parsed >= 0) return parsed;
    const int status = body();
    console.flush();
    return status;
  } catch (const Error& error) {
    console.error(error);
  } catch (const std::bad_alloc&) {
    console.error("out of memory");
  } catch (const std::exception& error) {
    console.error(error.what());
  }
  return kTrouble;
}

}  // namespace ckpt::tool

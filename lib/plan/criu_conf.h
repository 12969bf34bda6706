// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ckpt/criu_conf.h"

namespace ckpt {

/// One line of a CRIU configuration as CRIU's parser sees it.
struct CriuOption {
  std::string name;
  std::string value;
  bool has_value = false;
  std::size_t line = 0;
};

struct CriuOptions {
  std::vector<CriuOption> options;
  std::vector<Finding> problems;
};

/// The grammar of CRIU 4.2's config.c, not of its manual page (criu.md 4.2).
CriuOptions parse_criu_options(const std::string& text, const std::string& file);
/// Its external mounts.
CriuConf criu_conf_from(const CriuOptions& options, const std::string& file);

/// Refuses what no format can carry: an empty or reserved key, a key with "]:", a NUL, an empty or relative value.
/// Throws Error(invalid_argument) with the reason.
void check_external_pair(const std::string& key, const std::string& value);
/// `external=mnt[KEY]:VALUE`, without the line end. That form has no separator, so CRIU takes the line literally.
/// Throws Error(invalid_argument) for what would be read as something else; the hint names the other formats.
std::string external_conf_line(const std::string& key, const std::string& value);
/// `--external` and the shell-quoted `mnt[KEY]:VALUE`, with the line end.
std::string external_args_lines(const std::string& key, const std::string& value);

}  // namespace ckpt

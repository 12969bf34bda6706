// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ckpt/check.h"
#include "ckpt/export.h"

namespace ckpt {

/// A CRIU configuration file, read as CRIU 4.2 reads it (criu.md 4.2).
struct CriuConf {
  std::string file;                     ///< empty: there is none
  std::vector<ExternalLine> externals;  ///< mnt[KEY]:VALUE in file order; of one key the last counts
  bool autodetect = false;              ///< mnt[]
  std::vector<Finding> problems;        ///< lines that CRIU refuses or reads differently from what they seem to say
};

/// Throws Error(io | limit_exceeded).
CKPT_API CriuConf load_criu_conf(const std::string& path);

/// The same of a text; `file` names it in problems.
CKPT_API CriuConf parse_criu_conf(const std::string& text, const std::string& file);

/// The file's problems, lines that match no mount of the archive, keys without a leading slash, values that are missing
/// or a symlink under the target's root.
CKPT_API std::vector<Finding> lint_criu_conf(const CriuConf& conf, const Checkpoint& checkpoint, const Target& target);

}  // namespace ckpt

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ckpt::cuda {

/// transparent_hugepage=always for the whole system while this lives: the driver's host memory is then faulted in by
/// 2 MiB. The setting before is written to run/ckpt-gpu first, so that it can be put back after a killed run.
class HugePages {
 public:
  /// Throws Error(io) when the setting cannot be changed, and Error(conflict) while another run has changed it.
  explicit HugePages(std::string state_root);
  ~HugePages();
  HugePages(const HugePages&) = delete;
  HugePages& operator=(const HugePages&) = delete;

 private:
  std::string state_root_;
  int lock_ = -1;
};

/// Puts back what a killed run left, unless a living one still needs it; the setting, or empty for none.
std::string recover_hugepages(const std::string& state_root);

}  // namespace ckpt::cuda

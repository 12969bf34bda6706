// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace ckpt::testing {

/// A file of testdata/. The source directory comes from CKPT_SOURCE_DIR, which ctest sets.
std::string testdata(const std::string& name);

/// Every real checkpoint archive that is at hand: testdata/archives, and the larger collection that stands beside the
/// checkout or that CKPT_ARCHIVES names. Sorted; never empty, since testdata has some.
std::vector<std::string> real_archives();

/// A file of that larger collection, or an empty string when it is not there (a test then reports a skip).
std::string collection_file(const std::string& name);

}  // namespace ckpt::testing

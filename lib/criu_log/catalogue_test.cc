// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "ckpt/explain.h"
#include "testing/paths.h"

using namespace ckpt;

namespace {

Explanation explained(const FailureKind& kind) {
  return explain_log(testing::testdata("logs/" + std::string(kind.code) + ".log"));
}

bool relates(const Explanation& explanation, std::string_view code) {
  return std::any_of(explanation.related.begin(), explanation.related.end(),
                     [&](const Diagnosis& diagnosis) { return diagnosis.code == code; });
}

}  // namespace

TEST_CASE("every cause of the catalogue is found in its log, above the noise and the fallout") {
  for (const FailureKind& kind : failure_kinds()) {
    if (kind.weight != FailureWeight::cause) continue;
    CAPTURE(kind.code);
    const Explanation explanation = explained(kind);
    REQUIRE(explanation.cause);
    CHECK(explanation.cause->code == kind.code);
    CHECK_FALSE(explanation.cause->cause.empty());
    CHECK_FALSE(explanation.cause->remedy.empty());
    for (const std::string* text : {&explanation.cause->cause, &explanation.cause->remedy})
      CHECK(text->find_first_of("{}") == std::string::npos);
  }
}

TEST_CASE("warnings stand beside the cause that they explain") {
  for (const FailureKind& kind : failure_kinds()) {
    if (kind.weight != FailureWeight::warning) continue;
    CAPTURE(kind.code);
    const Explanation explanation = explained(kind);
    REQUIRE(explanation.cause);
    CHECK(explanation.cause->code == "device.nvidia");
    CHECK(relates(explanation, kind.code));
  }
}

TEST_CASE("wrappers are no cause") {
  for (const FailureKind& kind : failure_kinds()) {
    if (kind.weight != FailureWeight::wrapper) continue;
    CAPTURE(kind.code);
    const Explanation explanation = explained(kind);
    CHECK_FALSE(explanation.cause);
    CHECK(relates(explanation, kind.code));
  }
}

TEST_CASE("fallout and noise explain nothing") {
  for (const FailureKind& kind : failure_kinds()) {
    if (kind.weight > FailureWeight::fallout) continue;
    CAPTURE(kind.code);
    const Explanation explanation = explained(kind);
    CHECK_FALSE(explanation.cause);
    CHECK(explanation.related.empty());
    CHECK_FALSE(explanation.first_error);
    CHECK(explanation.noise >= (kind.weight == FailureWeight::noise ? 1 : 0));
    CHECK(explanation.outcome == (kind.weight == FailureWeight::noise ? LogOutcome::succeeded : LogOutcome::failed));
  }
}

TEST_CASE("the catalogue is well formed") {
  std::set<std::string_view> codes;
  for (const FailureKind& kind : failure_kinds()) {
    CAPTURE(kind.code);
    CHECK(codes.insert(kind.code).second);
    CHECK(kind.code.find('.') != std::string_view::npos);
    CHECK_FALSE(kind.patterns.empty());
    CHECK_FALSE(kind.cause.empty());
    CHECK(kind.remedy.empty() == (kind.weight <= FailureWeight::fallout));
  }
  CHECK(codes.size() >= 100);
}

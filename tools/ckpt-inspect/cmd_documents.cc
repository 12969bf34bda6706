// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "images.h"

namespace ckpt::tool {

namespace {

using Text = const std::optional<std::string>& (Checkpoint::*)() const noexcept;

Json document_of(Images& images, Text text, const char* member) {
  const auto& raw = (images.checkpoint().*text)();
  if (!raw)
    throw Error(ErrorCode::invalid_argument, Where{images.checkpoint().name(), member, {}, {}}, "no such member");
  return Json::parse(*raw, images.checkpoint().name(), member);
}

Action add_document(CLI::App& app, Context context, const char* verb, Text text) {
  const std::string member = std::string(verb) + ".dump";
  CLI::App* command = app.add_subcommand(verb, "Show " + member + ", indented");
  const auto paths = std::make_shared<std::vector<std::string>>();
  command->add_option("ARCHIVE", *paths, "Checkpoint archives; - is standard input")->required();
  return [paths, context, verb, text, member] {
    const auto json = [&](Images& images) {
      Json report = Json::object();
      report.set("archive", images.checkpoint().name());
      return report.set(verb, document_of(images, text, member.c_str()));
    };
    return report_images(context, *paths, {std::string("ckpt.") + verb + "/1", json, [&](Images& images) {
                                             return document_of(images, text, member.c_str()).dump(2) + "\n";
                                           }});
  };
}

}  // namespace

Action add_config(CLI::App& app, Context context) {
  return add_document(app, context, "config", &Checkpoint::config_text);
}

Action add_spec(CLI::App& app, Context context) { return add_document(app, context, "spec", &Checkpoint::spec_text); }

}  // namespace ckpt::tool

// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "images.h"

namespace ckpt::tool {

namespace {

struct Arguments {
  std::vector<std::string> paths;
  std::vector<std::uint32_t> pids;
  bool values = false;
};

struct Variable {
  std::string name;
  std::string value;
};

Variable variable_of(const std::string& text) {
  const std::size_t sign = text.find('=');
  return {text.substr(0, sign), sign == std::string::npos ? std::string() : text.substr(sign + 1)};
}

std::vector<Variable> of_spec(Images& images) {
  std::vector<Variable> variables;
  if (!images.checkpoint().spec_text()) return variables;
  images.guard([&] {
    const Json spec = Json::parse(*images.checkpoint().spec_text(), images.checkpoint().name(), "spec.dump");
    for (const Json& text : spec["process"]["env"].items()) variables.push_back(variable_of(text.as_string()));
  });
  return variables;
}

std::vector<ProcessArguments> of_processes(Images& images, const Arguments& arguments) {
  std::vector<ProcessArguments> wanted;
  images.guard([&] {
    const auto processes = chosen(images.checkpoint(), arguments.pids);
    for (ProcessArguments& one : read_arguments(images.checkpoint()))
      for (const Process& process : processes)
        if (process.pid == one.pid) wanted.push_back(std::move(one));
  });
  return wanted;
}

std::string env_text(Images& images, const Arguments& arguments) {
  Table table({"FROM", "NAME", "VALUE"});
  const auto value = [&](const Variable& variable) {
    return arguments.values ? variable.value : std::string("(hidden)");
  };
  for (const Variable& variable : of_spec(images)) table.row({"spec.dump", variable.name, value(variable)});
  for (const ProcessArguments& one : of_processes(images, arguments))
    for (const std::string& text : one.environment) {
      const Variable variable = variable_of(text);
      table.row({"process " + std::to_string(one.pid), variable.name, value(variable)});
    }
  return table.empty() ? "No environment.\n" : table.text();
}

Json env_json(Images& images, const Arguments& arguments) {
  const auto list_of = [&](const std::vector<Variable>& variables) {
    Json list = Json::array();
    for (const Variable& variable : variables) {
      Json json = Json::object();
      json.set("name", variable.name);
      if (arguments.values) json.set("value", variable.value);
      list.push(std::move(json));
    }
    return list;
  };
  Json processes = Json::array();
  for (const ProcessArguments& one : of_processes(images, arguments)) {
    std::vector<Variable> variables;
    for (const std::string& text : one.environment) variables.push_back(variable_of(text));
    Json json = Json::object();
    processes.push(std::move(json.set("pid", one.pid).set("environment_variables", list_of(variables))));
  }
  Json json = Json::object();
  json.set("archive", images.checkpoint().name()).set("spec", list_of(of_spec(images)));
  return json.set("processes", std::move(processes));
}

}  // namespace

Action add_env(CLI::App& app, Context context) {
  CLI::App* command = app.add_subcommand("env", "List environment variables of spec.dump and of the processes");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("ARCHIVE", arguments->paths, "Checkpoint archives; - is standard input")->required();
  command->add_flag("--values", arguments->values, "Values too; they are hidden otherwise");
  add_pid_option(*command, arguments->pids);
  return [arguments, context] {
    return report_images(context, arguments->paths,
                         {"ckpt.env/1", [&](Images& images) { return env_json(images, *arguments); },
                          [&](Images& images) { return env_text(images, *arguments); }, Keep::arguments});
  };
}

}  // namespace ckpt::tool

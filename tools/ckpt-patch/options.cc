// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <vector>

#include "ckpt/file.h"

namespace ckpt::tool {

namespace {

[[noreturn]] void usage(const std::string& text, const std::string& hint = {}) {
  throw Error(ErrorCode::invalid_argument, {}, text, hint);
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat one {};
  struct stat other {};
  return ::stat(a.c_str(), &one) == 0 && ::stat(b.c_str(), &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

/// A file on the command line and what it is for.
struct NamedFile {
  std::string option;
  std::string path;
};

// Where a path leads, even if its last part does not exist yet.
std::string place_of(const std::string& path) {
  std::error_code failure;
  const std::filesystem::path place = std::filesystem::weakly_canonical(std::filesystem::absolute(path), failure);
  return failure ? path : place.string();
}

bool is_one_file(const std::string& a, const std::string& b) { return same_file(a, b) || place_of(a) == place_of(b); }

bool lies_inside(const std::string& path, const std::string& directory) {
  const std::string place = place_of(path);
  const std::string above = place_of(directory) + "/";
  return std::filesystem::is_directory(directory) && place.compare(0, above.size(), above) == 0;
}

// A directory that is read stands for everything in it.
void refuse_overwrite(const NamedFile& output, const NamedFile& input) {
  if (is_one_file(output.path, input.path))
    usage(output.option + " and " + input.option + " name the same file, " + output.path);
  if (lies_inside(output.path, input.path))
    usage(output.option + " lies inside the directory that " + input.option + " names, " + input.path);
}

std::vector<NamedFile> without_streams(std::vector<NamedFile> files) {
  files.erase(std::remove_if(files.begin(), files.end(),
                             [](const NamedFile& file) { return file.path.empty() || file.path == "-"; }),
              files.end());
  return files;
}

void settle_files(const PatchArguments& arguments) {
  const auto outputs = without_streams({{"-o", arguments.output},
                                        {"--externals", arguments.externals},
                                        {"--plan", arguments.plan},
                                        {"--oci-archive", arguments.oci_archive}});
  std::vector<NamedFile> all_inputs = {
      {"--files", arguments.target.files}, {"--apply", arguments.apply}, {"--node", arguments.target.node}};
  for (const std::string& cdi : arguments.target.cdi) all_inputs.push_back({"--cdi", cdi});
  const auto inputs = without_streams(std::move(all_inputs));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) refuse_overwrite(outputs[i], outputs[k]);
    for (const NamedFile& input : inputs) refuse_overwrite(outputs[i], input);
    const bool replaces_input = arguments.in_place && outputs[i].option == "-o";
    if (!arguments.input.empty() && arguments.input != "-" && !replaces_input)
      refuse_overwrite(outputs[i], {"IN", arguments.input});
  }
}

// What --in-place replaces is the archive, not a symlink to it.
std::string behind_links(const std::string& path) {
  std::error_code failure;
  if (!std::filesystem::is_symlink(path, failure)) return path;
  const std::filesystem::path real = std::filesystem::canonical(path, failure);
  return failure ? path : real.string();
}

void settle_output(PatchArguments& arguments) {
  if (arguments.in_place) {
    if (arguments.input == "-") usage("--in-place cannot rewrite standard input");
    if (!arguments.output.empty() && !same_file(arguments.input, arguments.output))
      usage("--in-place and -o name different files", "leave one of them out");
    arguments.output = behind_links(arguments.input);
  } else if (!arguments.output.empty() && arguments.output != "-" && same_file(arguments.input, arguments.output)) {
    usage("the output is the input", "--in-place replaces the input once the new archive is complete");
  }
  const bool has_result = !arguments.output.empty() || !arguments.externals.empty() || !arguments.plan.empty() ||
                          wants_image(arguments);
  if (!has_result && !arguments.dry_run)
    usage("nothing to do: no -o, --in-place, --externals, --plan or --dry-run", "-o OUT writes the patched archive");
}

void settle_image(const PatchArguments& arguments) {
  if (!arguments.oci.empty() && !arguments.oci_archive.empty()) usage("--oci and --oci-archive: choose one");
  if (!wants_image(arguments) && (arguments.delta || !arguments.image_name.empty()))
    usage("--delta and --image-name describe an image: --oci LAYOUT or --oci-archive FILE");
  if (arguments.oci_archive == "-") usage("--oci-archive needs a file: its index is written last");
  if (wants_image(arguments)) image_options(arguments);
}

void settle_stdout(const PatchArguments& arguments, const CommonOptions& common) {
  const int owners = (arguments.output == "-" ? 1 : 0) + (arguments.externals == "-" ? 1 : 0) +
                     (arguments.plan == "-" ? 1 : 0) + (common.json ? 1 : 0);
  if (owners > 1) usage("standard output can carry one thing only: of -o -, --externals -, --plan - and --json one");
}

void settle_apply(const PatchArguments& arguments) {
  if (arguments.apply.empty()) return;
  const TargetArguments& target = arguments.target;
  if (!target.cdi.empty() || !target.maps.empty() || !target.drop_mounts.empty() || target.drop_hooks ||
      !target.gpu_maps.empty() || target.in_image || target.strip_cdi_annotations || !target.node.empty() ||
      !arguments.plan.empty())
    usage("--apply takes the plan as it is: no --cdi, --node, --map, --gpu-map, --drop-mount, --drop-hooks, --in-image, "
          "--strip-cdi-annotations or --plan with it");
}

void refuse_without_input(const PatchArguments& arguments) {
  if (!arguments.output.empty() || wants_image(arguments) || arguments.in_place || !arguments.plan.empty() || !arguments.apply.empty() ||
      arguments.dry_run)
    usage("no archive was named", "ckpt-patch IN -o OUT --cdi TARGET.yaml");
  if (arguments.externals.empty()) usage("no archive was named, and no --externals for a whole node's list");
}

}  // namespace

void add_patch_options(CLI::App& app, PatchArguments& arguments) {
  app.add_option("IN", arguments.input, "Checkpoint archive; - is standard input");
  app.add_option("-o,--output", arguments.output, "The patched archive; - is standard output")->type_name("OUT");
  app.add_flag("--in-place", arguments.in_place, "Replace IN by the patched archive, once that is complete");
  add_target_options(app, arguments.target);
  add_rule_options(app, arguments.target);
  app.add_option("--externals", arguments.externals, "Write the list of external mounts; - is standard output")
      ->type_name("FILE");
  app.add_option("--externals-format", arguments.externals_format, "conf (CRIU configuration), args or json")
      ->type_name("FORMAT");
  app.add_option("--for", arguments.purpose, "Without IN: a list for restore or for dump")->type_name("PURPOSE");
  app.add_flag("--auto", arguments.autodetect,
               "With --for dump: let CRIU detect external mounts instead of naming them");
  app.add_option("--plan", arguments.plan, "Write the plan as JSON")->type_name("FILE");
  app.add_option("--apply", arguments.apply, "Carry out a plan made earlier for this archive")->type_name("PLAN");
  app.add_flag("-n,--dry-run", arguments.dry_run,
               "Write nothing; print the plan and exit as `ckpt-inspect check` does");
  app.add_flag("--force", arguments.force, "Go past blockers, with a warning for each");
  app.add_flag("--record", arguments.record, "Keep the original spec.dump in the archive as spec.dump.orig");
  app.add_option("--compress", arguments.compress, "none, gzip or zstd, and perhaps :LEVEL (default: as IN)")
      ->type_name("CODEC");
  app.add_option("--oci", arguments.oci,
                 "Write a checkpoint image into an OCI layout, with the annotations of CRI-O, containerd and Podman")
      ->type_name("LAYOUT[:TAG]");
  app.add_option("--oci-archive", arguments.oci_archive, "Write a checkpoint image as an oci-archive")
      ->type_name("FILE");
  app.add_option("--image-name", arguments.image_name,
                 "Full name of the image (default: the tag, or localhost/checkpoint-CONTAINER:latest)")
      ->type_name("NAME");
  app.add_flag("--delta", arguments.delta,
               "IN is a checkpoint image: add one small layer with the changed members to it");
  app.add_flag("--verify{edited}", arguments.verify,
               "Read back headers and edited members (default), or --verify=full");
}

void settle_arguments(PatchArguments& arguments, const CommonOptions& common) {
  if (arguments.purpose != "restore" && arguments.purpose != "dump")
    usage("--for " + arguments.purpose + ": choose restore or dump");
  if (arguments.autodetect && arguments.purpose != "dump") usage("--auto goes with --for dump");
  external_format(arguments);
  rewrite_options(arguments);
  settle_stdout(arguments, common);
  settle_image(arguments);
  if (arguments.input.empty()) {
    refuse_without_input(arguments);
    return settle_files(arguments);
  }
  if (arguments.purpose == "dump") usage("--for dump describes a whole node, without IN");
  settle_apply(arguments);
  settle_output(arguments);
  settle_files(arguments);
}

bool wants_image(const PatchArguments& arguments) {
  return !arguments.oci.empty() || !arguments.oci_archive.empty();
}

ImageOptions image_options(const PatchArguments& arguments) {
  ImageOptions options;
  options.rewrite = rewrite_options(arguments);
  options.layers = arguments.delta ? ImageOptions::Layers::delta : ImageOptions::Layers::whole;
  options.name = arguments.image_name;
  if (!arguments.oci_archive.empty()) {
    options.form = ImageOptions::Form::archive;
    options.path = arguments.oci_archive;
  } else {
    // A tag may be a full name with colons of its own, as skopeo takes it.
    const std::size_t colon = arguments.oci.find(':');
    options.path = arguments.oci.substr(0, colon);
    if (colon != std::string::npos && options.name.empty()) options.name = arguments.oci.substr(colon + 1);
    if (options.path.empty() || (colon != std::string::npos && colon + 1 == arguments.oci.size()))
      usage("--oci " + arguments.oci + ": LAYOUT or LAYOUT:TAG is wanted");
  }
  const bool plain = std::all_of(options.name.begin(), options.name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("._-/:@").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (!plain) usage("the image name \"" + options.name + "\" is no reference");
  return options;
}

RewriteOptions rewrite_options(const PatchArguments& arguments) {
  RewriteOptions options;
  if (arguments.verify == "full")
    options.verify = VerifyLevel::full;
  else if (!arguments.verify.empty() && arguments.verify != "edited" && arguments.verify != "true")
    usage("--verify=" + arguments.verify + ": choose edited or full");
  if (arguments.compress.empty()) return options;
  const std::size_t colon = arguments.compress.find(':');
  const std::string codec = arguments.compress.substr(0, colon);
  if (codec == "none")
    options.compression = Compression::none;
  else if (codec == "gzip")
    options.compression = Compression::gzip;
  else if (codec == "zstd")
    options.compression = Compression::zstd;
  else
    usage("--compress " + arguments.compress + ": choose none, gzip or zstd");
  if (colon == std::string::npos) return options;
  const std::string level = arguments.compress.substr(colon + 1);
  int number = 0;
  const auto [end, failure] = std::from_chars(level.data(), level.data() + level.size(), number);
  const int highest = codec == "gzip" ? 9 : 19;
  if (codec == "none" || failure != std::errc() || end != level.data() + level.size() || number < 1 || number > highest)
    usage("--compress " + arguments.compress + ": gzip takes a level of 1 to 9, zstd of 1 to 19, none takes none");
  options.level = number;
  return options;
}

ExternalFormat external_format(const PatchArguments& arguments) {
  if (arguments.externals_format == "conf") return ExternalFormat::conf;
  if (arguments.externals_format == "args") return ExternalFormat::args;
  if (arguments.externals_format == "json") return ExternalFormat::json;
  usage("--externals-format " + arguments.externals_format + ": choose conf, args or json");
}

void write_text(const std::string& path, const std::string& text, Console& console) {
  if (path == "-")
    console.write_raw(text);
  else
    write_file(path, text);
}

}  // namespace ckpt::tool

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ckpt {

/// A member name without leading "./" and trailing "/"; "." for the top. Does not judge "..": see is_safe_name.
std::string clean_member_name(std::string_view raw);

/// False for names that leave the archive (absolute, a ".." part), are empty or hold a NUL.
bool is_safe_name(std::string_view raw);

/// An absolute path with repeated slashes, "." parts and a trailing slash removed ("//usr/./lib/" -> "/usr/lib").
/// ".." parts are kept: only the file system knows what they mean.
std::string clean_path(std::string_view path);

/// clean_path with the well-known symlinks of container images followed, so that two spellings of one place
/// compare equal: /lib, /lib32, /lib64, /libx32, /bin, /sbin -> /usr/..., /var/run -> /run, /var/lock -> /run/lock.
std::string canonical_path(std::string_view path);

/// The part after the last slash.
std::string_view base_name(std::string_view path);
/// The part before the last slash; "/" for a file at the top.
std::string_view directory_name(std::string_view path);

/// True when `path` is `directory` or lies below it, by whole components.
bool is_within(std::string_view path, std::string_view directory);

}  // namespace ckpt

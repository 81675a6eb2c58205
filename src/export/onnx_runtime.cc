// SPDX-License-Identifier: BSD-3-Clause
#include "src/export/onnx_runtime.h"

#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "src/base/file.h"

extern char** environ;

namespace aerocast {
namespace {

namespace fs = std::filesystem;

Error SystemError(const std::string& what, int number) {
  return {ErrorCode::kIo, what + ": " + std::strerror(number)};
}

std::string_view Bytes(std::span<const float> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

// Starts `node script --serve` with `socket` as standard input and output; 0 or an error number.
int Spawn(const std::string& script, int socket, pid_t& process) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, socket, STDOUT_FILENO);
  // The command line handles Ctrl-C on a thread and blocks it elsewhere; node must not inherit
  // that.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const char* arguments[] = {"node", script.c_str(), "--serve", nullptr};
  const int error =
      posix_spawnp(&process, "node", &actions, &attributes, const_cast<char**>(arguments), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

Result<std::unique_ptr<OnnxRuntime>> OnnxRuntime::Start(const fs::path& folder) {
  std::error_code code;
  const fs::path script = folder / "run.mjs";
  if (!fs::exists(script, code)) {
    return Error{ErrorCode::kNotFound, script.string() + ": not there, expected tools/onnx"};
  }
  if (!fs::exists(folder / "node_modules" / "onnxruntime-node", code)) {
    return Error{ErrorCode::kNotFound, folder.string() +
                                           ": ONNX Runtime is not installed, run there: " +
                                           "ONNXRUNTIME_NODE_INSTALL=skip npm ci"};
  }
  std::unique_ptr<OnnxRuntime> runtime(new OnnxRuntime);
  std::string scratch = (fs::temp_directory_path() / "aerocast-onnx-XXXXXX").string();
  if (mkdtemp(scratch.data()) == nullptr) return SystemError(scratch, errno);
  runtime->scratch_ = scratch;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return SystemError("cannot make a socket", errno);
  }
  runtime->socket_ = ends[0];
  const int error = Spawn(script.string(), ends[1], runtime->process_);
  close(ends[1]);
  if (error != 0) {
    runtime->process_ = -1;
    return SystemError("cannot start node (Node.js)", error);
  }
  return runtime;
}

OnnxRuntime::~OnnxRuntime() {
  if (socket_ >= 0) close(socket_);  // the end of its input ends the process
  if (process_ > 0) {
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  std::error_code code;
  if (!scratch_.empty()) fs::remove_all(scratch_, code);
}

Result<std::string> OnnxRuntime::Ask(const std::string& line) {
  const std::string sent = line + "\n";
  if (send(socket_, sent.data(), sent.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(sent.size())) {
    return SystemError("node (ONNX Runtime) does not listen", errno);
  }
  std::size_t end;
  while ((end = received_.find('\n')) == std::string::npos) {
    char buffer[4096];
    const ssize_t n = read(socket_, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Error{ErrorCode::kIo, "node (ONNX Runtime) ended without an answer"};
    received_.append(buffer, static_cast<std::size_t>(n));
  }
  const std::string answer = received_.substr(0, end);
  received_.erase(0, end + 1);
  if (answer.starts_with("ok")) return answer.substr(2);
  return Error{ErrorCode::kBadFormat, "ONNX Runtime: " + answer};
}

Status OnnxRuntime::Load(const std::string& name, std::string_view onnx, int threads) {
  const fs::path file = File(name + ".onnx");
  if (Status written = WriteFileAtomically(file, onnx); !written.ok()) return written;
  const Result<std::string> answer =
      Ask("load " + name + " " + std::to_string(threads) + " " + file.string());
  std::error_code code;
  fs::remove(file, code);  // the session has its own copy
  return answer.ok() ? Status() : answer.error();
}

Status OnnxRuntime::Feed(const std::string& name, std::span<const float> tokens, int windows) {
  const fs::path file = File("tokens");
  if (Status written = WriteFileAtomically(file, Bytes(tokens)); !written.ok()) return written;
  const Result<std::string> answer =
      Ask("feed " + name + " " + std::to_string(windows) + " " + file.string());
  return answer.ok() ? Status() : answer.error();
}

Result<std::vector<float>> OnnxRuntime::Run(const std::string& name, int windows) {
  const fs::path file = File("heads");
  const Result<std::string> answer =
      Ask("run " + name + " " + std::to_string(windows) + " " + file.string());
  if (!answer.ok()) return answer.error();
  const Result<std::string> bytes = ReadFile(file);
  if (!bytes.ok()) return bytes.error();
  std::vector<float> heads(bytes->size() / sizeof(float));
  std::memcpy(heads.data(), bytes->data(), heads.size() * sizeof(float));
  return heads;
}

Result<std::vector<double>> OnnxRuntime::Time(const std::string& name, int windows, int runs) {
  const Result<std::string> answer =
      Ask("time " + name + " " + std::to_string(windows) + " " + std::to_string(runs));
  if (!answer.ok()) return answer.error();
  std::istringstream in(*answer);
  std::vector<double> seconds;
  for (double ns; in >> ns;) seconds.push_back(1e-9 * ns);
  if (seconds.size() == static_cast<std::size_t>(runs)) return seconds;
  return Error{ErrorCode::kBadFormat, "ONNX Runtime: " + std::to_string(seconds.size()) +
                                          " times, expected " + std::to_string(runs)};
}

}  // namespace aerocast

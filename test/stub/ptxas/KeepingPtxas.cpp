// The program `ptxas` of the test level ptx: runs ptxas and keeps its cubins and messages by text and options.
//
// The file `settings` beside it has three lines: the path of ptxas, the folder of what is kept, and `brief` or `full`.
// In brief runs a text that was assembled for sm_80 is not assembled again for a newer GPU, which accepts what an older
// one does. The other direction would hide instructions that sm_80 lacks.
// SPDX-License-Identifier: MIT
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::string_view kOldest = "--gpu-name=sm_80";

struct Settings {
  std::string ptxas, folder, selection;
};

struct Call {
  std::string input, output, target, options;
};

} // namespace

static Settings readSettings(std::string_view program) {
  std::ifstream file(std::string(program.substr(0, program.rfind('/'))) + "/settings");
  Settings settings;
  std::getline(file, settings.ptxas);
  std::getline(file, settings.folder);
  std::getline(file, settings.selection);
  return settings;
}

/// The first word without a dash is the input.
static Call parse(const std::vector<std::string> &arguments) {
  Call call;
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::string &word = arguments[i];
    if (word == "-o" && i + 1 < arguments.size())
      call.output = arguments[++i];
    else if (word.starts_with("--gpu-name="))
      call.target = word;
    else if (!word.starts_with("-") && call.input.empty())
      call.input = word;
    else
      call.options += word + " ";
  }
  return call;
}

static std::string contents(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

static bool exists(const std::string &path) { return access(path.c_str(), R_OK) == 0; }

static std::string keyOf(const std::string &text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  char digits[33];
  std::snprintf(digits, sizeof digits, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return digits;
}

/// The text without the line that begins with `directive`.
static std::string without(std::string text, std::string_view directive) {
  const size_t begin = text.find("\n" + std::string(directive) + " ");
  if (begin != std::string::npos)
    text.erase(begin, text.find('\n', begin + 1) - begin);
  return text;
}

/// The exit status of ptxas, which writes the cubin and its messages to these files.
static int assemble(const Settings &settings, std::vector<std::string> arguments, const std::string &cubin,
                    const std::string &log) {
  for (size_t i = 1; i + 1 < arguments.size(); ++i)
    if (arguments[i] == "-o")
      arguments[i + 1] = cubin;
  std::vector<char *> words;
  for (std::string &argument : arguments)
    words.push_back(argument.data());
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  int status = 0;
  if (posix_spawn(&child, settings.ptxas.c_str(), &actions, nullptr, words.data(), environ) != 0)
    return 127;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int serve(const Call &call, const std::string &cubin, const std::string &messages) {
  const std::string code = contents(cubin);
  std::ofstream(call.output, std::ios::binary) << code;
  std::fwrite(messages.data(), 1, messages.size(), stdout);
  return code.empty() ? 1 : 0;
}

int main(int count, char **words) {
  std::vector<std::string> arguments(words, words + count);
  const Settings settings = readSettings(arguments[0]);
  const Call call = parse(arguments);
  arguments[0] = settings.ptxas;
  if (call.input.empty() || call.output.empty()) { // --version
    execv(settings.ptxas.c_str(), words);
    return 127;
  }
  const std::string text = contents(call.input);
  const std::string own = settings.folder + "/" + keyOf(call.target + " " + call.options + "\n" + text);
  const std::string body = settings.folder + "/" + keyOf(without(without(text, ".target"), ".version"));
  if (exists(own + ".cubin"))
    return serve(call, own + ".cubin", contents(own + ".log"));
  if (settings.selection == "brief" && call.target != kOldest && exists(body + ".cubin"))
    return serve(call, body + ".cubin", /*messages=*/"");

  const std::string mine = own + "." + std::to_string(getpid());
  const int status = assemble(settings, arguments, mine, mine + ".log");
  const std::string messages = contents(mine + ".log");
  if (status != 0) {
    std::fwrite(messages.data(), 1, messages.size(), stdout);
    unlink((mine + ".log").c_str());
    return status;
  }
  std::rename((mine + ".log").c_str(), (own + ".log").c_str());
  std::rename(mine.c_str(), (own + ".cubin").c_str());
  if (call.target == kOldest)
    (void)link((own + ".cubin").c_str(), (body + ".cubin").c_str());
  return serve(call, own + ".cubin", messages);
}

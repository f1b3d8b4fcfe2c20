// `nereid`: compiles kernels and manages the cache and the installation, without Python.
// SPDX-License-Identifier: MIT
#include "tools/nereid/Commands.h"

#include "compiler/driver/Compiler.h"
#include "compiler/support/NearestName.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <iostream>

#include "tools/nereid/Version.inc"

using namespace nereid::tools;

static constexpr int kUsageStatus = 2;

/// Names the options that unexpected ones were meant to be.
static void suggestOptions(const CLI::App &command) {
  for (const std::string &argument : command.remaining()) {
    const llvm::StringRef word = llvm::StringRef(argument).split('=').first;
    nereid::support::NearestName nearest(word);
    for (const CLI::Option *option : command.get_options())
      for (const std::string &name : option->get_lnames())
        nearest.add("--" + name);
    if (!nearest.name().empty())
      std::cerr << word.str() << nearest.hint() << "\n";
  }
}

static CLI::App *addProfile(CLI::App &app, ProfileArguments &arguments) {
  CLI::App *profile = app.add_subcommand("profile", "run a kernel on a simulated GPU and print its counters by line");
  profile->add_option("source", arguments.source, "as of `compile`, or FILE.artifact, as it writes it")->required();
  profile->add_option("--signature", arguments.signature, "as of `compile`");
  profile->add_option("--grid", arguments.grid, "programs of each axis: 98, or 16,16,4")->required();
  profile->add_option("--arguments", arguments.values,
                      "one entry per parameter that is not a constant: the shape of an array (4096x781), which gets "
                      "random elements, or the value of a number");
  profile->add_option("--device", arguments.device, "sim, or sim:80 for another compute capability")
      ->capture_default_str();
  profile->add_option("--gpu", arguments.gpu, "the GPU of occupancy and estimate: H200, H100, A100");
  addOptions(*profile, arguments.options);
  profile->add_option("--seed", arguments.seed, "of the random elements and of the order of threads")
      ->capture_default_str();
  profile->add_flag("--json", arguments.json, "print JSON");
  return profile;
}

int main(int argc, char **argv) {
  CLI::App app{"Nereid: compiles Triton kernels without Python.", "nereid"};
  app.require_subcommand(0, 1); // without a subcommand, their list is printed
  app.set_version_flag("--version",
                       [] { return "nereid " NEREID_VERSION " (build " + nereid::driver::buildId() + ")"; });
  std::function<int()> command;

  CompileArguments arguments;
  std::string abi = "plain";
  CLI::App *compile =
      app.add_subcommand("compile", "compile one kernel of a .py file, or the one of a .ttir or .ttgir file");
  compile
      ->add_option("source", arguments.source,
                   "FILE.py:KERNEL (the kernel's name may be left out if there is one), FILE.ttir, or FILE.ttgir")
      ->required();
  compile->add_option("--signature", arguments.signature,
                      "of a .py file's kernel, one entry per parameter: *fp32:16 (pointer, divisible by 16), *fp32:S "
                      "(into less than 2 GiB), i32, fp32, 1024 "
                      "(constant) ...");
  compile
      ->add_option(
          "--target", arguments.target,
          "cpu, cpu:ARCH such as cpu:znver3, cuda:90 for compute capability 9.0, cuda:sm_90 for code that later "
          "GPUs run, too, or hip:gfx942; cuda:90+sim and hip:gfx942+sim for the simulated GPU")
      ->capture_default_str();
  compile
      ->add_option(
          "--emit", arguments.emit,
          "stages to write: source, ttir, plan, llir, artifact; cpu: asm, so, launcher.so, and plan.STEP for the plan "
          "after one of its steps, such as plan.sequence; cuda: ttgir, "
          "ptx, cubin; hip: ttgir, amdgcn, hsaco; plan.lines, plan.json and plan.svg: what became of each source line")
      ->delimiter(',');
  compile->add_option("-o,--output", arguments.output, "folder for the stages, or - for standard output")
      ->capture_default_str();
  addOptions(*compile, arguments.options);
  compile->get_option("--reproducer-path")->envname("TRITON_REPRODUCER_PATH");
  compile->add_option("--ptxas", arguments.cudaTools.ptxas,
                      "the ptxas to use for cubins, instead of the one that is found");
  compile->add_option("--nvjitlink", arguments.cudaTools.nvJitLink, "the nvJitLink library to use for cubins");
  compile->add_option("--ptxas-timeout", arguments.ptxasTimeout, "limit in seconds for one run of either; 0: no limit")
      ->capture_default_str();
  compile
      ->add_option("--abi", abi,
                   "own: code may be generated that only Nereid's launcher can launch; plain: any launcher can")
      ->check(CLI::IsMember({"plain", "own"}))
      ->capture_default_str();
  compile->add_flag("--no-locations", arguments.noLocations, "print TTIR without source locations");
  compile->add_flag("--timing,--time", arguments.timing, "print how long each phase took");
  compile
      ->add_option("--repeat", arguments.repeats,
                   "compile this often in one process; --timing prints the median of each phase")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  compile->callback([&] {
    arguments.options.ownLauncher = abi == "own";
    command = [&] { return runCompile(arguments); };
  });

  ProfileArguments profiled;
  addProfile(app, profiled)->callback([&] { command = [&] { return runProfile(profiled); }; });

  std::string cacheDir = defaultCacheDir();
  CLI::App *doctor = app.add_subcommand("doctor", "report this machine's devices, tools and problems");
  doctor->callback([&] { command = [&] { return runDoctor(cacheDir); }; });

  app.add_subcommand("path", "print the folder of the package triton, for PYTHONPATH")->callback([&] {
    command = [argv] { return runPath(argv[0]); };
  });
  app.add_subcommand("on", "let `import triton` find Nereid's in this environment (NEREID=1: in one process)")
      ->callback([&] { command = [argv] { return runSwitch(argv[0], true); }; });
  app.add_subcommand("off", "let `import triton` find another, or none (NEREID=0: in one process)")->callback([&] {
    command = [argv] { return runSwitch(argv[0], false); };
  });

  CLI::App *cache = app.add_subcommand("cache", "the kernels kept on disk");
  cache->require_subcommand(0, 1);
  cache->add_option("--dir", cacheDir, "the cache's folder")->capture_default_str();
  cache->add_subcommand("info", "size and number of files")->callback([&] {
    command = [&] { return runCacheInfo(cacheDir); };
  });
  cache->add_subcommand("clear", "remove every kernel")->callback([&] {
    command = [&] { return runCacheClear(cacheDir); };
  });

  app.add_subcommand("lock", "print, merge and check lock files; a command of Python's environment")
      ->prefix_command()
      ->callback([&] {
        command = [] {
          std::cerr << "nereid lock reads kernels of Python: run `python -m nereid lock`\n";
          return kUsageStatus;
        };
      });

  app.add_subcommand("pack", "make packs of kernels, list and check them; a command of Python's environment")
      ->prefix_command()
      ->callback([&] {
        command = [] {
          std::cerr << "nereid pack compiles kernels of Python: run `python -m nereid pack`\n";
          return kUsageStatus;
        };
      });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError &error) {
    const int status = app.exit(error);
    for (const CLI::App *command : app.get_subcommands())
      suggestOptions(*command);
    return status == 0 ? 0 : kUsageStatus;
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : kUsageStatus;
  }
  if (command)
    return command();
  std::cerr << (cache->parsed() ? cache : &app)->help();
  return kUsageStatus;
}

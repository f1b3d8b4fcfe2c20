"""The forwarder between an older program and a newer PJRT plugin, with a plugin that checks sizes strictly."""
# SPDX-License-Identifier: MIT

import ctypes
import os
import subprocess

import pytest

GPU = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "gpu")
# Function 3 requires 32 bytes and sets the last field, 4 does so under the name of a real structure, 5 checks the size of
# its options, 6 fails for another reason. Failures are texts; the plugin counts those that are not yet destroyed.
PLUGIN = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct { size_t bytes; void *extension; size_t value, result; } Args;
typedef struct { size_t bytes; void *extension; void *executable; Args *options; size_t seen; } Execute;
typedef struct { size_t bytes; void *extension; char *failure; const char *text; size_t text_bytes; } Message;
int open_failures;
static void *refuse(const char *name, size_t expected, size_t got) {
  char *text = malloc(200); ++open_failures;
  snprintf(text, 200, "Unexpected %s size: expected %zu, got %zu. Check installed software versions.", name, expected, got);
  return text;
}
static void *drop(Message *m) { free(m->failure); --open_failures; return 0; }
static void *message(Message *m) { m->text = m->failure; m->text_bytes = strlen(m->failure); return 0; }
static void *sized(const char *name, Args *a) {
  if (a->bytes < 32) return refuse(name, 32, a->bytes);
  a->result = a->value + 1;
  return 0;
}
static void *twice(Args *a) { return sized("PJRT_Some_Args", a); }
static void *attributes(Args *a) { return sized("PJRT_Plugin_Attributes_Args", a); }
static void *execute(Execute *e) {
  if (e->options->bytes < 48) return refuse("PJRT_ExecuteOptions", 48, e->options->bytes);
  e->seen = e->options->value * 100 + ((size_t *)e->options)[5];
  return 0;
}
static void *other(Args *a) { ++open_failures; return strdup("something else"); }
static struct { size_t bytes; void *extension; size_t version[3]; void *functions[7]; } api = {
    sizeof api, 0, {24, 0, 0}, {drop, message, 0, twice, attributes, execute, other}};
void *GetPjrtApi(void) { return &api; }
"""


class Args(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_size_t), ("extension", ctypes.c_void_p), ("value", ctypes.c_size_t),
                ("result", ctypes.c_size_t), ("behind", ctypes.c_size_t)]  # fmt: skip


class Execute(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_size_t), ("extension", ctypes.c_void_p), ("executable", ctypes.c_void_p),
                ("options", ctypes.POINTER(Args)), ("seen", ctypes.c_size_t)]  # fmt: skip


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    """(functions of the forwarder, number of failures that are not yet destroyed)."""
    folder = tmp_path_factory.mktemp("pjrt")
    (folder / "plugin.c").write_text(PLUGIN)
    behind, front = str(folder / "plugin.so"), str(folder / "forwarder.so")
    subprocess.run(["clang-22", "-shared", "-fPIC", "-o", behind, str(folder / "plugin.c")], check=True)
    source = os.path.join(GPU, "PjrtForwarder.cpp")
    subprocess.run(["clang++-22", "-std=c++20", "-shared", "-fPIC", "-o", front, source, "-ldl"], check=True)
    os.environ["PJRT_FORWARD_TO"] = behind
    forwarder = ctypes.CDLL(front)
    forwarder.GetPjrtApi.restype = ctypes.POINTER(ctypes.c_void_p)
    table = forwarder.GetPjrtApi()
    assert table[0] == 40 + 7 * 8
    function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
    functions = [table[5 + i] and function(table[5 + i]) for i in range(7)]
    return functions, ctypes.c_int.in_dll(ctypes.CDLL(behind), "open_failures")


def test_what_is_too_small_is_padded(plugin):
    functions, open_failures = plugin
    arguments = Args(24, None, 41, 7, 99)
    assert functions[3](ctypes.byref(arguments)) is None
    # The structure of the program has 24 bytes: the memory after it must not change.
    assert (arguments.bytes, arguments.value, arguments.result) == (24, 41, 7)
    assert open_failures.value == 0


def test_what_fits_goes_through(plugin):
    arguments = Args(32, None, 41, 0, 99)
    assert plugin[0][3](ctypes.byref(arguments)) is None
    assert (arguments.bytes, arguments.result, arguments.behind) == (32, 42, 99)


def test_a_size_that_lacks_the_last_field(plugin):
    arguments = Args(24, None, 41, 0, 99)
    assert plugin[0][4](ctypes.byref(arguments)) is None
    assert (arguments.bytes, arguments.result, arguments.behind) == (24, 42, 99)


def test_options_within_arguments(plugin):
    functions, open_failures = plugin
    options = Args(40, None, 3, 0, 99)
    arguments = Execute(40, None, None, ctypes.pointer(options), 0)
    assert functions[5](ctypes.byref(arguments)) is None
    assert arguments.seen == 300  # the plugin sees zeros after the program's own options
    assert ctypes.addressof(arguments.options.contents) == ctypes.addressof(options) and options.bytes == 40
    assert open_failures.value == 0


def test_other_failures_come_back(plugin):
    functions, open_failures = plugin
    failure = functions[6](ctypes.byref(Args(32, None, 0, 0, 0)))
    assert ctypes.string_at(failure) == b"something else" and open_failures.value == 1
    functions[0](ctypes.byref(Execute(24, None, failure)))
    assert open_failures.value == 0
    assert functions[2] is None

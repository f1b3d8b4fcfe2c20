"""Makes the archive of PTX in test/sim/others anew: the kernels there, compiled by the Triton that is installed.

usage: python test/scripts/make_triton_ptx.py    with a Python that has triton 3.6.0 and numpy; no GPU is needed
"""
# SPDX-License-Identifier: MIT

import io
import json
import lzma
import os
import re
import sys
import tarfile

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "sim", "others")
sys.path.insert(0, HERE)

import kernels  # noqa: E402
import triton  # noqa: E402
from cases import CASES, Case  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402


def compile_for(case: Case, gpu: int):  # noqa: ANN201
    function = getattr(kernels, case.kernel)
    names = function.arg_names
    given = [name for name in names if name not in case.constants]
    types = dict(zip(given, case.signature.split(","), strict=True))
    aligned = [name for name, text in types.items() if text[0] == "*" or text.endswith(":16")]
    source = ASTSource(
        function,
        {name: types[name].removesuffix(":16") if name in types else "constexpr" for name in names},
        constexprs={(names.index(name),): value for name, value in case.constants.items()},
        attrs={(names.index(name),): [["tt.divisibility", 16]] for name in aligned},
    )
    options = {"num_warps": case.num_warps, "num_stages": case.num_stages}
    return triton.compile(source, target=GPUTarget("cuda", gpu, 32), options=options)


def without_debug_sections(ptx: str) -> str:
    """The line table (.loc, .file) stays."""
    ptx = re.sub(r"^\t\.section\t\.debug.*?^\t}\n", "", ptx, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r'"/[^"]*/', '"', ptx)


def archive_of(texts: dict[str, str]) -> bytes:
    """A compressed tar file that does not depend on the time."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        for name, text in sorted(texts.items()):
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return lzma.compress(raw.getvalue(), preset=9 | lzma.PRESET_EXTREME)


def main() -> None:
    texts: dict[str, str] = {}
    for name, case in CASES.items():
        for gpu in case.gpus:
            compiled = compile_for(case, gpu)
            metadata = compiled.metadata
            launch = {
                "shared": metadata.shared,
                "scratch": [metadata.global_scratch_size, metadata.profile_scratch_size],
            }
            texts[f"{name}.sm{gpu}.ptx"] = without_debug_sections(compiled.asm["ptx"])
            texts[f"{name}.sm{gpu}.json"] = json.dumps(launch)
    with open(os.path.join(HERE, f"triton-{triton.__version__}.tar.xz"), "wb") as file:
        file.write(archive_of(texts))


if __name__ == "__main__":
    main()

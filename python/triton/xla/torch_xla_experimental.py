"""The contents of `import torch_xla.experimental.triton`; that import also gives PyTorch/XLA's
native module the binding `_xla_gpu_custom_call` that runs on the devices of this package.
"""

# SPDX-License-Identifier: MIT
import _XLAC

from triton.xla.torch_xla import complete, triton_call

__all__ = ["triton_call"]

complete(_XLAC)

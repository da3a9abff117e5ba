"""`save FOLDER` compiles ahead of time; `load FOLDER` runs what was saved, in which no line is traced."""

import sys
from pathlib import Path

import torch
from torch._dynamo.precompile_context import PrecompileContext

torch._dynamo.config.caching_precompile = True
torch._dynamo.config.enable_aot_compile = True  # off before torch 2.12


def precompiled(x):
    return x + 1  #: precompiled


def ahead(x):
    return inlined(x) * 2  #: ahead


def inlined(x):
    return x * 3  #: inlined


def unrelated(x):
    return x * 4  #: unrelated


class Exported(torch.nn.Module):
    def forward(self, x):
        return x - 1  #: exported


def save(folder, x):
    torch.compile(precompiled)(x)
    PrecompileContext.save_to_dynamo_cache()
    unguarded = {"guard_filter_fn": torch.compiler.skip_all_guards_unsafe}
    compiled = torch.compile(ahead, fullgraph=True, options=unguarded).aot_compile(((x,), {}))
    compiled.save_compiled_function(str(folder / "ahead"))
    exported = torch.export.export(Exported(), (x,))
    torch.export.save(exported, folder / "exported.pt2")
    torch._inductor.aoti_compile_and_package(exported, package_path=str(folder / "packaged.pt2"))


def load(folder, x):
    if "precompiled" in sys.argv:
        with torch.compiler.set_stance("fail_on_recompile"):
            print(torch.compile(precompiled)(x))
    if "ahead" in sys.argv:
        with open(folder / "ahead", "rb") as file:
            print(torch.compiler.load_compiled_function(file)(x))
    if "exported" in sys.argv:
        print(torch.export.load(folder / "exported.pt2").module()(x))
    if "packaged" in sys.argv:
        print(torch._inductor.aoti_load_package(str(folder / "packaged.pt2"))(x))


if __name__ == "__main__":
    (save if sys.argv[1] == "save" else load)(Path(sys.argv[2]), torch.ones(3))

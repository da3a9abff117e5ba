"""The statements of a graph or of output code lead to the lines of the program that they are from."""

from __future__ import annotations

from dynascope.facts.generated.statements import places_in, statements_from

GRAPH = """\
# f [0/0] graph: as Dynamo passed it to the backend
def forward(self,
    l_x_,  # f32[8]  x
):

    # File: /p/model.py:5 in helper, code: return t.relu()
    # called at File: /p/model.py:10 in f, code: y = helper(x) * 2
    relu = l_x_.relu()  # f32[8]
    again = relu.relu()  # f32[8]

    # File: /p/model.py:11 in f, code: z = y.sin()
    sin = again.sin()  # f32[8]
"""
CODE = """\
# File: /p/model.py:5 in helper
# Source Nodes: [relu]
cpp_fused_relu_0 = async_compile.cpp_pybinding(['const float*'], r'''
# File: /p/model.py:99 in no_comment_of_ours
extern "C" void kernel()
''')

def call(args):
    # File: /p/model.py:5 in helper
    cpp_fused_relu_0(arg0)
    del arg0
    # Backward of forward node: File: /p/model.py:11 in f
    extern_kernels.mm(buf0, buf1)
"""


def numbers(text: str, line: int, is_graph: bool) -> list[int]:
    lines = text.split("\n")
    found = statements_from(lines, places_in(lines, is_graph), ("/p/model.py", line).__eq__)
    assert [each.text for each in found] == [lines[each.number - 1].strip() for each in found]
    return [each.number for each in found]


def test_all_nodes_below_a_place_are_from_it_and_from_its_callers():
    assert numbers(GRAPH, 5, is_graph=True) == [8, 9] == numbers(GRAPH, 10, is_graph=True)
    assert numbers(GRAPH, 11, is_graph=True) == [12]


def test_a_kernel_and_a_call_are_from_the_comments_above_them_and_nothing_in_a_source_is():
    assert numbers(CODE, 5, is_graph=False) == [3, 10]
    assert numbers(CODE, 11, is_graph=False) == [13]
    assert numbers(CODE, 99, is_graph=False) == []


def test_a_returned_value_is_made_of_no_line():
    assert numbers("# File: /p/model.py:5 in f\nmul = x * 2\nreturn (mul,)\n", 5, is_graph=True) == [2]

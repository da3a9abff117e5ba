"""Control flow of all kinds: Python's own tracing tells which lines each function begins, and Dynamo's has to agree."""

import contextlib

import torch


def if_at_the_end_of_a_loop(x):
    for flag in (False, True, False):
        if flag:
            x = x * 2
    return x


def nested_ifs_at_the_end_of_a_loop(x):
    for number in range(4):
        if number > 0:
            if number % 2:
                x = x + number
            elif number == 2:
                x = x * 2
    return x


def else_at_the_end_of_a_loop(x):
    for number in range(2):
        if number:
            x = x + 1
        else:
            scale = 2
            x = x * scale
    return x


def loops_in_loops(x):
    for i in range(2):
        for j in range(2):
            if i == j:
                x = x + j
    return x


def goes_on_and_leaves(x):
    for number in range(5):
        if number == 1:
            continue
        if number == 3:
            break
        x = x + number
    else:
        x = x * 3
    return x


def loop_with_else(x):
    for number in range(2):
        if number == 5:
            break
    else:
        x = x * 3
    return x


def while_with_a_test(x):
    number = 0
    while number < 3:
        number += 1
        if number == 2:
            x = x + 1
    return x


def while_true(x):
    number = 0
    while True:
        number += 1
        if number > 2:
            break
    return x + number


def no_loop_at_all(x):
    if x.dim() == 3:
        x = x + 1
    elif x.dim() == 1:
        x = x + 2
    else:
        x = x + 3
    if x.dim() == 2:
        x = x * 5
    return x


def last_statement_is_an_if(x, found):
    found.append(x + 1)
    if x.dim() == 2:
        found.append(x + 2)


def ends_in_a_loop(x, found):
    for number in range(2):
        if number:
            found.append(x + number)


def conditions_over_several_lines(x):
    if (
        torch.is_floating_point(x)  # each operand a line
        and x.shape[0] > 1
        and not x.requires_grad
    ):
        x = x + 1
    return x


def in_a_context(x):
    for number in range(2):
        with contextlib.nullcontext():
            if number:
                x = x + 1
    return x


def in_a_gradient_mode(x):
    with torch.no_grad():
        for number in range(2):
            if number:
                x = x + 1
    return x


def tries(x):
    for number in range(2):
        try:
            if number:
                raise ValueError
        except ValueError:
            x = x + 1
        finally:
            x = x * 2
    return x


def tries_without_an_error(x):
    for number in range(2):
        try:
            if number:
                x = x + 1
        except ValueError:
            x = x - 1
    return x


def matches(x, kind="two"):
    for number in range(2):
        match kind:
            case "one":
                x = x + 1
            case "two":
                if number:
                    x = x + 2
    return x


def checked(x):
    for number in range(2):
        assert number < 2
        if number:
            x = x + number if number > 1 else x - number
    return x


def returns_early(x):
    for number in range(3):
        if number == 1:
            return x * number
    return x


def makes_a_list(x):
    parts = []
    for number in range(3):
        if number != 1 and number < 5:
            parts.append(
                torch.add(
                    x,
                    number,
                )
            )
    return torch.stack(parts)

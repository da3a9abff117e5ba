"""Threads are listed with the ids by which they stop and resume."""

from __future__ import annotations

import os
import threading

from dynascope.agent.program.threads import program_threads
from dynascope.agent.suspension.interface import Suspension


def listed() -> list[int]:
    return [thread.id for thread in program_threads().threads if thread.name == threading.current_thread().name]


def test_the_main_thread_of_a_forked_process_is_listed_under_its_own_id() -> None:
    suspension = Suspension()
    assert listed() == [suspension.thread_id()]
    child = os.fork()
    if child == 0:
        is_right = listed() == [suspension.thread_id()] and suspension.thread(os.getpid()) is threading.main_thread()
        os._exit(not is_right)
    assert os.waitpid(child, 0)[1] == 0

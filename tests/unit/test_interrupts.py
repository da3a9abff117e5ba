"""Ctrl-C while a request is under way."""

import signal
import threading

import pytest
from dynascope.terminal.interrupts import deferred, waiting_on


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def test_a_key_is_served_where_it_is_let_through():
    done = []
    with deferred() as interrupts:
        press()
        done.append("request")
        with pytest.raises(KeyboardInterrupt), interrupts.let_through():
            done.append("wait")
    assert done == ["request"]


def test_a_key_that_comes_while_we_wait_is_served_at_once():
    with deferred() as interrupts, pytest.raises(KeyboardInterrupt), interrupts.let_through():
        press()


def test_a_second_key_gets_through_what_hangs():
    with deferred():
        press()
        with pytest.raises(KeyboardInterrupt):
            press()


def test_a_key_that_nobody_let_through_is_served_at_the_end():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), deferred():
        press()
    assert signal.getsignal(signal.SIGINT) is before


class ReleasedAtTheKey(threading.Condition):
    """A condition of which the lock has just been released when Ctrl-C comes."""

    def _release_save(self):
        super()._release_save()
        press()


def test_a_key_that_comes_as_the_lock_is_released_is_no_error_of_the_lock():
    condition = ReleasedAtTheKey(threading.Lock())  # an RLock has a method of its own for it
    pressed = pytest.raises(KeyboardInterrupt)
    with deferred() as interrupts, pressed, interrupts.let_through(), waiting_on(condition):
        condition.wait_for(lambda: False, 5)
    with pytest.raises(RuntimeError, match="of the program"), waiting_on(condition):
        raise RuntimeError("of the program")

"""Requests about the session itself, such as `Configure`."""

from __future__ import annotations

from dynascope.agent.session.requests.registry import serves
from dynascope.agent.session.session import AgentSession
from dynascope.wire.to_agent import Acknowledge, Cancel, ConfigurationDone, Configure


@serves(Configure)
def configure(session: AgentSession, message: Configure) -> None:
    session.configure(message)


@serves(ConfigurationDone)
def configuration_done(session: AgentSession, message: ConfigurationDone) -> None:
    session.suspension.may_stop = True


@serves(Acknowledge)
def acknowledge(session: AgentSession, message: Acknowledge) -> None:
    session.stops.acknowledge(message.thread_ident)


@serves(Cancel)
def cancel(session: AgentSession, message: Cancel) -> None:
    session.stops.cancellation.cancel(message.request_id)

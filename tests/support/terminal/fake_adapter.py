"""A DAP adapter that plays a script, for what a real program does rarely: `python fake_adapter.py SCENARIO`.

It stops twice in thread 1, at lines 2 and 3 of the launched program, then ends with exit code 3.
SCENARIO: `plain`; `refuses` (the launch fails); `dies` (exits at `configurationDone`); `two threads` (thread 2 stops
too, and each goes on alone); `late` (a stop comes before the response to `continue`); `mute` (dies at once);
`runs` (after the first stop, until it is paused); `alone` (thread 1 goes on alone, deaf to a pause); `alone
exits` (it goes on alone to its end); `no source` (the text of what runs is not known).
"""

from __future__ import annotations

import json
import sys

AGENT = 1 << 30


class Adapter:
    def __init__(self, scenario: str) -> None:
        self.scenario = scenario
        self.seq = 0
        self.stop = 0
        self.program = ""
        self.breakpoints: list[int] = []

    def send(self, **message: object) -> None:
        self.seq += 1
        body = json.dumps({"seq": self.seq, **message}).encode()
        sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        sys.stdout.buffer.flush()

    def event(self, name: str, **body: object) -> None:
        self.send(type="event", event=name, body=body)

    def serve(self) -> None:
        while header := sys.stdin.buffer.readline():
            length = int(header.split(b":")[1])
            sys.stdin.buffer.readline()
            request = json.loads(sys.stdin.buffer.read(length))
            answer = getattr(self, request["command"], lambda arguments: {})
            self.request = request
            self.answered = False
            try:
                body = answer(request["arguments"])
            except RuntimeError as error:
                self.respond(success=False, message=str(error))
            else:
                if not self.answered:
                    self.respond(success=True, body=body)
            if request["command"] == "initialize":
                self.event("output", category="telemetry", output="unseen")
            elif request["command"] == "launch" and self.scenario != "refuses":
                self.event("initialized")
            elif request["command"] == "configurationDone":
                self.next_stop()

    def respond(self, **rest: object) -> None:
        self.answered = True
        self.send(type="response", request_seq=self.request["seq"], command=self.request["command"], **rest)

    def next_stop(self) -> None:
        self.stop += 1
        if self.stop < 3:
            ids = [i for i, line in enumerate(self.breakpoints) if line == self.stop + 1]
            self.event("output", category="stdout", output=f"to line {self.stop + 1}\n")
            self.event("stopped", reason="breakpoint", threadId=1, hitBreakpointIds=ids)
            if self.scenario == "two threads" and self.stop == 1:
                self.event("stopped", reason="breakpoint", threadId=2)
        else:
            self.event("exited", exitCode=3)
            self.event("terminated")

    # ---- requests

    def initialize(self, arguments: dict) -> dict:
        return {"supportsConfigurationDoneRequest": True}

    def launch(self, arguments: dict) -> dict:
        if self.scenario == "refuses":
            raise RuntimeError("no interpreter there")
        self.program = arguments["program"]
        return {}

    def configurationDone(self, arguments: dict) -> dict:
        if self.scenario == "dies":
            sys.exit("out of luck")
        return {}

    def setBreakpoints(self, arguments: dict) -> dict:
        self.breakpoints = [one["line"] for one in arguments["breakpoints"]]
        return {"breakpoints": [{"id": i, "verified": True, "line": n} for i, n in enumerate(self.breakpoints)]}

    def setFunctionBreakpoints(self, arguments: dict) -> dict:
        return {"breakpoints": []}

    def threads(self, arguments: dict) -> dict:
        return {"threads": [{"id": 1, "name": "MainThread"}, {"id": 2, "name": "other"}]}

    def stackTrace(self, arguments: dict) -> dict:
        source = {"name": "<generated f>"} if self.scenario == "no source" else {"path": self.program}
        symbolic = {"id": AGENT, "name": "f [0/0]", "line": self.stop + 1, "column": 1, "source": source}
        running = {"id": 1, "name": "<module>", "line": 1, "column": 1, "source": source}
        return {"stackFrames": [symbolic, running] if arguments["threadId"] == 1 else [running]}

    def scopes(self, arguments: dict) -> dict:
        if self.scenario == "backward":
            return {"scopes": [{"name": n, "variablesReference": 8, "expensive": False} for n in ("Inputs", "Graph")]}
        scopes = [{"name": "Locals", "variablesReference": 7, "expensive": False}]
        if arguments["frameId"] == AGENT:
            scopes.append({"name": "Guards", "variablesReference": 8, "expensive": False})
        return {"scopes": scopes}

    def variables(self, arguments: dict) -> dict:
        rows = {
            7: [{"name": "x", "value": "f32[s0, 16]", "type": "Tensor", "variablesReference": AGENT + 9}],
            8: [
                {"name": "L['x']", "value": "TENSOR_MATCH", "variablesReference": 0},
                {"name": "L['a/b']", "value": "EQUALS_MATCH", "variablesReference": AGENT + 9, "indexedVariables": 250},
            ],
            10: [{"name": "L['x']", "value": "TENSOR_MATCH", "variablesReference": 0}],
            AGENT + 9: [
                {"name": "VariableTracker", "value": "ListVariable", "variablesReference": 0},
                *({"name": f"[{i}]", "value": str(i), "variablesReference": 0} for i in range(250)),
            ],
            20: [  # debugpy: all at once, elements after 100 further below
                {"name": "special variables", "value": "", "variablesReference": 0},
                *({"name": f"{i:03}", "value": str(i), "variablesReference": 0} for i in range(100)),
                {"name": "more", "value": "...", "type": "MoreItems", "variablesReference": 21},
                {"name": "len()", "value": "250", "variablesReference": 0},
            ],
            21: [
                {"name": "[100:200]", "value": "", "type": "MoreItemsRange", "variablesReference": 22},
                {"name": "[200:250]", "value": "", "type": "MoreItemsRange", "variablesReference": 23},
            ],
            22: [{"name": str(i), "value": str(i), "variablesReference": 0} for i in range(100, 200)],
            23: [{"name": str(i), "value": str(i), "variablesReference": 0} for i in range(200, 250)],
        }[arguments["variablesReference"]]
        if arguments["variablesReference"] in range(20, 24):
            return {"variables": rows}
        if "filter" in arguments:
            rows = [one for one in rows if one["name"].startswith("[") == (arguments["filter"] == "indexed")]
        return {"variables": rows[arguments["start"] :][: arguments["count"]]}

    def evaluate(self, arguments: dict) -> dict:
        if arguments["expression"].startswith("guards"):
            return {"result": "guards so far", "variablesReference": 8 if arguments["expression"] == "guards?" else 10}
        if arguments["expression"] == "nonsense":
            raise RuntimeError("NameError: name 'nonsense' is not defined")
        if arguments.get("frameId", AGENT) != AGENT:
            return {"result": "[0, 1, ...]", "variablesReference": 20}
        return {
            "result": f"<{arguments['expression']}>",
            "variablesReference": AGENT + 9,
            "indexedVariables": 250,
        }

    def resume(self, arguments: dict) -> dict:
        single_thread = self.scenario == "two threads"
        if self.scenario == "late":
            self.next_stop()
        self.respond(success=True, body={"allThreadsContinued": not single_thread})
        if self.scenario.startswith("alone") and arguments.get("singleThread"):
            if self.scenario == "alone exits":
                self.event("thread", reason="exited", threadId=1)
            return {}
        if self.scenario == "runs" and self.request["command"] == "continue":
            self.event("output", category="stdout", output="working\n")
            return {}
        if self.scenario != "late" and not (single_thread and arguments["threadId"] == 2):
            self.next_stop()
        return {}

    def pause(self, arguments: dict) -> dict:
        self.respond(success=True, body={})
        if self.scenario == "alone":
            self.event("output", category="stdout", output="in a lock\n")
        else:
            self.event("stopped", reason="pause", threadId=1, allThreadsStopped=True)
        return {}

    next = stepIn = stepOut = resume

    def disconnect(self, arguments: dict) -> dict:
        self.respond(success=True, body={})
        sys.exit()


setattr(Adapter, "continue", Adapter.resume)
if __name__ == "__main__":
    if sys.argv[1] == "mute":
        sys.exit("cannot import name 'adapter'")
    Adapter(sys.argv[1]).serve()

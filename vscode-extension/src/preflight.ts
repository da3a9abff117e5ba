// Checks whether an interpreter can run Dynascope, before it is used, and explains why not.
import { execFile } from 'node:child_process';
import type { Interpreter, Origin } from './interpreter';

export interface Problem {
  /** One or two sentences for a notification: what is wrong, and what to do. */
  readonly message: string;
  /** All details, for the log. */
  readonly detail: string;
}

/** Printed by PROBE as one line of JSON. */
interface Probe {
  readonly executable: string;
  readonly python: string;
  readonly old: boolean;
  readonly missing: readonly string[];
  readonly error: string;
  readonly version: string;
}

const MARK = 'dynascope-probe:';
const TIMEOUT_MS = 60_000;
const MINIMUM_PYTHON = '3.11';

// Runs on any Python 3, to report an old one as such. Imports the command's own modules, but never torch.
const PROBE = `
import json, sys
found = {"executable": sys.executable, "python": "%d.%d.%d" % sys.version_info[:3], "old": sys.version_info < (3, 11),
         "missing": [], "error": "", "version": ""}
if not found["old"]:
    import importlib.util
    found["missing"] = [n for n in ("dynascope", "msgspec", "click", "debugpy") if importlib.util.find_spec(n) is None]
    if not found["missing"]:
        try:
            import dynascope.cli
        except BaseException as error:
            found["error"] = "%s: %s" % (type(error).__name__, error)
        try:
            import importlib.metadata
            found["version"] = importlib.metadata.version("dynascope")
        except Exception:
            pass
print(${JSON.stringify(MARK)} + json.dumps(found))
`;

export interface Ready {
  readonly python: string;
  /** Empty when dynascope runs from a source tree. */
  readonly version: string;
}

/** Checks whether `interpreter` can run `python -m dynascope`: returns `Ready`, or the `Problem`. */
export async function preflight(interpreter: Interpreter, cwd: string | undefined): Promise<Ready | Problem> {
  const [executable, ...args] = interpreter.command;
  const run = await probe(executable, [...args, '-c', PROBE], cwd);
  const line = run.stdout.split('\n').find((text) => text.startsWith(MARK));
  if (line) return judge(JSON.parse(line.slice(MARK.length)) as Probe, interpreter);
  return { message: unusable(executable, interpreter.origin, run), detail: describe(interpreter, run) };
}

export function isProblem(outcome: Ready | Problem): outcome is Problem {
  return 'message' in outcome;
}

interface Run {
  readonly stdout: string;
  readonly stderr: string;
  readonly error: (Error & { code?: string | number | null; killed?: boolean }) | null;
}

function probe(executable: string, args: readonly string[], cwd: string | undefined): Promise<Run> {
  return new Promise((resolve) => {
    execFile(executable, args, { cwd, timeout: TIMEOUT_MS, windowsHide: true }, (error, stdout, stderr) =>
      resolve({ stdout, stderr, error }),
    );
  });
}

function judge(found: Probe, interpreter: Interpreter): Ready | Problem {
  const where = `${interpreter.command[0]} (from ${interpreter.origin})`;
  const lack = found.missing.length > 0 ? `, without ${found.missing.join(', ')}` : '';
  const detail = `${where}: Python ${found.python} at ${found.executable}${lack}${found.error ? `, ${found.error}` : ''}`;
  if (found.old) {
    return {
      message: `Dynascope needs Python ${MINIMUM_PYTHON} or later, but ${where} is Python ${found.python}. Choose another interpreter.`,
      detail,
    };
  }
  if (found.missing.includes('dynascope')) {
    return {
      message: `The package dynascope is not installed in ${where}. Install it from a checkout of Dynascope with \`${found.executable} -m pip install PATH_OF_THE_CHECKOUT\`, or choose another interpreter.`,
      detail,
    };
  }
  if (found.missing.length > 0) {
    return {
      message: `dynascope is in ${where}, but ${found.missing.join(' and ')}, which it needs, is not. Run \`${found.executable} -m pip install ${found.missing.join(' ')}\`.`,
      detail,
    };
  }
  if (found.error) {
    return {
      message: `dynascope cannot be imported in ${where}: ${found.error}. Try \`${found.executable} -m pip install --force-reinstall --no-deps PATH_OF_THE_CHECKOUT\`, with a checkout of Dynascope.`,
      detail,
    };
  }
  return { python: found.python, version: found.version };
}

function unusable(executable: string, origin: Origin, run: Run): string {
  const change = origin === 'launch.json' ? 'Correct "python" in launch.json, or choose another interpreter.' : 'Choose an interpreter.';
  const named = `${executable} (from ${origin})`;
  switch (run.error?.code) {
    case 'ENOENT':
      return `There is no Python interpreter ${named}. ${change}`;
    case 'EACCES':
      return `The Python interpreter ${named} may not be executed. ${change}`;
    default:
      break;
  }
  if (run.error?.killed) return `The Python interpreter ${named} did not answer within a minute. ${change}`;
  const last = lastLine(run.stderr) || lastLine(run.stdout);
  return `${named} is not a working Python interpreter${last ? `: ${last}` : ''}. ${change}`;
}

export function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim() ?? '';
}

function describe(interpreter: Interpreter, run: Run): string {
  const code = run.error ? String(run.error.code ?? run.error.message) : '0';
  return [`${interpreter.command.join(' ')} (from ${interpreter.origin}) failed: ${code}`, run.stdout, run.stderr]
    .map((part) => part.trim())
    .filter(Boolean)
    .join('\n');
}

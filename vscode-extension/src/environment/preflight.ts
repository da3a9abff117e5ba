// Checks whether an interpreter can run Dynascope, before it is used, and explains why not.
import { execFile } from 'node:child_process';
import * as vscode from 'vscode';
import type { Interpreter, Origin } from './interpreter';

/** What is wrong with an environment; the empty view has its own words for each. */
export type EnvironmentProblem = 'noPython' | 'oldPython' | 'noTorch' | 'oldTorch' | 'noDynascope' | 'broken';

export interface Problem {
  /** One or two sentences for a notification: what is wrong, and what to do. */
  readonly message: string;
  /** All details, for the log. */
  readonly detail: string;
  /** undefined: the environment is in order, and the launch configuration is not. */
  readonly kind?: EnvironmentProblem;
  readonly origin?: Origin;
  /** torch's version, empty where there is none, or where that is not known. */
  readonly torch?: string;
  /** The command that installs the package dynascope, without its path, where that is what helps. */
  readonly install?: readonly string[];
}

/** Printed by PROBE as one line of JSON. */
interface Probe {
  readonly executable: string;
  readonly python: string;
  readonly old: boolean;
  readonly missing: readonly string[];
  readonly error: string;
  readonly version: string;
  /** torch's version, empty where there is none. */
  readonly torch: string;
  readonly pip: boolean;
}

const MARK = 'dynascope-probe:';
const TIMEOUT_MS = 60_000;
export const MINIMUM_PYTHON = '3.11';
export const MINIMUM_TORCH = '2.11';

// Runs on any Python 3, to report an old one as such. Imports the command's own modules, but never torch, and nothing from
// the current folder, where the program runs as well.
const PROBE = `
import sys
if sys.path[0] == "":
    del sys.path[0]
import json
found = {"executable": sys.executable, "python": "%d.%d.%d" % sys.version_info[:3], "old": sys.version_info < (3, 11),
         "missing": [], "error": "", "version": "", "torch": "", "pip": False}
if not found["old"]:
    import importlib.metadata
    import importlib.util
    try:
        found["torch"] = importlib.metadata.version("torch")
    except Exception:
        found["torch"] = "unknown" if importlib.util.find_spec("torch") else ""
    found["pip"] = importlib.util.find_spec("pip") is not None
    found["missing"] = [n for n in ("dynascope", "msgspec", "click", "debugpy") if importlib.util.find_spec(n) is None]
    if not found["missing"]:
        try:
            import dynascope.cli
        except BaseException as error:
            found["error"] = "%s: %s" % (type(error).__name__, error)
        try:
            found["version"] = importlib.metadata.version("dynascope")
        except Exception:
            pass
print(${JSON.stringify(MARK)} + json.dumps(found))
`;

export interface Ready {
  readonly python: string;
  /** Empty when dynascope runs from a source tree. */
  readonly version: string;
  /** torch's version, empty where there is none. */
  readonly torch: string;
}

/**
 * Checks whether `interpreter` can run `python -m dynascope`: returns `Ready`, or the `Problem`.
 *
 * With `needsTorch` it has to run a program that uses torch as well.
 */
export async function preflight(interpreter: Interpreter, cwd: string | undefined, needsTorch = false): Promise<Ready | Problem> {
  const [executable, ...args] = interpreter.command;
  const run = await probe(executable, [...args, '-c', PROBE], cwd);
  const line = run.stdout.split('\n').find((text) => text.startsWith(MARK));
  if (line) return judge(JSON.parse(line.slice(MARK.length)) as Probe, interpreter, needsTorch);
  return { message: unusable(executable, interpreter.origin, run), detail: describe(interpreter, run), kind: 'noPython', origin: interpreter.origin };
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

function judge(found: Probe, interpreter: Interpreter, needsTorch: boolean): Ready | Problem {
  const where = `${interpreter.command[0]} (from ${interpreter.origin})`;
  const lack = found.missing.length > 0 ? `, without ${found.missing.join(', ')}` : '';
  const detail = `${where}: Python ${found.python} at ${found.executable}${lack}${found.error ? `, ${found.error}` : ''}`;
  const about = { detail, origin: interpreter.origin, torch: found.torch };
  const isNamed = interpreter.origin === 'launch.json'; // another choice would change nothing
  const choose = isNamed ? vscode.l10n.t('Correct "python" in launch.json.') : vscode.l10n.t('Choose the interpreter that runs your program.');
  if (found.old) {
    const message = vscode.l10n.t('Dynascope needs Python {0} or later, but {1} is Python {2}. {3}', MINIMUM_PYTHON, where, found.python, choose);
    return { message, kind: 'oldPython', ...about };
  }
  if (needsTorch && !found.torch) {
    return { message: vscode.l10n.t('torch is not installed in {0}. {1}', where, choose), kind: 'noTorch', ...about };
  }
  if (needsTorch && older(found.torch, MINIMUM_TORCH)) {
    const message = vscode.l10n.t('Dynascope needs torch {0} or later, but {1} has torch {2}. {3}', MINIMUM_TORCH, where, found.torch, choose);
    return { message, kind: 'oldTorch', ...about };
  }
  const pip = found.pip ? [found.executable, '-m', 'pip', 'install'] : ['uv', 'pip', 'install', '--python', found.executable];
  if (found.missing.includes('dynascope')) {
    const message = vscode.l10n.t('The package dynascope is not installed in {0}. Install the package that comes with this extension; or: {1}', where, choose);
    return { message, kind: 'noDynascope', install: pip, ...about };
  }
  if (found.missing.length > 0) {
    const message = vscode.l10n.t('dynascope is in {0}, but {1}, which it needs, is not. Run `{2} {3}`.', where, found.missing.join(', '), pip.join(' '), found.missing.join(' '));
    return { message, kind: 'noDynascope', install: pip, ...about };
  }
  if (found.error) {
    const message = vscode.l10n.t('dynascope cannot be imported in {0}: {1}. Install the package that comes with this extension.', where, found.error);
    return { message, kind: 'broken', install: [...pip, found.pip ? '--force-reinstall' : '--reinstall', '--no-deps'], ...about };
  }
  return { python: found.python, version: found.version, torch: found.torch };
}

/** Returns what the empty view says of an environment: a kind of problem, or `ready`. */
export function stateOf(outcome: Ready | Problem): EnvironmentProblem | 'ready' {
  const lacksPackage = !isProblem(outcome) || outcome.kind === 'noDynascope';
  if (lacksPackage && !outcome.torch) return 'noTorch';
  if (lacksPackage && outcome.torch && older(outcome.torch, MINIMUM_TORCH)) return 'oldTorch';
  return isProblem(outcome) ? (outcome.kind ?? 'broken') : 'ready';
}

/** Whether a version such as `2.9.1+cpu` is before another; not if it is unknown. */
export function older(version: string, than: string): boolean {
  const [one = [], other = []] = [version, than].map((each) => each.split('.').map((part) => Number.parseInt(part, 10)));
  const [major = 0, minor = 0] = one;
  const [otherMajor = 0, otherMinor = 0] = other;
  return major < otherMajor || (major === otherMajor && minor < otherMinor);
}

function unusable(executable: string, origin: Origin, run: Run): string {
  const change = origin === 'launch.json' ? vscode.l10n.t('Correct "python" in launch.json.') : vscode.l10n.t('Choose an interpreter.');
  const named = `${executable} (from ${origin})`;
  switch (run.error?.code) {
    case 'ENOENT':
      return `${vscode.l10n.t('There is no Python interpreter {0}.', named)} ${change}`;
    case 'EACCES':
      return `${vscode.l10n.t('The Python interpreter {0} may not be executed.', named)} ${change}`;
    default:
      break;
  }
  if (run.error?.killed) return `${vscode.l10n.t('The Python interpreter {0} did not answer within a minute.', named)} ${change}`;
  const last = lastLine(run.stderr) || lastLine(run.stdout);
  const broken = last ? vscode.l10n.t('{0} is not a working Python interpreter: {1}.', named, last) : vscode.l10n.t('{0} is not a working Python interpreter.', named);
  return `${broken} ${change}`;
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

// package.json against itself and against what the code registers.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { getL10nJson } from '@vscode/l10n-dev';
import { expect, test } from 'vitest';
import type { ExtensionContext } from 'vscode';
import { DEBUG_COMMANDS } from '../src/debugging/debugCommands';
import { activate } from '../src/extension';
import { pythonProcesses } from '../src/debugging/pickProcess';
import { folder } from './support';
import { state, workspace } from './vscode';

interface Snippet {
  readonly label: string;
  readonly body: Record<string, unknown> & { readonly request: 'launch' | 'attach' };
}
interface Manifest {
  readonly contributes: {
    readonly commands: { readonly command: string; readonly title: string }[];
    readonly breakpoints: { readonly language: string }[];
    readonly configuration: { readonly properties: Record<string, { readonly default: unknown; readonly description?: string; readonly markdownDescription?: string }> };
    readonly menus: { readonly commandPalette: readonly { readonly command: string; readonly when: string }[] };
    readonly debuggers: {
      readonly configurationAttributes: Record<string, { readonly properties: Record<string, { readonly description?: string }> }>;
      readonly configurationSnippets: Snippet[];
      readonly variables: Record<string, string>;
    }[];
  };
}

/** What is shown to users, by key; translations are beside it as `package.nls.LANGUAGE.json`. */
const shown = JSON.parse(fs.readFileSync(path.join(__dirname, '../package.nls.json'), 'utf8')) as Record<string, string>;
const written = fs.readFileSync(path.join(__dirname, '../package.json'), 'utf8');
const { contributes } = JSON.parse(written.replace(/"%([\w.]+)%"/g, (_, key: string) => JSON.stringify(shown[key] ?? `no ${key}`))) as Manifest;
const [contributed] = contributes.debuggers;

test('every command that package.json names is registered, and those of the language server', () => {
  workspace.isTrusted = false; // no language server
  activate({ subscriptions: [], workspaceState: new Map(), extension: { packageJSON: { contributes } } } as unknown as ExtensionContext);
  const named = [...contributes.commands.map((entry) => entry.command), ...Object.keys(DEBUG_COMMANDS), ...Object.values(contributed?.variables ?? {})];
  expect([...state.registered].sort()).toEqual([...named].sort());
});

test("the language server's settings are those that its documentation lists, with the same defaults", () => {
  const text = fs.readFileSync(path.join(__dirname, '../../docs/language-server.md'), 'utf8');
  const documented = [...text.matchAll(/^\| `([\w.]+)` \| `(\w+)` \|/gm)].map(([, name, value]) => [name, value]);
  const prefix = 'dynascope.languageServer.';
  const settings = Object.entries(contributes.configuration.properties).filter(([name]) => name.startsWith(prefix) && name !== `${prefix}enabled`);
  expect(settings.map(([name, setting]) => [name.slice(prefix.length), String(setting.default)])).toEqual(documented);
});

test('what the manifest shows is where translations can replace it, and all of that is shown', () => {
  const named = new Set([...written.matchAll(/"%([\w.]+)%"/g)].map(([, key]) => key));
  expect([...named].sort()).toEqual(Object.keys(shown).sort());
  // names of configurations are stored in launch.json, and the extension's own name stays
  const plain = [...written.matchAll(/"(?:markdownDescription|description|contents|altText|displayName|title|label)": "([^%"].*?)"/g)].map(([, text]) => text);
  expect(new Set(plain)).toEqual(new Set(['Dynascope']));
});

test('what the code says to users goes through l10n', () => {
  const folder = path.join(__dirname, '../src');
  for (const name of fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((each) => each.endsWith('.ts'))) {
    const text = fs.readFileSync(path.join(folder, name), 'utf8');
    expect(text.match(/(?:show\w+Message|appendLine|say)\(['"`][A-Za-z].*|(?:placeHolder|title|tooltip|openLabel|searched): ['"`][A-Z].*/g), name).toBeNull();
    expect(text.match(/(?:aria-label|placeholder|title)="[A-Za-z].*|\.(?:title|textContent|placeholder) = ['"`][A-Za-z].*/g), name).toBeNull();
  }
});

test('what translators get has every text of the code and of its pages, and no other', async () => {
  const own = path.join(__dirname, '..');
  const scripts = fs.readdirSync(path.join(own, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const read = (name: string): string => fs.readFileSync(path.join(own, 'src', name), 'utf8').replace(/^import .*from '(?:vscode|@vscode\/l10n)';$/gm, '');
  // as one file, for each takes a second
  const contents = ["import * as vscode from 'vscode';", "import * as l10n from '@vscode/l10n';", ...scripts.map(read)].join('\n');
  const exported = await getL10nJson([{ extension: '.ts', contents }]);
  const kept = JSON.parse(fs.readFileSync(path.join(own, 'l10n/bundle.l10n.json'), 'utf8')) as unknown;
  expect(kept, 'run: npm run export:texts').toEqual(exported);
  for (const text of ['Show Log', 'Nothing is found for {0}.', '{0} nodes', 'nothing for {0}']) expect(kept).toHaveProperty([text], text);
  for (const name of fs.readdirSync(path.join(own, 'walkthrough')).filter((each) => each.endsWith('.md'))) expect(Object.values(shown)).toContain(`walkthrough/${name}`);
});

test('every setting and every command is described, and the palette offers no command that needs a row', () => {
  for (const [name, { description, markdownDescription }] of Object.entries(contributes.configuration.properties)) expect(description ?? markdownDescription, name).toMatch(/\.$/);
  const { commandPalette: rules } = contributes.menus;
  const names = contributes.commands.map(({ command }) => command);
  expect(names).toEqual(expect.arrayContaining(rules.map(({ command }) => command)));
  expect(rules.filter(({ when }) => when === 'false').map(({ command }) => command)).toEqual(['goToEvent', 'goToLineOfHistory', 'openRecordedLine', 'openRecordedDocument'].map((name) => `dynascope.${name}`));
  const always = names.filter((name) => !rules.some(({ command }) => command === name));
  expect(always).toEqual(['moreFilters', 'openSample', 'showLog', 'chooseInterpreter', 'useEnvironmentWithTorch', 'installPackage', 'openWalkthrough'].map((name) => `dynascope.${name}`));
});

test('a button is named as the command that it runs', () => {
  const titles = new Map(contributes.commands.map(({ command, title }) => [command, title]));
  const buttons = Object.values(shown).flatMap((text) => [...text.matchAll(/\[([^\]]+)\]\(command:(dynascope\.\w+)\)/g)]);
  expect(buttons.length).toBeGreaterThan(20);
  for (const [, label, command = ''] of buttons) expect(label, command).toBe(titles.get(command));
});

test('every argument has a description', () => {
  for (const { properties } of Object.values(contributed?.configurationAttributes ?? {})) {
    for (const [name, { description }] of Object.entries(properties)) expect(description, name).toMatch(/\.$/);
  }
});

test('snippets use only arguments that are described', () => {
  for (const { label, body } of contributed?.configurationSnippets ?? []) {
    const known = Object.keys(contributed?.configurationAttributes[body.request]?.properties ?? {});
    const ours = Object.keys(body).filter((key) => !['name', 'type', 'request'].includes(key));
    expect(known, label).toEqual(expect.arrayContaining(ours));
  }
});

test('the margin of Python files and of generated bytecode takes breakpoints', () => {
  expect(contributes.breakpoints).toEqual([{ language: 'python' }, { language: 'dynascope-bytecode' }]);
});

test('the process picker lists Python processes, newest first', () => {
  const ps = '  10 /usr/bin/python3 train.py --fast\n 11 /bin/bash python3\n 12 python3.12 -m pkg\n 13 /usr/bin/pythonista\n';
  expect(pythonProcesses(ps, 0).map((item) => [item.pid, item.label])).toEqual([
    ['12', 'python3.12 -m pkg'],
    ['10', 'python3 train.py --fast'],
  ]);
  expect(pythonProcesses(ps, 12)).toHaveLength(1);
});

test('what is loaded to activate is small: the language client and the adapter process are in bundles of their own', () => {
  const made = path.join(folder.path, 'made.json');
  execFileSync('npm', ['run', '--silent', 'build:extension', '--', '--minify', `--outdir=${folder.path}`, `--metafile=${made}`, '--log-level=error'], { cwd: path.join(__dirname, '..') });
  const { outputs } = JSON.parse(fs.readFileSync(made, 'utf8')) as { outputs: Record<string, { bytes: number; inputs: object }> };
  const [name, bundle] = Object.entries(outputs).find(([name]) => name.endsWith('/extension.js')) ?? expect.fail('there is no extension.js');
  expect(Object.keys(bundle.inputs).filter((name) => !/^(src|node_modules\/dotenv)\//.test(name))).toEqual([]);
  expect(bundle.bytes).toBeLessThan(100_000);
  // by require, which finds them without .js, and not before they are asked for
  const loads = [...fs.readFileSync(path.resolve(__dirname, '..', name), 'utf8').matchAll(/(\S{0,12})\((require|import)\("\.\/(\w+)"\)/g)];
  expect(loads.map(([, before, , what]) => [what, /=>\w+$/.test(before ?? '')]).sort()).toEqual([['adapterProcess', true], ['languageClient', true]]);
});

// package.json against itself and against what the code registers.
import * as fs from 'node:fs';
import * as path from 'node:path';
import { expect, test } from 'vitest';
import type { ExtensionContext } from 'vscode';
import { DEBUG_COMMANDS } from '../src/debugCommands';
import { activate } from '../src/extension';
import { pythonProcesses } from '../src/pickProcess';
import './support';
import { state, workspace } from './vscode';

interface Snippet {
  readonly label: string;
  readonly body: Record<string, unknown> & { readonly request: 'launch' | 'attach' };
}
interface Manifest {
  readonly contributes: {
    readonly commands: { readonly command: string }[];
    readonly breakpoints: { readonly language: string }[];
    readonly configuration: { readonly properties: Record<string, { readonly default: unknown }> };
    readonly debuggers: {
      readonly configurationAttributes: Record<string, { readonly properties: Record<string, { readonly description?: string }> }>;
      readonly configurationSnippets: Snippet[];
      readonly variables: Record<string, string>;
    }[];
  };
}

const { contributes } = JSON.parse(fs.readFileSync(path.join(__dirname, '../package.json'), 'utf8')) as Manifest;
const [contributed] = contributes.debuggers;

test('every command that package.json names is registered, and those of the language server', () => {
  workspace.isTrusted = false; // no language server
  activate({ subscriptions: [], workspaceState: new Map() } as unknown as ExtensionContext);
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

test('the margin of Python files takes breakpoints', () => {
  expect(contributes.breakpoints).toEqual([{ language: 'python' }]);
});

test('the process picker lists Python processes, newest first', () => {
  const ps = '  10 /usr/bin/python3 train.py --fast\n 11 /bin/bash python3\n 12 python3.12 -m pkg\n 13 /usr/bin/pythonista\n';
  expect(pythonProcesses(ps, 0).map((item) => [item.pid, item.label])).toEqual([
    ['12', 'python3.12 -m pkg'],
    ['10', 'python3 train.py --fast'],
  ]);
  expect(pythonProcesses(ps, 12)).toHaveLength(1);
});

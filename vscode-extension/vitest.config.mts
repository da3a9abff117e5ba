import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

export default defineConfig({
  resolve: { alias: { 'vscode-languageclient/node': here('./test/languageClient.ts'), vscode: here('./test/vscode.ts') } },
  test: { include: ['test/*.spec.ts'], testTimeout: 30_000 },
});

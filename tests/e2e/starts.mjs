// Start and stop a program many times in the workbench, and count the starts that fail: `node starts.mjs [TIMES]`.
// Not a part of the suite: 300 starts take a quarter of an hour. Needs what run.sh prepares.
import fs from 'node:fs';
import path from 'node:path';
import { clickGutter, openFile } from './support/editor.mjs';
import { dismissNotifications, notifications, sessionOver, stoppedAt } from './support/debugging.mjs';
import { startWorkbench } from './support/workbench.mjs';

const times = Number(process.argv[2] ?? 300);
const program = (workspace) => path.join(workspace, 'start.py');
const workbench = await startWorkbench({ prepare: (workspace) => fs.writeFileSync(program(workspace), 'x = 1\nprint(x)\n') });
const { page } = workbench;
const seconds = [];
let failed = 0;
await openFile(page, program(workbench.workspace), 2);
await clickGutter(page, 2);
for (let start = 1; start <= times; start++) {
  const begun = Date.now();
  try {
    await page.keyboard.press('F5');
    await stoppedAt(page, 'start.py', 2);
    seconds.push((Date.now() - begun) / 1000);
  } catch (error) {
    failed++;
    console.log(`start ${start} failed: ${error.message}; ${await notifications(page)}`);
    await workbench.screenshot(`start-${start}`);
    await dismissNotifications(page);
  }
  await page.keyboard.press('Shift+F5');
  await sessionOver(page).catch(() => {});
  if (start % 25 === 0) console.log(`${start} starts, ${failed} failed`);
}
seconds.sort((a, b) => a - b);
console.log(`${times} starts, ${failed} failed; seconds to the stop: median ${seconds[seconds.length >> 1]}, longest ${seconds.at(-1)}`);
await workbench.stop();
process.exit(failed > 0 ? 1 : 0);

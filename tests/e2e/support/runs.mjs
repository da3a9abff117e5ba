// What a user does in the view of runs, and in the panels that it opens.

/** The first row whose text begins with a label, or is as told; `which` narrows the rows down. */
export function row(page, text, which = '') {
  const wanted = text instanceof RegExp ? text : new RegExp(`^${text.replace(/[[\]]/g, '\\$&')}`);
  return page.locator(`.part.sidebar .monaco-list-row${which}`, { hasText: wanted }).first();
}

/** Open a row; again where a refresh of the view has swallowed the click. */
export async function open(page, text) {
  await row(page, text).waitFor(); // what a run has recorded may come late
  for (let attempt = 1; ; attempt++) {
    try {
      if ((await row(page, text, '[aria-expanded="true"]').count()) > 0) return; // also over a window reload
      await row(page, text, '[aria-expanded="false"]').locator('.monaco-tl-twistie').click({ timeout: 5_000 });
      return await row(page, text, '[aria-expanded="true"]').waitFor({ timeout: 5_000 });
    } catch (error) {
      if (attempt === 5) throw error;
    }
  }
}

/** Click an action of a row; from elsewhere, for the tooltip of what the mouse was on covers the row. */
export async function act(page, text, label) {
  await page.mouse.move(900, 700);
  await page.locator('.monaco-hover:visible').waitFor({ state: 'hidden' });
  await row(page, text).hover();
  await row(page, text).locator(`.action-label[aria-label="${label}"]`).click();
}

/** What is in the page of the panel that is seen. */
export function drawn(page, which) {
  return page.frameLocator('iframe.webview.ready:visible').frameLocator('#active-frame').locator(which);
}

/** Wait until one of two panels that are seen has drawn an element. */
export async function drawnInOne(page, which) {
  const panels = [0, 1].map((number) => page.locator('iframe.webview.ready:visible').nth(number));
  const found = panels.map(async (panel) => {
    const element = panel.contentFrame().frameLocator('#active-frame').locator(which).first();
    await element.waitFor();
    return element;
  });
  return Promise.any(found);
}

/** Wait until a line is the active one of an editor, which need not have the focus. */
export async function inLine(page, line) {
  await page.locator('.line-numbers.active-line-number', { hasText: new RegExp(`^${line}$`) }).waitFor();
  await page.locator('.editor-instance .view-line span[class^="mtk"]').first().waitFor();
}

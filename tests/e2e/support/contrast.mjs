// Finds texts of a panel that can hardly be read, by the rule of WCAG 2 (AA): axe-core for HTML, which knows no SVG, and its colours for SVG.
import fs from 'node:fs';
import { createRequire } from 'node:module';

const AXE = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const KINDS = { 'Default Light Modern': 'vscode-light', 'Default Dark Modern': 'vscode-dark', 'Default High Contrast': 'vscode-high-contrast' };

/** The texts of the panel that is seen, in a light theme, a dark one and one of high contrast, that have too little contrast. */
export async function hardToRead(workbench, name) {
  const found = [];
  for (const [theme, kind] of Object.entries(KINDS)) {
    workbench.configure({ 'workbench.colorTheme': theme });
    const inPanel = workbench.page.frameLocator('iframe.webview.ready:visible').frameLocator('#active-frame');
    const body = inPanel.locator(`body[data-vscode-theme-kind="${kind}"]`);
    await body.waitFor();
    const frame = await (await body.elementHandle()).ownerFrame();
    await frame.evaluate(AXE); // what the debugger runs needs no permission of the page's content security policy
    await frame.evaluate(() => (document.body.style.backgroundColor = 'var(--vscode-editor-background)')); // the page is transparent: this is below it
    for (const each of [...(await frame.evaluate(inHtml)), ...(await frame.evaluate(inSvg))]) found.push(`${name} ${kind}: ${each}`);
    await workbench.screenshot(`${name}-${kind.replace('vscode-', '')}`);
  }
  return found;
}

async function inHtml() {
  const { violations } = await axe.run(document, { runOnly: ['color-contrast'], iframes: false });
  return violations.flatMap(({ nodes }) => nodes.map(({ html, any }) => `${html.slice(0, 120)} ${any[0]?.data?.contrastRatio}`));
}

/** Texts of SVG, on what is drawn below the middle of each. */
function inSvg() {
  const { Color, flattenColors, getContrast } = axe.commons.color;
  const color = (text, opacity = 1) => {
    const made = new Color();
    made.parseString(text);
    made.alpha *= opacity;
    return made;
  };
  const page = color(getComputedStyle(document.body).backgroundColor);
  const drawn = [...document.querySelectorAll('svg rect')].map((rect) => ({ rect, style: getComputedStyle(rect), box: rect.getBoundingClientRect() }));
  const found = [];
  for (const text of document.querySelectorAll('svg text')) {
    const { x, y, width, height } = text.getBoundingClientRect();
    const [middle, center] = [x + width / 2, y + height / 2];
    const below = drawn.filter(({ rect, style, box }) => style.fill !== 'none' && box.left <= middle && box.right >= middle && box.top <= center && box.bottom >= center && rect.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING);
    const background = below.reduce((under, { style }) => flattenColors(color(style.fill, Number(style.fillOpacity)), under), page);
    const ratio = getContrast(background, flattenColors(color(getComputedStyle(text).fill), background));
    if (ratio < 4.5) found.push(`${text.textContent} (${text.closest('g')?.getAttribute('class')}) ${ratio.toFixed(2)}`);
  }
  return found;
}

/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
// What the pages of panels share: messages to the extension, the search, and the mouse and the keys on the picture.
import './pageTexts';
import * as l10n from '@vscode/l10n';

interface Host {
  postMessage(message: object): void;
  setState(state: unknown): void;
}
declare function acquireVsCodeApi(): Host;

export const host = acquireVsCodeApi();
export const svg = element('picture') as unknown as SVGSVGElement;
export const searched = element('search') as HTMLInputElement;
/** How much a step of the wheel, or of + and -, enlarges. */
const STEP = 1.25;

/** What a page does with its picture. */
interface Picture<Look> {
  /** What is looked at. */
  readonly looked: () => Look;
  /** Moves from what was looked at by so many pixels. */
  readonly drag: (from: Look, x: number, y: number) => void;
  /** Enlarges by a factor around a pixel, by default the middle. */
  readonly zoom: (factor: number, x?: number, y?: number) => void;
  readonly fit: () => void;
  readonly next: () => void;
  readonly click: (event: MouseEvent) => void;
  /** Tells whether a key has a meaning, and does what it means. */
  readonly key: (key: string) => boolean;
  /** Tells whether a turn of the wheel does something else than zoom, and does it. */
  readonly wheel?: (event: WheelEvent) => boolean;
}

export function element(id: string): HTMLElement {
  return document.getElementById(id) as HTMLElement;
}

export function say(text: string): void {
  element('details').textContent = text;
}

/** Opens the line of a box or bar that has one. */
export function open({ place, callers }: { readonly place?: object | undefined; readonly callers?: readonly object[] | undefined }): void {
  if (place) host.postMessage({ type: 'open', place, ...(callers && { callers }) });
}

/** Selects the next in which the text of the search is found, and says which it is; `select` returns what is said of it. */
export function selectNext<T>(search: (text: string) => readonly T[], selected: T | undefined, select: (found: T) => string): void {
  const all = searched.value ? search(searched.value) : [];
  const place = (all.findIndex((each) => each === selected) + 1) % Math.max(all.length, 1);
  const found = all[place];
  if (found) say(l10n.t('{0} of {1}: {2}', place + 1, all.length, select(found)));
  else say(l10n.t('Nothing is found for {0}.', searched.value));
}

/** Serves the mouse and the keys; `receive` gets what the extension sends. */
export function serve<Look>(picture: Picture<Look>, receive: (data: never) => void): void {
  let drag: { readonly x: number; readonly y: number; readonly from: Look; moved: boolean } | undefined;
  svg.addEventListener('pointerdown', ({ clientX, clientY }) => (drag = { x: clientX, y: clientY, from: picture.looked(), moved: false }));
  svg.addEventListener('pointermove', ({ clientX, clientY, buttons }) => {
    if (!drag || buttons === 0) return;
    const [x, y] = [clientX - drag.x, clientY - drag.y];
    drag.moved ||= Math.abs(x) + Math.abs(y) > 4;
    if (drag.moved) picture.drag(drag.from, x, y);
  });
  svg.addEventListener('click', (event) => {
    if (!drag?.moved) picture.click(event);
    drag = undefined;
  });
  svg.addEventListener(
    'wheel',
    (event) => {
      if (!picture.wheel?.(event)) picture.zoom(event.deltaY < 0 ? STEP : 1 / STEP, event.offsetX, event.offsetY);
      event.preventDefault();
    },
    { passive: false },
  );
  svg.addEventListener('keydown', (event) => {
    const { key } = event;
    if (key === '+') picture.zoom(STEP);
    else if (key === '-') picture.zoom(1 / STEP);
    else if (key === '0') picture.fit();
    else if (key === '/') searched.focus();
    else if (!picture.key(key)) return;
    event.preventDefault();
  });
  searched.addEventListener('keydown', ({ key }) => {
    if (key === 'Enter') picture.next();
    else if (key === 'Escape') svg.focus();
  });
  element('fit').addEventListener('click', picture.fit);
  window.addEventListener('message', ({ data }: MessageEvent) => {
    receive(data as never);
    svg.focus();
  });
  host.setState(JSON.parse(document.body.dataset['state'] ?? 'null')); // VS Code keeps it over a window reload
  host.postMessage({ type: 'ready' });
}

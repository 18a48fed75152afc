import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { AxeBuilder } from '@axe-core/playwright';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { type Api, createApi } from '../../support/api.ts';
import { openChromium } from '../../support/chromium.ts';
import { type System, startSystem } from '../../support/system.ts';

const BUILD = fileURLToPath(new URL('../../../scripts/console.mjs', import.meta.url));
/** A person gives up earlier. */
const TIMEOUT_MS = 10_000;

/** Every place where a page could keep something. Run in pages; the compiler knows no browser. */
export const EVERYWHERE = `JSON.stringify([
  document.documentElement.outerHTML,
  Array.from(document.querySelectorAll('input, textarea'), ({ value }) => value),
  location.href, history.state, { ...localStorage }, { ...sessionStorage }, document.cookie,
])`;

/** A running system with the console as it is now, and a Chromium to look at it. */
export interface Stage extends AsyncDisposable {
  system: System;
  api: Api;
  /** Opens a page of the console, in a window that knows of no other. */
  open(path: string, options?: SceneOptions): Promise<Scene>;
}

export interface SceneOptions {
  width?: number;
  height?: number;
  theme?: 'light' | 'dark';
}

export interface Scene {
  page: Page;
  context: BrowserContext;
  /** Errors and warnings of the page, as its console and its policy say them. */
  complaints: string[];
}

export async function openStage(
  settings: Record<string, string> = {},
  /** Another one where people log in, for example. */
  start: (settings: Record<string, string>) => Promise<System> = startSystem,
): Promise<Stage> {
  const stack = new AsyncDisposableStack();
  // Does nothing when it is up to date.
  await promisify(execFile)(process.execPath, [BUILD]);
  const system = stack.use(await start(settings));
  const browser = await openChromium();
  stack.defer(() => browser.close());

  async function open(path: string, options: SceneOptions = {}): Promise<Scene> {
    const { width = 1280, height = 900, theme = 'light' } = options;
    const context = await browser.newContext({
      baseURL: system.url,
      viewport: { width, height },
      colorScheme: theme,
      // Colours on their way to others are neither the ones nor the others.
      reducedMotion: 'reduce',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const page = await context.newPage();
    page.setDefaultTimeout(TIMEOUT_MS);
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(path);
    return { page, context, complaints };
  }

  return { system, api: createApi(system.url), open, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** Somebody who logs in on their way to a page, and comes to it. */
export async function logInAs(stage: Stage, account: string, path: string): Promise<Page> {
  const { page } = await stage.open(path);
  await page.getByRole('link', { name: 'Log in' }).click();
  await page.getByLabel('Account').fill(account);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.waitForURL(stage.system.url + path);
  return page;
}

const COLOURS = ['color-contrast', 'link-in-text-block'];

/** What axe finds serious on a page, in both themes. A line per finding. */
export async function seriousFindings(page: Page): Promise<string[]> {
  const findings: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const isThere = await page.evaluate<boolean>('"axe" in window');
    const axe = new AxeBuilder(isThere ? { page, axeSource: 'void 0' } : { page });
    const { violations } = await axe
      .options({
        resultTypes: ['violations'],
        // Apart from colours, a page is the same in both.
        ...(colorScheme === 'dark' ? { runOnly: COLOURS } : {}),
      })
      // Pages have no frames, and need no other page in which what is found in them is put together.
      .setLegacyMode()
      .analyze();
    for (const { id, impact, nodes } of violations)
      if (impact === 'serious' || impact === 'critical')
        findings.push(`${colorScheme}: ${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
  }
  return findings;
}

/** Goes on with Tab until something has the focus, as those do who have no mouse. */
export async function tabTo(page: Page, target: Locator, most = 80): Promise<void> {
  await target.waitFor();
  for (let pressed = 0; pressed < most; pressed++) {
    if ((await target.and(page.locator(':focus')).count()) === 1) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`${target} is not reached with ${most} times Tab`);
}

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { AxeBuilder } from '@axe-core/playwright';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { type Api, createApi } from '../../support/api.ts';
import { openChromium } from '../../support/chromium.ts';
import { type System, startSystem } from '../../support/system.ts';
import { until } from '../../support/wait.ts';

const BUILD = fileURLToPath(new URL('../../../scripts/console.mjs', import.meta.url));
/** Timeout of each wait in a page. A busy machine needs several times longer than usual. */
const TIMEOUT_MS = 30_000;

/**
 * JSON of every place where a page can store data. It is evaluated in the page, and a string because the tests compile
 * without DOM types.
 */
export const PAGE_STORAGE = `JSON.stringify([
  document.documentElement.outerHTML,
  Array.from(document.querySelectorAll('input, textarea'), ({ value }) => value),
  location.href, history.state, { ...localStorage }, { ...sessionStorage }, document.cookie,
])`;

/** A running system with the current console, and a Chromium browser. */
export interface ConsoleFixture extends AsyncDisposable {
  system: System;
  api: Api;
  /** Opens a page of the console in an isolated browser context. */
  open(path: string, options?: PageOptions): Promise<ConsolePage>;
}

export interface PageOptions {
  width?: number;
  height?: number;
  theme?: 'light' | 'dark';
}

export interface ConsolePage {
  page: Page;
  context: BrowserContext;
  /** Errors and warnings in the browser console, including Content Security Policy violations. */
  consoleMessages: string[];
}

export async function startConsole(
  settings: Record<string, string> = {},
  /** Starts the system, for example in team mode. */
  start: (settings: Record<string, string>) => Promise<System> = startSystem,
): Promise<ConsoleFixture> {
  const stack = new AsyncDisposableStack();
  // Skips the build when it is up to date.
  await promisify(execFile)(process.execPath, [BUILD]);
  const system = stack.use(await start(settings));
  const browser = await openChromium();
  stack.defer(() => browser.close());

  async function open(path: string, options: PageOptions = {}): Promise<ConsolePage> {
    const { width = 1280, height = 900, theme = 'light' } = options;
    const context = await browser.newContext({
      baseURL: system.url,
      viewport: { width, height },
      colorScheme: theme,
      // Color contrast cannot be checked during a transition.
      reducedMotion: 'reduce',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const page = await context.newPage();
    page.setDefaultTimeout(TIMEOUT_MS);
    const consoleMessages: string[] = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) consoleMessages.push(message.text());
    });
    page.on('pageerror', (error) => consoleMessages.push(error.message));
    await page.goto(path);
    // A route handler that answers while the context closes fails, which would end the whole run.
    const close = context.close.bind(context);
    context.close = async (closing) => {
      if (!page.isClosed()) await page.unrouteAll({ behavior: 'ignoreErrors' });
      await close(closing);
    };
    return { page, context, consoleMessages };
  }

  return { system, api: createApi(system.url), open, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** Opens a page, logs in and waits for the requested page. */
export async function logInAs(fixture: ConsoleFixture, account: string, path: string): Promise<Page> {
  const { page } = await fixture.open(path);
  await page.getByRole('link', { name: 'Log in' }).click();
  await page.getByLabel('Account').fill(account);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.waitForURL(fixture.system.url + path);
  return page;
}

/**
 * Waits until nothing on the page is wider than the window. A layout that depends on the width follows in the render after
 * the change of the width, so it must not be measured once.
 */
export const fitsWindow = (page: Page): Promise<unknown> =>
  until('nothing is wider than the window', () =>
    page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth'),
  );

const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

/** Returns the serious and critical axe violations of a page in both themes, one line per violation. */
export async function axeViolations(page: Page): Promise<string[]> {
  const findings: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const isThere = await page.evaluate<boolean>('"axe" in window');
    const axe = new AxeBuilder(isThere ? { page, axeSource: 'void 0' } : { page });
    const { violations } = await axe
      .options({
        resultTypes: ['violations'],
        // The themes differ only in colors.
        ...(colorScheme === 'dark' ? { runOnly: COLOR_RULES } : {}),
      })
      // The pages have no frames, so axe needs no extra page to merge results.
      .setLegacyMode()
      .analyze();
    for (const { id, impact, nodes } of violations)
      if (impact === 'serious' || impact === 'critical')
        findings.push(`${colorScheme}: ${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
  }
  return findings;
}

/** Presses Tab until the target has the focus. */
export async function tabTo(page: Page, target: Locator, most = 80): Promise<void> {
  await target.waitFor();
  for (let pressed = 0; pressed < most; pressed++) {
    if ((await target.and(page.locator(':focus')).count()) === 1) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`${target} did not get the focus after ${most} Tab presses`);
}

import { type Browser, chromium } from 'playwright-core';

const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Chromium without windows: it opens a page in a third of the CPU time of the whole browser. */
export const CHROMIUM = '/usr/bin/chromium-headless-shell';

/** Starts the Chromium of the host without background network requests. */
export function openChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: QUIET });
}

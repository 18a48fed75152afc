import type { Locator, Page } from 'playwright-core';

export const button = (page: Page, name: string): Locator => page.getByRole('button', { name, exact: true });
export const dialog = (page: Page): Locator => page.getByRole('dialog');

/** Returns the secret from the response that creates the webhook, read outside of the page. */
export async function secretOf(page: Page): Promise<string> {
  const response = await page.waitForResponse(
    (candidate) => candidate.request().method() === 'POST' && candidate.url().endsWith('/deployments'),
  );
  return (await response.json()).data.shared_secret;
}

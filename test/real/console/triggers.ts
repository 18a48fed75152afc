import type { Locator, Page } from 'playwright-core';

export const button = (page: Page, name: string): Locator => page.getByRole('button', { name, exact: true });
export const dialog = (page: Page): Locator => page.getByRole('dialog');

/** The only answer that holds it, read where the page does not notice. */
export async function secretOf(page: Page): Promise<string> {
  const answer = await page.waitForResponse(
    (one) => one.request().method() === 'POST' && one.url().endsWith('/deployments'),
  );
  return (await answer.json()).data.shared_secret;
}

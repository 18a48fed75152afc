import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeViolations, type ConsoleFixture, startConsole } from './console-fixture.ts';

/** A PNG of one red pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);
/** Pastes the image into the focused field. A string, because the tests compile without DOM types. */
const PASTE = `(() => {
  const bytes = Uint8Array.from(atob('${PIXEL.toString('base64')}'), (char) => char.charCodeAt(0));
  const data = new DataTransfer();
  data.items.add(new File([bytes], 'pasted.png', { type: 'image/png' }));
  document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
})()`;
/** Drops a text file on the message input. */
const DROP = `(() => {
  const data = new DataTransfer();
  data.items.add(new File(['dropped text'], 'dropped.txt', { type: 'text/plain' }));
  const target = document.querySelector('textarea[aria-label=Message]').parentElement;
  for (const type of ['dragenter', 'dragover', 'drop'])
    target.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
})()`;
const NATURAL_WIDTH = (index: number) => `document.querySelectorAll('article img')[${index}].naturalWidth`;

describe('images and files in the message input', () => {
  let fixture: ConsoleFixture;
  beforeAll(async () => {
    fixture = await startConsole();
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  async function begin(agent: object, message?: string): Promise<string> {
    const agentId = await fixture.api.createAgent(agent);
    const { body } = await fixture.api.post(`/agents/${agentId}/conversations`, { message });
    return String(body.data.session_id);
  }
  const attachments = (page: Page) => page.getByRole('list', { name: 'Attachments' }).getByRole('listitem');

  it('sends a pasted image, a dropped file and a file of the workspace with a text', async () => {
    const session = await begin({ model: 'rehearsal/echo' });
    const put = await fetch(
      `${fixture.system.url}/api/v1/sessions/${session}/files/content?path=notes/a.txt`,
      {
        method: 'PUT',
        body: 'from the workspace',
        headers: { 'content-type': 'application/octet-stream' },
      },
    );
    expect(put.status).toBe(201);
    const { page, consoleMessages } = await fixture.open(`/sessions/${session}`);
    const input = page.getByRole('textbox', { name: 'Message' });
    await input.fill('What is this?');
    await input.focus();
    await page.evaluate(PASTE);
    await page.evaluate(DROP);
    await page.getByRole('button', { name: 'Attach images and files' }).click();
    await page.getByRole('menuitem', { name: 'Choose from the workspace' }).click();
    await page.getByRole('button', { name: 'notes' }).click();
    await page.getByRole('button', { name: 'a.txt' }).click();
    await expect.poll(() => attachments(page).count()).toBe(3);
    await page.getByRole('button', { name: 'Remove dropped.txt' }).waitFor();
    expect(await axeViolations(page)).toEqual([]);

    await page.getByRole('button', { name: 'Send', exact: true }).click();
    const message = page.getByRole('article', { name: 'Message from User' });
    await message.getByText('What is this?').waitFor();
    await message.getByRole('img', { name: 'pasted.png' }).waitFor();
    await expect.poll(() => page.evaluate(NATURAL_WIDTH(0))).toBe(1);
    await message.getByRole('link', { name: /dropped\.txt/ }).waitFor();
    await message.getByRole('link', { name: /a\.txt/ }).waitFor();
    await expect.poll(() => attachments(page).count()).toBe(0);
    await page.getByRole('article', { name: 'Message from Agent' }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    expect(consoleMessages).toEqual([]);
    await page.context().close();
  });

  it('uploads again after a failure and keeps the message until then', async () => {
    const session = await begin({ model: 'rehearsal/echo' });
    const { page } = await fixture.open(`/sessions/${session}`);
    await page.route('**/api/v1/uploads?*', (route) => route.abort());
    const input = page.getByRole('textbox', { name: 'Message' });
    await input.focus();
    await page.evaluate(PASTE);
    const retry = page.getByRole('button', { name: 'Upload pasted.png again' });
    await retry.waitFor();
    expect(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled()).toBe(true);
    await page.unroute('**/api/v1/uploads?*');
    await retry.click();
    await retry.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page
      .getByRole('article', { name: 'Message from User' })
      .getByRole('img', { name: 'pasted.png' })
      .waitFor();
    await page.context().close();
  });

  it('answers a question of the agent with a form, and the turn continues', async () => {
    const schema = {
      type: 'object',
      properties: {
        city: { type: 'string', title: 'City', maxLength: 6 },
        size: { type: 'string', title: 'Size', enum: ['small', 'large'] },
        gift: { type: 'boolean', title: 'Gift' },
      },
      required: ['city', 'size'],
    };
    const steps = [
      { tool: 'ask_user', input: { question: 'Where should it go?', schema } },
      { text: 'Sent: {{last_tool_output}}' },
    ];
    const session = await begin({ model: 'rehearsal/script', model_options: { steps } }, 'Go.');
    const { page, consoleMessages } = await fixture.open(`/sessions/${session}`);
    const card = page.getByRole('article', { name: 'Call of ask_user' });
    await card.getByRole('paragraph').getByText('Where should it go?', { exact: true }).waitFor();
    await page.getByText('Needs input', { exact: true }).waitFor();
    await page.getByText('Waiting for your answer.', { exact: true }).first().waitFor();
    expect(await axeViolations(page)).toEqual([]);
    const answer = page.getByRole('button', { name: 'Answer', exact: true });
    await answer.click();
    await page.getByText('This field is required.').first().waitFor();
    await page.getByLabel('City').fill('Bielefeld');
    await page.getByRole('combobox', { name: 'Size' }).click();
    await page.getByRole('option', { name: 'large' }).click();
    await answer.click();
    await page
      .getByText(/must have at most 6 characters/)
      .first()
      .waitFor();
    await page.getByLabel('City').fill('Berlin');
    await page.getByLabel('Gift').check();
    await answer.click();
    await page.getByText('Sent: {"city":"Berlin","size":"large","gift":true}', { exact: true }).waitFor();
    expect(consoleMessages.filter((text) => !text.includes('400'))).toEqual([]);
    await page.context().close();
  });

  it('submits the result of a client tool in place of the client', async () => {
    const tool = {
      type: 'client',
      name: 'get_location',
      description: 'Returns the location of the user.',
      input_schema: { type: 'object', properties: {} },
    };
    const steps = [{ tool: 'get_location', input: {} }, { text: 'You are at {{last_tool_output}}' }];
    const agent = { model: 'rehearsal/script', tools: [tool], model_options: { steps } };
    const { page } = await fixture.open(`/sessions/${await begin(agent, 'Where am I?')}`);
    await page.getByText('Waiting for the client to run get_location.', { exact: true }).first().waitFor();
    await page.getByLabel('Result').fill('{"city": "Berlin"}');
    await page.getByRole('button', { name: /^Submit result/ }).click();
    await page.getByText('You are at {"city":"Berlin"}', { exact: true }).waitFor();
    await page.context().close();
  });

  it('shows the structured output of an answer as JSON', async () => {
    const agent = {
      model: 'rehearsal/script',
      output_schema: { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] },
      model_options: { steps: [{ text: '{"total": 42}' }] },
    };
    const { page } = await fixture.open(`/sessions/${await begin(agent, 'Add.')}`);
    await page.getByRole('region', { name: 'Structured output' }).getByText('"total": 42').waitFor();
    await page.context().close();
  });
});

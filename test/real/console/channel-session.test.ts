import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';
import { type ConsoleFixture, startConsole } from './console-fixture.ts';

const SENDER = '{"provider":"slack","external_id":"U123","name":"Ada Lovelace","group":true}';

describe('a session of a channel', () => {
  let fixture: ConsoleFixture;
  let session: string;
  beforeAll(async () => {
    fixture = await startConsole();
    const agent = await fixture.api.createAgent({
      model: 'rehearsal/script',
      model_options: { steps: [{ tool: 'calculator', input: { expression: '1 + 1' } }, { text: 'Well.' }] },
      tools: [{ name: 'calculator', permission: 'ask' }],
    });
    const { body } = await fixture.api.post(`/agents/${agent}/conversations`, { message: 'Compute.' });
    session = String(body.data.session_id);
    const approval = await until('the approval is pending', async () => {
      const { body: page } = await fixture.api.get(`/sessions/${session}/approvals?status=pending`);
      return (page.data as { approval_id: string }[])[0]?.approval_id;
    });
    await fixture.api.post(`/sessions/${session}/approvals/${approval}`, { decision: 'allow' });
    await until('the turn has ended', async () => {
      const { body: page } = await fixture.api.get(`/sessions/${session}`);
      return page.data.state === 'completed';
    });
    // The events of a channel differ from those of a user in these members.
    await replaceInEvents('"text":"Compute."}]}', `"text":"Compute."}],"sender":${SENDER}}`);
    await replaceInEvents('"decision":"allow","by":', '"decision":"allow","via":"slack:U123","by":');
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  const replaceInEvents = (from: string, to: string) =>
    runOn(
      fixture.system.databaseUrl,
      `update sessions.journal set events = replace(events, '${from}', '${to}') where session_id = '${session}'`,
    );

  it('shows the sender of a message, and who has decided an approval in which product', async () => {
    const { page, consoleMessages } = await fixture.open(`/sessions/${session}`);
    const message = page.getByRole('article', { name: 'Message from Ada Lovelace' });
    await message.getByText('Compute.').waitFor();
    await message.getByText('Slack', { exact: true }).waitFor();
    const call = page.getByRole('article', { name: 'Call of calculator' });
    await call.getByRole('button', { expanded: false }).first().click();
    await call.getByText('Allowed by you via Slack.').waitFor();
    expect(consoleMessages).toEqual([]);
    await page.context().close();
  });
});

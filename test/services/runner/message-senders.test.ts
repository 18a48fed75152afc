import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { message } from './fake-sessions.ts';
import { storedPart } from './part-events.ts';
import { openTestRunner, textOf } from './runner-fixture.ts';

const text = (value: string) => ({ type: 'text', text: value });

describe('a message with a sender of a messaging product', () => {
  let fixture: Awaited<ReturnType<typeof openTestRunner>>;
  let turns = 0;
  beforeAll(async () => {
    fixture = await openTestRunner();
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  /** Returns the message as the model gets it. */
  async function receivedText(content: object[], sender: object): Promise<string | undefined> {
    const turnId = `trn_${++turns}`;
    const event = message(turnId, 1, 'user.message', content);
    const parsed = JSON.parse(event.json);
    const json = JSON.stringify({ ...parsed, data: { ...parsed.data, sender } });
    fixture.queueTurns({}, { turnId, messages: [{ ...event, json }] });
    return textOf(await fixture.waitForOutcome(turnId));
  }
  const sender = { provider: 'slack', external_id: 'U123', name: 'Ada', user_id: 'usr_1', group: true };

  it('begins with the name of the sender in a group', async () => {
    expect(await receivedText([text('hello\nall')], sender)).toBe('Ada: hello\nall');
    expect(await receivedText([text('a'), text('b')], sender)).toBe('Ada: ab');
  });

  it('stays as it is in a direct conversation', async () => {
    expect(await receivedText([text('hello')], { ...sender, group: false })).toBe('hello');
  });

  it('begins with the name when it begins with an image', async () => {
    const image = storedPart(fixture.files, Buffer.from('pixels'));
    expect(await receivedText([image, text('see')], sender)).toBe('Ada:[image image/png 6 bytes]see');
  });
});

import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import { message } from './fake-sessions.ts';
import { storedPart, toolCallEvents } from './part-events.ts';
import { openTestRunner, outcomeOf, type RunnerUnderTest, script, textOf } from './runner-fixture.ts';

const MIB = 1024 * 1024;

/** Runs a turn with one message and returns its journal. */
async function runTurn(
  fixture: RunnerUnderTest,
  turnId: string,
  content: object[],
  agent: object = { model: 'rehearsal/echo' },
) {
  fixture.queueTurns(agent, { turnId, messages: [message(turnId, 1, 'user.message', content)] });
  return fixture.waitForOutcome(turnId);
}

describe('a turn with image and file parts', () => {
  it('gives the parts to the model in the order of the message', async () => {
    await using fixture = await openTestRunner();
    const image = storedPart(fixture.files, Buffer.from('pixels'), { name: 'a.png' });
    const file = storedPart(fixture.files, Buffer.from('%PDF'), {
      type: 'file',
      media_type: 'application/pdf',
    });
    const journal = await runTurn(fixture, 'trn_1', [
      { type: 'text', text: 'Look: ' },
      image,
      { type: 'text', text: ' and ' },
      file,
    ]);
    expect(textOf(journal)).toBe('Look: [image image/png 6 bytes a.png] and [file application/pdf 4 bytes]');
  });

  it('fills {{input}} of rehearsal/script with the parts', async () => {
    await using fixture = await openTestRunner();
    const image = storedPart(fixture.files, Buffer.from('pixels'));
    const agent = script({ text: 'I see {{input}}.' });
    expect(textOf(await runTurn(fixture, 'trn_1', [image], agent))).toBe('I see [image image/png 6 bytes].');
  });

  it('gives the parts of a tool result to the model', async () => {
    await using fixture = await openTestRunner();
    const photo = storedPart(fixture.files, Buffer.from('pixels'), { name: 'photo.png' });
    const output = [{ type: 'text', text: 'Here: ' }, photo];
    const messages = [
      message('trn_1', 1, 'user.message', 'Take a photo'),
      ...toolCallEvents('trn_1', 2, output),
    ];
    fixture.queueTurns(script({ tool: 'camera' }, { text: 'Got {{last_tool_output}}' }), {
      turnId: 'trn_1',
      messages,
    });
    const journal = await fixture.waitForOutcome('trn_1');
    expect(textOf(journal)).toBe('Got Here: [image image/png 6 bytes photo.png]');
  });

  it('fails by name when the bytes of a part are missing', async () => {
    await using fixture = await openTestRunner();
    const part = { type: 'image', media_type: 'image/png', name: 'a.png', sha256: 'a'.repeat(64), size: 6 };
    expect(outcomeOf(await runTurn(fixture, 'trn_1', [part]))).toMatchObject({
      $case: 'failed',
      value: { error: { code: 'part_missing', message: expect.stringContaining('a.png') } },
    });
  });

  it('is queued again when the files service is unavailable', async () => {
    await using fixture = await openTestRunner();
    fixture.files.before.readPart = () => {
      throw refuse('DEPENDENCY_UNAVAILABLE', 'The storage does not answer.');
    };
    const part = storedPart(fixture.files, Buffer.from('pixels'));
    expect(outcomeOf(await runTurn(fixture, 'trn_1', [part]))).toMatchObject({
      $case: 'retry',
      value: { error: { code: 'dependency_unavailable' } },
    });
  });

  it('reads a part once for several turns of the same owner', async () => {
    await using fixture = await openTestRunner();
    const part = storedPart(fixture.files, Buffer.from('pixels'));
    for (const turnId of ['trn_1', 'trn_2', 'trn_3']) await runTurn(fixture, turnId, [part]);
    expect(fixture.files.readParts).toEqual([part.sha256]);
  });

  it('sends notes for the older parts that do not fit into the request', async () => {
    await using fixture = await openTestRunner();
    const parts = Array.from({ length: 9 }, (_, index) =>
      storedPart(fixture.files, Buffer.alloc(10 * MIB, index), { name: `${index}.png` }),
    );
    const messages = [
      message('trn_1', 1, 'user.message', parts.slice(0, 4)),
      message('trn_1', 2, 'agent.message', 'I see.'),
      message('trn_2', 3, 'user.message', parts.slice(4)),
    ];
    fixture.queueTurns({ model: 'rehearsal/echo' }, { turnId: 'trn_2', messages });
    const journal = await fixture.waitForOutcome('trn_2');
    expect(textOf(journal)).toContain('4.png');
    expect(fixture.files.readParts).toEqual(parts.slice(4).map(({ sha256 }) => sha256));
  });

  it('fails by name when its own parts do not fit into a request', async () => {
    await using fixture = await openTestRunner();
    const parts = Array.from({ length: 7 }, (_, index) =>
      storedPart(fixture.files, Buffer.alloc(10 * MIB, index)),
    );
    expect(outcomeOf(await runTurn(fixture, 'trn_1', parts))).toMatchObject({
      $case: 'failed',
      value: { error: { code: 'parts_too_large', message: expect.stringContaining('64 MiB') } },
    });
    expect(fixture.files.readParts).toEqual([]);
  });

  it('sends a note for a part that the model does not accept', async () => {
    await using fixture = await openTestRunner();
    const part = storedPart(fixture.files, Buffer.from('pixels'), { name: 'a.png' });
    const journal = await runTurn(fixture, 'trn_1', [{ type: 'text', text: 'Hi ' }, part], {
      model: 'rehearsal/shell',
    });
    expect(outcomeOf(journal)).toMatchObject({ $case: 'completed' });
    expect(fixture.files.readParts).toEqual([]);
  });
});

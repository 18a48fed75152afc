import { describe, expect, it } from 'vitest';
import { refuse } from '../../lib/errors.ts';
import { createLog } from '../../lib/log.ts';

function write(facts: object): { text: string; line: Record<string, unknown> } {
  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  createLog({ level: 'info', pretty: false, destination }).info(facts, 'told');
  const text = lines.join('');
  return { text, line: JSON.parse(text) };
}

describe('a line of the log', () => {
  it('is JSON with a level by name and the time of day', () => {
    const { line } = write({ request_id: 'req_1' });
    expect(line).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      request_id: 'req_1',
      msg: 'told',
    });
  });

  it.each([
    'authorization',
    'cookie',
    'shared_secret',
    'sharedSecret',
    'secret',
    'token',
    'password',
    'passport',
    'api_key',
  ])('hides %s, wherever it stands', (name) => {
    const { text } = write({ [name]: 'hush', request: { [name]: 'hush', headers: { [name]: 'hush' } } });
    expect(text).not.toContain('hush');
    expect(text.match(/\[redacted\]/g)).toHaveLength(3);
  });

  it('says of an error what went wrong and where, and nothing that a driver hangs on it', () => {
    const driver = Object.assign(new Error('duplicate key'), {
      code: '23505',
      detail: 'Key (email)=(someone@example.com) already exists.',
      query: 'insert into users',
      connection: { password: 'hush' },
    });
    const { text, line } = write({ err: refuse('INTERNAL', 'it failed', { cause: driver }) });
    expect(line.err).toMatchObject({
      message: 'it failed',
      code: 'INTERNAL',
      stack: expect.stringContaining('log.test.ts'),
      cause: { type: 'Error', message: 'duplicate key', code: '23505' },
    });
    expect(text).not.toMatch(/someone@example\.com|insert into|hush/);
  });

  it('says what was thrown when it was no error', () => {
    expect(write({ err: 'just a text' }).line.err).toEqual({ message: 'just a text' });
  });
});

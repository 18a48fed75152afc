import { describe, expect, it } from 'vitest';
import { refuse } from '../../lib/errors.ts';
import { createLog } from '../../lib/log.ts';

function write(facts: object): { text: string; line: Record<string, unknown> } {
  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  createLog({ level: 'info', destination }).info(facts, 'a message');
  const text = lines.join('');
  return { text, line: JSON.parse(text) };
}

describe('createLog', () => {
  it('writes JSON with a level name and an ISO time', () => {
    const { line } = write({ request_id: 'req_1' });
    expect(line).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      request_id: 'req_1',
      msg: 'a message',
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
    'serviceToken',
    'api_key',
  ])('redacts %s at every depth', (name) => {
    const { text } = write({ [name]: 'hush', request: { [name]: 'hush', headers: { [name]: 'hush' } } });
    expect(text).not.toContain('hush');
    expect(text.match(/\[redacted\]/g)).toHaveLength(3);
  });

  it('logs message, code, stack and cause of an error, and no other members', () => {
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

  it('logs a thrown value that is not an error as text', () => {
    expect(write({ err: 'just a text' }).line.err).toEqual({ message: 'just a text' });
  });
});

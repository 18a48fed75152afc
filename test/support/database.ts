import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { runOn } from './sql.ts';

export interface TestDatabase extends AsyncDisposable {
  url: string;
}

/** Creates an empty database, which disposal drops. */
export async function createDatabase(): Promise<TestDatabase> {
  const server = inject('postgresUrl');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await runOn(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = name;
  return {
    url: url.href,
    [Symbol.asyncDispose]: () => runOn(server, `drop database ${name} with (force)`),
  };
}

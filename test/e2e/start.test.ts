import { appendFile, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startPostgres } from '../../lib/db/embedded.ts';
import { createDatabase } from '../support/database.ts';
import { isAlive } from '../support/processes.ts';
import { cleanUpPlaces, createPlace, type Place } from '../support/programs.ts';
import { runOn } from '../support/sql.ts';
import { type Frame, readStream } from '../support/stream.ts';
import { until } from '../support/wait.ts';

const STORY = 'and then '.repeat(25);

/** Speaks for longer than a stopping runner waits. */
const STORYTELLER = {
  model: 'rehearsal/script',
  model_options: { steps: [{ text: STORY, chunk_chars: 9, delay_ms: 100 }] },
};

async function tell(place: Place): Promise<string> {
  const agent = await place.api.createAgent(STORYTELLER);
  const { body } = await place.api.post(`/agents/${agent}/conversations`, { message: 'go' });
  return String(body.data.session_id);
}

const streamOf = ({ api }: Place, session: string) =>
  `${api.origin}/api/v1/sessions/${session}/events/stream`;
const journalled = (frames: Frame[]) => frames.filter(({ id }) => id !== undefined);
const speaks = (frames: Frame[]) => frames.some(({ event }) => event === 'agent.message_delta');

describe('the first start', () => {
  cleanUpPlaces();

  it('serves, and says where, on what, and how to begin', async () => {
    const place = await createPlace();
    const program = await place.start();
    await until('the banner is there', () => program.output().includes('Ctrl-C'));
    expect(program.output()).toContain(`open      ${place.api.origin}/docs`);
    expect(program.output()).toContain('PostgreSQL 18, embedded');
    expect(program.output()).toContain(`curl ${place.api.origin}/api/v1/agents`);
    const command = /Try it\n(.*?)\n\n/s.exec(program.output())?.[1] ?? '';
    expect(command.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect((await fetch(`${place.api.origin}/docs`)).status).toBe(200);
  });

  it('makes secrets that only this user can read, which the next start uses again', async () => {
    const place = await createPlace();
    const program = await place.start();
    const webhook = await place.api.createWebhook(await place.api.createAgent());
    const secrets = await readSecrets(place);
    expect(secrets.map(({ name, mode }) => [name, mode])).toEqual([
      ['sealing-key', 0o600],
      ['service-secret', 0o600],
    ]);
    program.kill('SIGTERM');
    await program.exited;
    await place.start();
    expect(await readSecrets(place)).toEqual(secrets);
    expect((await place.api.trigger(webhook, 'still known?')).status).toBe(200);
  });

  it('can be given up at any moment, and the next one makes good what is missing', async () => {
    const place = await createPlace();
    for (const made of ['lock', 'postgres', 'postgres/cluster', 'secrets']) {
      const program = place.run();
      await until(`${made} is there`, () => stat(join(place.dataDir, made)).catch(() => undefined));
      program.kill('SIGTERM');
      // Before it has taken anything, the signal itself ends it.
      expect([0, null]).toContain(await program.exited);
    }
    await place.start();
    await place.api.createAgent();
  });
});

async function readSecrets({ dataDir }: Place) {
  const folder = join(dataDir, 'secrets');
  const names = (await readdir(folder)).sort();
  return Promise.all(
    names.map(async (name) => ({
      name,
      mode: (await stat(join(folder, name))).mode & 0o777,
      text: await readFile(join(folder, name), 'utf8'),
    })),
  );
}

describe('SIGTERM and SIGINT', () => {
  cleanUpPlaces();

  it.each(['SIGTERM', 'SIGINT'] as const)(
    '%s sends followers elsewhere, stops in order and loses no turn',
    async (signal) => {
      const place = await createPlace();
      const program = await place.start();
      const postgres = await place.postgresPid();
      const session = await tell(place);
      const url = streamOf(place, session);
      let followed: Frame[] = [];
      const reading = readStream(url, (frames) => {
        followed = frames;
        return false;
      });
      await until('the agent speaks', () => speaks(followed));
      program.kill(signal);
      const before = await reading;
      // The exit code is 1 when something did not stop in time.
      expect(await program.exited).toBe(0);
      expect(before.at(-1)?.event).toBe('stream.draining');
      expect(isAlive(postgres)).toBe(false);

      await place.start();
      const seen = journalled(before);
      const after = await readStream(url, (frames) => frames.at(-1)?.event === 'session.status_idle', {
        'Last-Event-ID': seen.at(-1)?.id ?? '',
      });
      const whole = [...seen, ...journalled(after)];
      expect(whole.map(({ id }) => Number(id))).toEqual(whole.map((_, index) => index + 1));
      expect(whole.filter(({ event }) => event === 'turn.completed')).toHaveLength(1);
      const { body } = await place.api.get(`/sessions/${session}/messages`);
      expect(body.data).toMatchObject([
        { role: 'user' },
        { role: 'agent', content: [{ type: 'text', text: STORY }] },
      ]);
    },
  );

  it.each(['start', 'dev'])('are obeyed when npm run %s gets one', async (script) => {
    const place = await createPlace();
    const npm = place.runScript(script);
    await until('the program is ready', () => place.isReady(), 30_000);
    const postgres = await place.postgresPid();
    npm.kill('SIGTERM');
    expect(await npm.exited).toBe(0);
    expect(isAlive(postgres)).toBe(false);
    await place.start();
  });

  it('are obeyed while a client takes its time to send', async () => {
    const place = await createPlace();
    const program = await place.start();
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"name": ')),
    });
    const sending = fetch(`${place.api.origin}/api/v1/agents`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
      duplex: 'half',
    } as RequestInit).catch((error: unknown) => error);
    await place.api.get('/agents');
    program.kill('SIGTERM');
    expect(await program.exited).toBe(0);
    await sending;
  });
});

describe('kill -9', () => {
  cleanUpPlaces();

  it('leaves no PostgreSQL behind, and the next start goes on with the turn', async () => {
    const place = await createPlace();
    const program = await place.start({ SERVICE_TURN_LEASE_SECONDS: '2' });
    const postgres = await place.postgresPid();
    const session = await tell(place);
    const url = streamOf(place, session);
    await readStream(url, speaks);
    program.kill('SIGKILL');
    await program.exited;
    await until('PostgreSQL has ended', () => !isAlive(postgres));
    await place.start({ SERVICE_TURN_LEASE_SECONDS: '2' });
    const frames = await readStream(url, (all) => all.at(-1)?.event === 'session.status_idle');
    expect(frames.filter(({ event }) => event === 'turn.completed')).toHaveLength(1);
  });

  it('of the embedded PostgreSQL is healed by itself; until then answers are 503', async () => {
    const place = await createPlace();
    await place.start();
    const { api } = place;
    const webhook = await api.createWebhook(await api.createAgent());
    const settings = join(place.dataDir, 'postgres/cluster/data/postgresql.auto.conf');
    const kept = await readFile(settings, 'utf8');
    // It cannot come back before this is mended, so that there is something to see.
    await appendFile(settings, 'nonsense = 1\n');
    const postgres = await place.postgresPid();
    process.kill(postgres, 'SIGKILL');

    await until('it is not ready', async () => !(await place.isReady()));
    const unavailable = { status: 503, body: { code: 'DEPENDENCY_UNAVAILABLE', error: { retryable: true } } };
    expect(await api.get('/sessions')).toMatchObject(unavailable);
    expect(await api.trigger(webhook, 'now?')).toMatchObject(unavailable);
    expect((await fetch(`${api.origin}/livez`)).status).toBe(200);

    await writeFile(settings, kept);
    await until('it is ready again', () => place.isReady());
    expect(await place.postgresPid()).not.toBe(postgres);
    const accepted = await api.trigger(webhook, 'now!');
    expect(accepted.status).toBe(200);
    const url = streamOf(place, String(accepted.body.data.session_id));
    const frames = await readStream(url, (all) => all.at(-1)?.event === 'session.status_idle');
    expect(frames.filter(({ event }) => event === 'turn.completed')).toHaveLength(1);
  });
});

describe('a directory of files that cannot be used', () => {
  cleanUpPlaces();

  it('is said by readiness, until it can be', async () => {
    const place = await createPlace();
    await place.start();
    const drafts = join(place.dataDir, 'blobs/drafts');
    await rename(drafts, `${drafts}.away`);
    const answer = await fetch(`${place.api.origin}/readyz?verbose`);
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain('the place where files are kept cannot be reached');
    await rename(`${drafts}.away`, drafts);
    expect(await place.isReady()).toBe(true);
  });
});

describe('a start that cannot succeed', () => {
  cleanUpPlaces();

  it('names the process that holds the data directory', async () => {
    const place = await createPlace();
    const first = await place.start();
    const second = place.run({ SERVICE_PORT: '0' });
    expect(await second.exited).toBe(1);
    expect(second.output()).toContain('SERVICE_DATA_DIR');
    expect(second.output()).toContain(`process ${first.pid} `);
    expect(await place.isReady()).toBe(true);
  });

  it('lists everything that is wrong on one screen, each with what was expected and how to mend it', async () => {
    const place = await createPlace();
    const file = join(place.dataDir, 'file');
    await writeFile(file, '');
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(place.port, '127.0.0.1', resolve));
    const program = place.run({
      SERVICE_DATA_DIR: file,
      SERVICE_LOG_LEVEL: 'loud',
      SERVICE_RUNNER_SLOTS: '-1',
      SERVICE_PUBLIC_URL: 'agents.example.com',
      SERVICE_SECRET: 'short',
      SERVICE_PROT: '8080',
      SERVICE_ALLOWED_HOSTS: 'a/b',
      SERVICE_DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:1/none',
    });
    expect(await program.exited).toBe(1);
    await new Promise((resolve) => holder.close(resolve));
    const entries = entriesOf(program.output());
    expect(entries.map(({ title }) => title.split(/[ :]/)[0]).sort()).toEqual([
      'SERVICE_ALLOWED_HOSTS',
      'SERVICE_DATABASE_URL',
      'SERVICE_DATA_DIR',
      'SERVICE_LOG_LEVEL',
      'SERVICE_PORT',
      'SERVICE_PROT',
      'SERVICE_PUBLIC_URL',
      'SERVICE_RUNNER_SLOTS',
      'SERVICE_SECRET',
    ]);
    for (const { expected, fix } of entries) expect([expected, fix]).not.toContain('');
    expect(program.output()).not.toContain('short');
    expect(program.output()).not.toContain('secret@');
  });

  it('names the setting of a directory for sandboxes that is none', async () => {
    const place = await createPlace();
    const file = join(place.dataDir, 'file');
    await writeFile(file, '');
    const program = place.run({ SERVICE_SANDBOX_DIRECTORY: file });
    expect(await program.exited).toBe(1);
    const [entry] = entriesOf(program.output());
    expect(entry?.title).toMatch(/^SERVICE_SANDBOX_DIRECTORY: .* is not a directory$/s);
  });

  it('names the keys that the object store does not know', async () => {
    const store = createServer((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n'));
      socket.on('error', () => {});
    });
    await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve));
    const { port } = store.address() as AddressInfo;
    const place = await createPlace();
    const program = place.run({
      SERVICE_S3_ENDPOINT: `http://127.0.0.1:${port}`,
      SERVICE_S3_ACCESS_KEY: 'somebody',
      SERVICE_S3_SECRET_KEY: 'only-between-us',
    });
    expect(await program.exited).toBe(1);
    await new Promise((resolve) => store.close(resolve));
    const [entry] = entriesOf(program.output());
    expect(entry?.title).toMatch(/^SERVICE_S3_ACCESS_KEY: the object store does not let this user/);
    expect(program.output()).not.toContain('only-between-us');
  });

  it.each([
    [['--target=nonsense'], /--target \("nonsense"\) names no module\n +expected: .*all, auth/],
    [['--target'], /--target names no module/],
    [['--port=1'], /--port=1 is not an option/],
  ])('explains %j', async (args, explanation) => {
    const place = await createPlace();
    const program = place.run({}, args);
    expect(await program.exited).toBe(1);
    expect(program.output()).toMatch(explanation);
  });

  const needs = {
    auth: ['SERVICE_DATABASE_URL'],
    agents: ['SERVICE_DATABASE_URL', 'SERVICE_FILES_ADDRESS'],
    sessions: ['SERVICE_AGENTS_ADDRESS', 'SERVICE_DATABASE_URL', 'SERVICE_FILES_ADDRESS'],
    deployments: [
      'SERVICE_AGENTS_ADDRESS',
      'SERVICE_AUTH_ADDRESS',
      'SERVICE_DATABASE_URL',
      'SERVICE_PUBLIC_URL',
      'SERVICE_SEALING_KEY',
      'SERVICE_SESSIONS_ADDRESS',
    ],
    files: [
      'SERVICE_AGENTS_ADDRESS',
      'SERVICE_DATABASE_URL',
      'SERVICE_S3_ENDPOINT',
      'SERVICE_SESSIONS_ADDRESS',
    ],
    runner: ['SERVICE_AGENTS_ADDRESS', 'SERVICE_FILES_ADDRESS', 'SERVICE_SESSIONS_ADDRESS'],
    edge: [
      'SERVICE_AGENTS_ADDRESS',
      'SERVICE_AUTH_ADDRESS',
      'SERVICE_DEPLOYMENTS_ADDRESS',
      'SERVICE_FILES_ADDRESS',
      'SERVICE_SESSIONS_ADDRESS',
    ],
  };
  it.each(Object.entries(needs))(
    'lists all that %s needs in a process of its own',
    async (target, variables) => {
      const place = await createPlace();
      const program = place.run({ SERVICE_GRPC_LISTEN: '127.0.0.1:0' }, [`--target=${target}`]);
      expect(await program.exited).toBe(1);
      const entries = entriesOf(program.output());
      const missing = entries.map(({ title }) => title.split(' ')[0]);
      expect(missing.sort()).toEqual([...variables, 'SERVICE_REDIS_URL', 'SERVICE_SECRET'].sort());
      for (const { title, fix } of entries) {
        const [, service] = /^SERVICE_(\w+)_ADDRESS/.exec(title) ?? [];
        if (service) expect(fix).toContain(`npm start -- --target=${service.toLowerCase()} `);
        if (/^SERVICE_(SECRET|SEALING_KEY)/.test(title))
          expect(fix).toBe('make one with: openssl rand -base64 32');
      }
    },
  );
});

describe('a PostgreSQL of the operator', () => {
  cleanUpPlaces();

  it('serves with a login that is no superuser, as long as it may create schemas and roles', async () => {
    // Roles belong to a whole server, and those of the shared one have been made by a superuser.
    const directory = await mkdtemp(join(tmpdir(), 'ahs-start-'));
    await using removal = new AsyncDisposableStack();
    removal.defer(() => rm(directory, { recursive: true, force: true }));
    await using server = await startPostgres({ directory, log: () => {} });
    await runOn(
      server.url,
      `create role modest login createrole password 'words'; grant create on database postgres to modest`,
    );
    const url = Object.assign(new URL(server.url), { username: 'modest', password: 'words' });
    const place = await createPlace();
    const program = await place.start({ SERVICE_DATABASE_URL: url.href });
    await place.api.createAgent();
    program.kill('SIGTERM');
    expect(await program.exited).toBe(0);
  });

  it.each([
    ['another password', { password: 'wrong' }, 'the server refuses the login'],
    ['an absent database', { pathname: '/absent' }, 'database "absent" does not exist'],
    ['nobody there', { port: '1' }, 'the server cannot be reached'],
  ])('is explained when it does not let us in: %s', async (_, change, explanation) => {
    await using database = await createDatabase();
    const place = await createPlace();
    const url = Object.assign(new URL(database.url), change);
    const program = place.run({ SERVICE_DATABASE_URL: url.href });
    expect(await program.exited).toBe(1);
    const [entry] = entriesOf(program.output());
    expect(entry?.title).toContain('SERVICE_DATABASE_URL');
    expect(entry?.title).toContain(explanation);
    expect(program.output()).not.toContain(url.password);
  });
});

/** The entries of the screen: a title, perhaps over several lines, then two lines with a label each. */
function entriesOf(screen: string): { title: string; expected: string; fix: string }[] {
  const entry = /^ {2}(\S.*?)\n {4}expected: (.*?)\n {4}to mend: {2}(.*?)\n$/gms;
  return [...screen.matchAll(entry)].map(([, title = '', expected = '', fix = '']) => ({
    title,
    expected,
    fix,
  }));
}

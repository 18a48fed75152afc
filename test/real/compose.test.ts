import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Project, ROOT, readProject, SECRETS, targetsOf, type Variables } from '../deploy/project.ts';
import { findCompose } from '../support/containers/find-compose.ts';

interface Answer {
  ok: boolean;
  output: string;
  errorOutput: string;
}

let directory: string;

function run(command: string[]): Promise<Answer> {
  const [program = '', ...args] = command;
  const env = { PATH: process.env.PATH, HOME: homedir() };
  return new Promise((resolve) => {
    execFile(program, args, { cwd: ROOT, env }, (error, output, errorOutput) =>
      resolve({ ok: !error, output, errorOutput }),
    );
  });
}

/** Returns the resolved project that Compose prints for docker-compose.yml and the given variables. */
async function config(user: Variables): Promise<Answer> {
  const file = join(directory, 'env');
  await writeFile(
    file,
    Object.entries(user)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  const options = ['--file', 'docker-compose.yml', '--env-file', file, '--profile', 'telemetry'];
  return run([...(await findCompose({ PATH: process.env.PATH })), ...options, 'config']);
}

/** The members that Compose 1 and Compose 2 print in the same form. */
function essence({ services }: Project) {
  const parts = Object.entries(services).map(([name, { image, command = null, environment = {} }]) => [
    name,
    { image, command, environment },
  ]);
  return Object.fromEntries(parts);
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ahs-compose-'));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

describe('docker compose config', () => {
  it('reads docker-compose.yml like the parser of the other tests', async () => {
    const user = {
      ...SECRETS,
      SERVICE_PORT: '9000',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel-collector:4318',
    };
    const { ok, output, errorOutput } = await config(user);
    expect(ok, errorOutput).toBe(true);
    const project: Project = parse(output);
    expect(essence(project)).toEqual(essence(readProject(user)));
    for (const { env } of targetsOf(project))
      expect(env).toMatchObject({ OTEL_EXPORTER_OTLP_ENDPOINT: user.OTEL_EXPORTER_OTLP_ENDPOINT });
  });

  it.each(Object.keys(SECRETS))('fails without %s', async (name) => {
    const { ok, errorOutput } = await config({ ...SECRETS, [name]: '' });
    expect(ok).toBe(false);
    expect(errorOutput).toMatch(/make one with: openssl rand/);
  });
});

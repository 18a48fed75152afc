import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Project, ROOT, readProject, SECRETS, targetsOf, type Variables } from '../deploy/project.ts';

interface Answer {
  ok: boolean;
  output: string;
  said: string;
}

/** The plugin of the docker client, or the program that Debian packages. */
const COMPOSES = [['docker', 'compose'], ['docker-compose']];

let directory: string;

function run(command: string[]): Promise<Answer> {
  const [program = '', ...args] = command;
  const env = { PATH: process.env.PATH, HOME: homedir() };
  return new Promise((resolve) => {
    execFile(program, args, { cwd: ROOT, env }, (error, output, said) =>
      resolve({ ok: !error, output, said }),
    );
  });
}

async function findCompose(): Promise<string[]> {
  for (const command of COMPOSES) if ((await run([...command, 'version'])).ok) return command;
  throw new Error(
    'Docker Compose is needed here: apt-get install docker-compose. No Docker daemon has to run.',
  );
}

/** What Compose makes of the file and the variables of a user, in the form in which it would carry it out. */
async function config(user: Variables): Promise<Answer> {
  const file = join(directory, 'env');
  await writeFile(
    file,
    Object.entries(user)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  const options = ['--file', 'docker-compose.yml', '--env-file', file, '--profile', 'telemetry'];
  return run([...(await findCompose()), ...options, 'config']);
}

/** What both generations of Compose write alike. */
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
  it('takes docker-compose.yml, and reads it as the tests without Compose do', async () => {
    const user = {
      ...SECRETS,
      SERVICE_PORT: '9000',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel-collector:4318',
    };
    const { ok, output, said } = await config(user);
    expect(ok, said).toBe(true);
    const project: Project = parse(output);
    expect(essence(project)).toEqual(essence(readProject(user)));
    for (const { env } of targetsOf(project))
      expect(env).toMatchObject({ OTEL_EXPORTER_OTLP_ENDPOINT: user.OTEL_EXPORTER_OTLP_ENDPOINT });
  });

  it.each(Object.keys(SECRETS))('refuses to go on without %s', async (name) => {
    const { ok, said } = await config({ ...SECRETS, [name]: '' });
    expect(ok).toBe(false);
    expect(said).toMatch(/make one with: openssl rand/);
  });
});

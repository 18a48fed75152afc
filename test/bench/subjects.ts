import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../lib/db/embedded/port.ts';
import { startRedis } from '../support/redis.ts';
import { planTargets, type TargetName } from '../support/targets.ts';
import { type Member, type Subject, startSubject } from './subject.ts';

const MAIN = '../../services/main.ts';
const READY = ['/readyz'];
/** Who accepts webhooks asks nobody for files, so those are not there, and `/readyz` never says yes. */
const ACCEPTS = ['/api/v1/agents', '/api/v1/sessions', '/api/v1/admin/deployments'];
const SECRETS = {
  SERVICE_SECRET: 'the service secret of the bench, long enough',
  SERVICE_SEALING_KEY: 'the sealing key of the bench is long enough',
};
/** What is needed to accept; who runs turns is not among them. */
const ACCEPTING: TargetName[] = ['auth', 'agents', 'sessions', 'deployments', 'edge'];

/** The bare limit: no service at all. */
export async function startBare(databaseUrl: string, secret: string): Promise<Subject> {
  const port = await freePort();
  const member: Member = { name: 'server', file: 'bare.ts', args: [databaseUrl, secret, `${port}`], env: {} };
  return startSubject(`http://127.0.0.1:${port}`, ['/'], [member]);
}

/** The bare limit of event streams; see bare-streams.ts for the speakers. */
export async function startBareStreams(speakers: number[]): Promise<Subject> {
  const port = await freePort();
  const args = [`${port}`, JSON.stringify(speakers)];
  const member: Member = { name: 'server', file: 'bare-streams.ts', args, env: {} };
  return startSubject(`http://127.0.0.1:${port}`, ['/'], [member]);
}

/** The bare limit of files, which it keeps in a directory of its own. */
export async function startBareFiles(): Promise<Subject> {
  await using opened = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'ahs-bench-files-'));
  opened.defer(() => rm(directory, { recursive: true, force: true }));
  const port = await freePort();
  const member: Member = { name: 'server', file: 'bare-files.ts', args: [`${port}`, directory], env: {} };
  return together(opened, await startSubject(`http://127.0.0.1:${port}`, ['/'], [member]));
}

/**
 * The program as an operator starts it; `slots` only to run other than the default number of turns at a time, `settings`
 * for whatever else is told it.
 */
export async function startWhole(
  databaseUrl: string,
  slots?: number,
  settings: Record<string, string> = {},
): Promise<Subject> {
  await using opened = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), 'ahs-bench-data-'));
  opened.defer(() => rm(dataDir, { recursive: true, force: true }));
  const port = await freePort();
  const env = {
    ...SECRETS,
    SERVICE_DATA_DIR: dataDir,
    SERVICE_PORT: `${port}`,
    SERVICE_DATABASE_URL: databaseUrl,
    ...(slots === undefined ? {} : { SERVICE_RUNNER_SLOTS: `${slots}` }),
    SERVICE_LOG_LEVEL: 'warn',
    ...settings,
  };
  const member: Member = { name: 'service', file: MAIN, args: [], env };
  return together(opened, await startSubject(`http://127.0.0.1:${port}`, READY, [member]));
}

/** Each target that takes part in accepting as a process of its own, joined by gRPC and a real Redis. */
export async function startApart(databaseUrl: string): Promise<Subject> {
  await using opened = new AsyncDisposableStack();
  const redis = opened.use(await startRedis());
  const plan = await planTargets({ SERVICE_DATABASE_URL: databaseUrl, SERVICE_REDIS_URL: redis.url });
  const members = ACCEPTING.map((name) => ({
    name,
    file: MAIN,
    args: [`--target=${name}`],
    env: plan.settings[name],
  }));
  return together(opened, await startSubject(plan.origin, ACCEPTS, members));
}

/** A subject that takes along, when it ends, what it stood on. */
function together(ground: AsyncDisposableStack, subject: Subject): Subject {
  const stack = ground.move();
  stack.use(subject);
  return { ...subject, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

export function hasRedis(): boolean {
  return spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0;
}

import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeS3 } from '../../support/fake-s3.ts';
import { freePort } from '../../support/port.ts';
import { startRedis } from '../../support/redis.ts';
import { planTargets, type SERVICES, TARGETS, type TargetName } from '../../support/targets.ts';
import { type Member, type Subject, startSubject } from './subject.ts';

const MAIN = '../../../services/main.js';
const READY = ['/readyz'];
/** Accepting webhooks does not need `files`, which is not started, so `/readyz` never reports ready. */
const ACCEPTS = ['/api/v1/agents', '/api/v1/sessions', '/api/v1/admin/deployments'];
const SECRETS = {
  SERVICE_SECRET: 'the service secret of the bench, long enough',
  SERVICE_SEALING_KEY: 'the sealing key of the bench is long enough',
};
/** The targets that accept webhooks. The runner is not among them. */
export const ACCEPTING: readonly TargetName[] = ['auth', 'agents', 'sessions', 'deployments', 'edge'];

/** The bare limit of webhooks, see bare.ts. */
export async function startBare(databaseUrl: string, secret: string): Promise<Subject> {
  const port = await freePort();
  const member: Member = { name: 'server', file: 'bare.ts', args: [databaseUrl, secret, `${port}`], env: {} };
  return startSubject(`http://127.0.0.1:${port}`, ['/'], [member]);
}

/** The bare limit of webhooks in three processes, see bare-apart.ts. */
export async function startBareApart(databaseUrl: string, secret: string): Promise<Subject> {
  const ports = await Promise.all([freePort(), freePort(), freePort()]);
  const [first] = ports;
  const members = ['edge', 'deployments', 'sessions'].map((name, index): Member => {
    const [port, next] = ports.slice(index);
    return { name, file: 'bare-apart.ts', args: [name, `${port}`, `${next}`, databaseUrl, secret], env: {} };
  });
  return startSubject(`http://127.0.0.1:${first}`, ['/'], members);
}

/** The bare limit of event streams, see bare-streams.ts. */
export async function startBareStreams(intervalsMs: number[]): Promise<Subject> {
  const port = await freePort();
  const args = [`${port}`, JSON.stringify(intervalsMs)];
  const member: Member = { name: 'server', file: 'bare-streams.ts', args, env: {} };
  return startSubject(`http://127.0.0.1:${port}`, ['/'], [member]);
}

/** The bare limit of file transfers with a directory of its own, see bare-files.ts. */
export async function startBareFiles(): Promise<Subject> {
  await using opened = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'ahs-bench-files-'));
  opened.defer(() => rm(directory, { recursive: true, force: true }));
  const port = await freePort();
  const member: Member = { name: 'server', file: 'bare-files.ts', args: [`${port}`, directory], env: {} };
  return disposeWith(opened, await startSubject(`http://127.0.0.1:${port}`, ['/'], [member]));
}

/** The service in one process. `slots` overrides the number of concurrent turns, `settings` any other setting. */
export async function startSingleProcess(
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
  return disposeWith(opened, await startSubject(`http://127.0.0.1:${port}`, READY, [member]));
}

interface SeparateProcessesOptions {
  /** Starts every target, and waits until the system is ready. Otherwise only the targets that accept webhooks. */
  isComplete?: boolean;
  /** Starts these targets instead. They include those that accept webhooks. The first one answers `footprint`. */
  targets?: readonly TargetName[];
  /** The services with a second instance, named `<target> 2`. */
  doubled?: readonly (typeof SERVICES)[number][];
  /** Settings of all processes. */
  settings?: Record<string, string>;
  /** Further settings of one process by its name. */
  settingsFor?: (name: string) => Record<string, string>;
}

/** A process per target. */
interface SeparateProcesses extends Subject {
  /** The settings of each target, also of those that were not started. */
  settings: Readonly<Record<TargetName, Record<string, string>>>;
}

/** Targets in processes of their own, joined by gRPC and Redis. */
export async function startSeparateProcesses(
  databaseUrl: string,
  {
    isComplete = false,
    targets = isComplete ? TARGETS : ACCEPTING,
    doubled = [],
    settings = {},
    settingsFor = () => ({}),
  }: SeparateProcessesOptions = {},
): Promise<SeparateProcesses> {
  await using opened = new AsyncDisposableStack();
  const redis = opened.use(await startRedis());
  const store = isComplete ? opened.use(await new FakeS3().start()) : undefined;
  const plan = await planTargets(
    {
      SERVICE_DATABASE_URL: databaseUrl,
      SERVICE_REDIS_URL: redis.url,
      ...(store ? await filesSettings(store, opened) : {}),
      ...settings,
    },
    doubled,
  );
  const members = targets.flatMap((target): Member[] => {
    const second = plan.secondInstances.get(target);
    const memberFor = (name: string, changed: Record<string, string>): Member => ({
      name,
      file: MAIN,
      args: [`--target=${target}`],
      env: { ...plan.settings[target], ...changed, ...settingsFor(name) },
    });
    return [memberFor(target, {}), ...(second ? [memberFor(`${target} 2`, second)] : [])];
  });
  const subject = await startSubject(plan.origin, isComplete ? READY : ACCEPTS, members);
  return { ...disposeWith(opened, subject), settings: plan.settings };
}

/** Settings of the targets that accept no webhooks: an object store and a directory for workspaces. */
async function filesSettings(store: FakeS3, opened: AsyncDisposableStack): Promise<Record<string, string>> {
  const directory = await mkdtemp(join(tmpdir(), 'ahs-bench-data-'));
  opened.defer(() => rm(directory, { recursive: true, force: true }));
  return {
    SERVICE_DATA_DIR: directory,
    SERVICE_S3_ENDPOINT: store.endpoint,
    SERVICE_S3_BUCKET: 'files',
    SERVICE_S3_ACCESS_KEY: 'key',
    SERVICE_S3_SECRET_KEY: 'secret',
  };
}

/** Adds resources that are disposed with the system under test. */
function disposeWith(resources: AsyncDisposableStack, subject: Subject): Subject {
  const stack = resources.move();
  stack.use(subject);
  return { ...subject, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

export function hasRedis(): boolean {
  return spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0;
}

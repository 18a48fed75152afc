import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../lib/db/embedded/port.ts';
import { type Api, createApi } from './api.ts';
import { bucketSettings } from './bucket.ts';
import { createDatabase } from './database.ts';
import { realLane } from './lane.ts';
import { type Program, runProgram } from './program.ts';
import { startRedis } from './redis.ts';
import { scratch } from './scratch.ts';
import { startServer } from './server.ts';
import { shape } from './shape.ts';
import { planTargets, TARGETS, type TargetName } from './targets.ts';
import { until } from './wait.ts';

const START_MS = 60_000;

/** The system as programs that an operator runs, in the shape that the run of the tests asks for. */
export interface Fleet extends AsyncDisposable {
  api: Api;
  databaseUrl: string;
  /** The programs that make up the shape: `all`, or every target. */
  names: readonly string[];
  /** Makes known another program, under a name of its own, that is told something else than the target's first one. */
  add(name: string, target: TargetName, settings: Record<string, string>): void;
  /** Starts a program, for the first time or again, without waiting until it is ready; so `redis` and `postgres`. */
  run(name: string): Promise<void>;
  /**
   * Ends a program and returns its exit code; null when the signal ended it. Ends `redis` without warning, and
   * `postgres` when it is the fleet's own.
   */
  end(name: string, signal: NodeJS.Signals): Promise<number | null>;
  /** Whether the edge says that everything it needs is there. */
  isReady(): Promise<boolean>;
  /** Resolves when it is. Fails when a program has ended by itself. */
  ready(): Promise<void>;
}

interface Plan {
  origin: string;
  programs: Map<string, { args: string[]; env: Record<string, string> }>;
}

/**
 * Starts all programs of the shape, on a database of their own, and waits until they are ready. With
 * `ownPostgres` its server is theirs alone as well.
 */
export async function startFleet(
  settings: Record<string, string> = {},
  { ownPostgres = false } = {},
): Promise<Fleet> {
  await using opened = new AsyncDisposableStack();
  const postgres = ownPostgres ? opened.use(await startServer()) : undefined;
  const database = postgres ?? opened.use(await createDatabase());
  const redis = realLane ? opened.use(await startRedis()) : undefined;
  const directory = await mkdtemp(join(scratch(), 'ahs-fleet-'));
  opened.defer(() => rm(directory, { recursive: true, force: true }));
  const plan = await planOf({
    SERVICE_DATABASE_URL: database.url,
    ...(redis ? { SERVICE_REDIS_URL: redis.url, ...bucketSettings() } : {}),
    SERVICE_DATA_DIR: directory,
    ...settings,
  });
  const running = new Map<string, Program & { ended?: true }>();
  const api = createApi(plan.origin);

  async function end(name: string, signal: NodeJS.Signals): Promise<number | null> {
    if (name === 'redis' && redis) {
      await redis.kill();
      return null;
    }
    if (name === 'postgres' && postgres) {
      await postgres.end(signal);
      return signal === 'SIGKILL' ? null : 0;
    }
    const program = running.get(name);
    if (!program) throw new Error(`${name} does not run`);
    running.delete(name);
    program.kill(signal);
    return program.exited;
  }

  opened.defer(async () => {
    await Promise.all([...running.keys()].map((name) => end(name, 'SIGKILL')));
  });

  const isReady = async () => (await fetch(`${api.origin}/readyz`).catch(() => undefined))?.ok ?? false;
  const fleet = {
    api,
    databaseUrl: database.url,
    names: [...plan.programs.keys()],
    add(name: string, target: TargetName, changed: Record<string, string>) {
      const first = plan.programs.get(target);
      if (!first) throw new Error(`${target} is not a program of this shape`);
      plan.programs.set(name, { args: first.args, env: { ...first.env, ...changed } });
    },
    async run(name: string) {
      if (name === 'redis' && redis) return redis.restart();
      if (name === 'postgres' && postgres) return postgres.run();
      const known = plan.programs.get(name);
      if (!known || running.has(name)) throw new Error(`${name} is unknown, or runs`);
      const program: Program & { ended?: true } = runProgram(known.env, known.args);
      running.set(name, program);
      void program.exited.then(() => {
        program.ended = true;
      });
    },
    end,
    isReady,
    async ready() {
      await until(
        'everything is ready',
        () => {
          for (const [name, { ended, output }] of running)
            if (ended) throw new Error(`${name} has ended by itself: ${output()}`);
          return isReady();
        },
        START_MS,
      );
    },
  };
  // All at once: they migrate at the same time, and whoever needs another one waits for it.
  await Promise.all(fleet.names.map((name) => fleet.run(name)));
  await fleet.ready();
  const stack = opened.move();
  return { ...fleet, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

async function planOf(shared: Record<string, string>): Promise<Plan> {
  if (shape === 'one process') {
    const port = String(await freePort());
    const env = { SERVICE_PORT: port, SERVICE_LOG_LEVEL: 'warn', ...shared };
    return { origin: `http://127.0.0.1:${port}`, programs: new Map([['all', { args: [], env }]]) };
  }
  const { origin, settings } = await planTargets(shared);
  const programOf = (target: TargetName) => ({ args: [`--target=${target}`], env: settings[target] });
  return { origin, programs: new Map(TARGETS.map((target) => [target, programOf(target)])) };
}

import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type Api, createApi } from './api.ts';
import { bucketSettings } from './bucket.ts';
import { createDatabase } from './database.ts';
import { realLane } from './lane.ts';
import { freePort } from './port.ts';
import { startTestPostgres } from './postgres-server.ts';
import { type Program, runProgram } from './program.ts';
import { startRedis } from './redis.ts';
import { scratch } from './scratch.ts';
import { shape } from './shape.ts';
import { planTargets, SERVICES, type ServiceName, TARGETS, type TargetName } from './targets.ts';
import { until } from './wait.ts';

const START_MS = 120_000;

/** The system as separate programs, in the process shape of the test run. */
export interface Fleet extends AsyncDisposable {
  api: Api;
  databaseUrl: string;
  /** The programs that make up the shape: `all`, or every target. */
  names: readonly string[];
  /** Defines another program of a target, with changed settings, under a new name. */
  add(name: string, target: TargetName, settings: Record<string, string>): void;
  /** Starts or restarts a program, `redis` or `postgres`, without waiting until it is ready. */
  run(name: string): Promise<void>;
  /**
   * Ends a program and returns its exit code, or null when the signal ended it. `redis` is always killed.
   * `postgres` ends only if the fleet owns it.
   */
  end(name: string, signal: NodeJS.Signals): Promise<number | null>;
  /** Waits until a program of a target listens at its gRPC address. The edge may be ready before, with another instance. */
  listening(name: string): Promise<void>;
  /** The process id of a running program. */
  pidOf(name: string): number;
  /** Standard output and standard error of a running program. */
  outputOf(name: string): string;
  /** The address on which a program accepts calls of other programs. */
  addressOf(name: string): string;
  /** Whether the edge reports ready, and not degraded. */
  isReady(): Promise<boolean>;
  /** Waits until the edge is ready. Fails when a program has exited by itself. */
  ready(): Promise<void>;
}

interface PlannedProgram {
  args: string[];
  env: Record<string, string>;
}

interface FleetPlan {
  origin: string;
  programs: Map<string, PlannedProgram>;
}

interface FleetOptions {
  ownPostgres?: boolean;
  /** The services that also run as `<target> 2`. */
  secondInstances?: readonly ServiceName[];
  /** Returns the port to which other programs send the calls of a service that listens on `port`. */
  callThrough?: (service: string, port: number) => Promise<number>;
}

/**
 * Starts all programs of the shape on a new database and waits until they are ready. With `ownPostgres` they also
 * have a PostgreSQL server of their own.
 */
export async function startFleet(
  settings: Record<string, string> = {},
  { ownPostgres = false, secondInstances = [], callThrough }: FleetOptions = {},
): Promise<Fleet> {
  await using opened = new AsyncDisposableStack();
  const postgres = ownPostgres ? opened.use(await startTestPostgres()) : undefined;
  const database = postgres ?? opened.use(await createDatabase());
  const redis = realLane ? opened.use(await startRedis()) : undefined;
  const directory = await mkdtemp(join(scratch(), 'ahs-fleet-'));
  opened.defer(() => rm(directory, { recursive: true, force: true }));
  const shared = {
    SERVICE_DATABASE_URL: database.url,
    ...(redis ? { SERVICE_REDIS_URL: redis.url, ...bucketSettings() } : {}),
    SERVICE_DATA_DIR: directory,
    ...settings,
  };
  const plan = await fleetPlanOf(shared, secondInstances);
  if (callThrough) await redirectCalls(plan, callThrough);
  const running = new Map<string, Program & { ended?: true }>();
  const api = createApi(plan.origin);

  function programOf(name: string): Program {
    const program = running.get(name);
    if (!program) throw new Error(`${name} is not running`);
    return program;
  }

  function addressOf(name: string): string {
    const address = plan.programs.get(name)?.env.SERVICE_GRPC_LISTEN;
    if (!address) throw new Error(`${name} accepts no calls`);
    return address;
  }

  async function end(name: string, signal: NodeJS.Signals): Promise<number | null> {
    if (name === 'redis' && redis) {
      await redis.kill();
      return null;
    }
    if (name === 'postgres' && postgres) {
      await postgres.end(signal);
      return signal === 'SIGKILL' ? null : 0;
    }
    const program = programOf(name);
    running.delete(name);
    program.kill(signal);
    return program.exited;
  }

  opened.defer(async () => {
    await Promise.all([...running.keys()].map((name) => end(name, 'SIGKILL')));
  });

  const isReady = async () => {
    const response = await fetch(`${api.origin}/readyz`).catch(() => undefined);
    // A degraded edge answers 200, too, for example while `files` starts.
    return response?.ok === true && (await response.text()).includes('"status":"ready"');
  };
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
      const planned = plan.programs.get(name);
      if (!planned || running.has(name)) throw new Error(`${name} is unknown or already running`);
      const program: Program & { ended?: true } = runProgram(planned.env, planned.args);
      running.set(name, program);
      void program.exited.then(() => {
        program.ended = true;
      });
    },
    end,
    async listening(name: string) {
      const port = Number(addressOf(name).split(':')[1]);
      await until(`${name} listens`, () => accepts(port), START_MS);
    },
    pidOf: (name: string) => programOf(name).pid,
    outputOf: (name: string) => programOf(name).output(),
    addressOf,
    isReady,
    async ready() {
      await until(
        'the fleet is ready',
        () => {
          for (const [name, { ended, output }] of running)
            if (ended) throw new Error(`${name} has exited by itself: ${output()}`);
          return isReady();
        },
        START_MS,
      );
    },
  };
  // All programs start together, so they migrate at the same time, and each waits for the services it needs.
  await Promise.all(fleet.names.map((name) => fleet.run(name)));
  await fleet.ready();
  const stack = opened.move();
  return { ...fleet, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

async function fleetPlanOf(
  shared: Record<string, string>,
  doubled: readonly ServiceName[],
): Promise<FleetPlan> {
  if (shape === 'one process') {
    const port = String(await freePort());
    const env = { SERVICE_PORT: port, SERVICE_LOG_LEVEL: 'warn', ...shared };
    return { origin: `http://127.0.0.1:${port}`, programs: new Map([['all', { args: [], env }]]) };
  }
  const { origin, settings, secondInstances } = await planTargets(shared, doubled);
  const programs = new Map<string, PlannedProgram>();
  for (const target of TARGETS) {
    const program = { args: [`--target=${target}`], env: settings[target] };
    programs.set(target, program);
    const changed = secondInstances.get(target);
    if (changed) programs.set(`${target} 2`, { ...program, env: { ...program.env, ...changed } });
  }
  return { origin, programs };
}

async function redirectCalls(
  { programs }: FleetPlan,
  callThrough: NonNullable<FleetOptions['callThrough']>,
): Promise<void> {
  for (const service of SERVICES) {
    const port = Number(programs.get(service)?.env.SERVICE_GRPC_LISTEN?.split(':')[1]);
    const address = `127.0.0.1:${await callThrough(service, port)}`;
    for (const { env } of programs.values()) env[`SERVICE_${service.toUpperCase()}_ADDRESS`] = address;
  }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

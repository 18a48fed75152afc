import { freePort } from '../../lib/db/embedded/port.ts';

/** The services that are called by others. */
export const SERVICES = ['auth', 'agents', 'sessions', 'files', 'deployments'] as const;
/** What can run as a process of its own. */
export const TARGETS = [...SERVICES, 'runner', 'edge'] as const;
export type TargetName = (typeof TARGETS)[number];

export interface TargetPlan {
  /** Where the edge will listen. */
  origin: string;
  /** What the process of each target is told: where it listens, and where it finds the others. */
  settings: Readonly<Record<TargetName, Record<string, string>>>;
}

/** Every target as a process of its own on this machine, each on a port that is free now. */
export async function planTargets(shared: Record<string, string>): Promise<TargetPlan> {
  const edgePort = String(await freePort());
  const origin = `http://127.0.0.1:${edgePort}`;
  const listens = new Map<TargetName, string>();
  for (const target of TARGETS) listens.set(target, `127.0.0.1:${await freePort()}`);
  const addresses = SERVICES.map((name) => [`SERVICE_${name.toUpperCase()}_ADDRESS`, listens.get(name)]);
  const settingsOf = (target: TargetName) => ({
    SERVICE_SECRET: 'one service secret for all processes',
    SERVICE_SEALING_KEY: 'a sealing key for the one that seals',
    SERVICE_PUBLIC_URL: origin,
    SERVICE_PORT: edgePort,
    SERVICE_LOG_LEVEL: 'warn',
    ...Object.fromEntries(addresses),
    SERVICE_GRPC_LISTEN: listens.get(target),
    ...shared,
  });
  const settings = Object.fromEntries(TARGETS.map((target) => [target, settingsOf(target)]));
  return { origin, settings: settings as TargetPlan['settings'] };
}

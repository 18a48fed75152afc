import { freePort } from './port.ts';

/** The services that other services call. */
export const SERVICES = ['auth', 'agents', 'sessions', 'files', 'deployments', 'vaults'] as const;
/** Targets that run as processes of their own. */
export const TARGETS = [...SERVICES, 'runner', 'channels', 'edge'] as const;
export type ServiceName = (typeof SERVICES)[number];
export type TargetName = (typeof TARGETS)[number];

interface TargetPlan {
  /** The origin of the edge. */
  origin: string;
  /** The settings of each target, with its own address and those of the other targets. */
  settings: Readonly<Record<TargetName, Record<string, string>>>;
  /** The settings that differ in the second instances of the doubled services. */
  secondInstances: ReadonlyMap<TargetName, Record<string, string>>;
}

/** Plans one process per target on this machine, or two for the services in `doubled`, each on a free port. */
export async function planTargets(
  shared: Record<string, string>,
  doubled: readonly ServiceName[] = [],
): Promise<TargetPlan> {
  const edgePort = String(await freePort());
  const origin = `http://127.0.0.1:${edgePort}`;
  const listens = new Map<TargetName, string>();
  for (const target of TARGETS) listens.set(target, `127.0.0.1:${await freePort()}`);
  const secondInstances = new Map<TargetName, Record<string, string>>();
  for (const name of doubled)
    secondInstances.set(name, { SERVICE_GRPC_LISTEN: `127.0.0.1:${await freePort()}` });
  const addresses = SERVICES.map((name) => {
    const instances = [listens.get(name), secondInstances.get(name)?.SERVICE_GRPC_LISTEN];
    return [`SERVICE_${name.toUpperCase()}_ADDRESS`, instances.filter(Boolean).join(',')];
  });
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
  return { origin, settings: settings as TargetPlan['settings'], secondInstances };
}

import type { ProcessSystem } from './system.ts';

export const FAULT_KINDS = ['killed', 'suspended', 'isolated silently', 'isolated with resets'] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** A process that fails until it is restored. */
export interface ProcessFault {
  process: string;
  kind: FaultKind;
  begin(): Promise<void> | void;
  /** The fault of a killed process ends when its successor is ready; its start takes as long as the machine needs. */
  end(): Promise<void> | void;
}

/** Returns each kind of fault of each process. */
export function processFaults(system: ProcessSystem): ProcessFault[] {
  const { network } = system;
  return system.names.flatMap((process): ProcessFault[] => [
    { process, kind: 'killed', begin: () => system.kill(process), end: () => system.restart(process) },
    {
      process,
      kind: 'suspended',
      begin: () => system.suspend(process),
      end: () => system.resume(process),
    },
    {
      process,
      kind: 'isolated silently',
      begin: () => network.isolate(process, 'silent'),
      end: () => network.restore(process),
    },
    {
      process,
      kind: 'isolated with resets',
      begin: () => network.isolate(process, 'reset'),
      end: () => network.restore(process),
    },
  ]);
}

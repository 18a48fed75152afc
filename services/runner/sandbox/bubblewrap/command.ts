import { HOME, WORKSPACE } from '../variables.ts';
import { SCRATCH, workspacesIn } from './room.ts';
import { AGENT, type System } from './system.ts';

/** The pipes that bubblewrap itself uses. */
export const INFO_FD = 5;
export const BLOCK_FD = 6;
export const SECCOMP_FD = 7;

export interface Walls {
  system: System;
  sandboxId: string;
  workspaceId: string;
  /** It has no network at all; otherwise that of its room. */
  isCutOff: boolean;
}

/**
 * The arguments by which bubblewrap walls in one command. They can be read inside and hold nothing of outside.
 * It is not told to die with its parent: in the moment before its first process does, that one would wait for it for
 * ever. It ends with its room.
 */
export function walls({ system, sandboxId, workspaceId, isCutOff }: Walls): string[] {
  const namespaces = ['user', 'pid', 'ipc', 'uts', 'cgroup-try', ...(isCutOff ? ['net'] : [])];
  return [
    ...namespaces.map((name) => `--unshare-${name}`),
    ...words(`--disable-userns --uid ${AGENT} --gid ${AGENT} --cap-drop ALL`),
    ...words('--new-session --hostname sandbox --clearenv --setenv PATH /usr/bin:/bin'),
    ...system.command,
    ...words(`--proc /proc --dev /dev --bind ${SCRATCH}/shm /dev/shm --remount-ro /dev`),
    ...words(`--bind ${SCRATCH}/tmp /tmp --perms 0755 --dir /var --symlink ../tmp /var/tmp`),
    ...words(`--perms 0755 --dir /home --bind ${SCRATCH}/home ${HOME} --perms 0755 --dir /run`),
    ...words(`--bind ${workspacesIn(sandboxId)}/${workspaceId} ${WORKSPACE} --chdir ${WORKSPACE}`),
    ...words('--remount-ro /'),
    ...words(`--info-fd ${INFO_FD} --block-fd ${BLOCK_FD} --seccomp ${SECCOMP_FD} --`),
  ];
}

/** None of them has a blank in it. */
const words = (line: string): string[] => line.split(' ');

import { TRUST_PATH } from '../../network/intercept/command-variables.ts';
import type { SkillMount } from '../../sandbox/sandbox.ts';
import { HOME_PATH, SKILLS_PATH, WORKSPACE_PATH } from '../../sandbox/variables.ts';
import { filesOfCopy } from '../skill-directory.ts';
import { SCRATCH, SKILL_COPIES, TRUST, workspacesMountPoint } from './namespace-set.ts';
import { AGENT_UID, type SystemMounts } from './system-mounts.ts';

/** File descriptors that bubblewrap itself uses. */
const INFO_FD = 5;
const BLOCK_FD = 6;
const SECCOMP_FD = 7;

interface BwrapOptions {
  systemMounts: SystemMounts;
  sandboxId: string;
  /** The path of the files of the workspace copy, below the mount point of the workspaces. */
  files: string;
  skills: readonly SkillMount[];
  /** The command sees the certificates that it trusts. */
  hasTrust: boolean;
  /** The command gets an empty network namespace; otherwise it shares the one of the sandbox's namespaces. */
  hasNoNetwork: boolean;
}

/**
 * Returns the arguments of the bubblewrap process that confines one command. The command can read them, so they hold
 * no secret. They do not include --die-with-parent: a parent that ends just before bubblewrap's first process is
 * confined would leave that process waiting forever. The command ends with the namespaces of its sandbox instead.
 */
export function bwrapArguments({
  systemMounts,
  sandboxId,
  files,
  skills,
  hasTrust,
  hasNoNetwork,
}: BwrapOptions): string[] {
  const namespaces = ['user', 'pid', 'ipc', 'uts', 'cgroup-try', ...(hasNoNetwork ? ['net'] : [])];
  return [
    ...namespaces.map((name) => `--unshare-${name}`),
    ...split(`--disable-userns --uid ${AGENT_UID} --gid ${AGENT_UID} --cap-drop ALL`),
    ...split('--new-session --hostname sandbox --clearenv --setenv PATH /usr/bin:/bin'),
    ...systemMounts.forCommand,
    ...split(`--proc /proc --dev /dev --bind ${SCRATCH}/shm /dev/shm --remount-ro /dev`),
    ...split(`--bind ${SCRATCH}/tmp /tmp --perms 0755 --dir /var --symlink ../tmp /var/tmp`),
    ...split(`--perms 0755 --dir /home --bind ${SCRATCH}/home ${HOME_PATH} --perms 0755 --dir /run`),
    ...split(`--bind ${workspacesMountPoint(sandboxId)}/${files} ${WORKSPACE_PATH}`),
    ...skillArguments(skills),
    ...(hasTrust ? split(`--ro-bind ${TRUST} ${TRUST_PATH}`) : []),
    ...split(`--chdir ${WORKSPACE_PATH} --remount-ro /`),
    ...split(`--info-fd ${INFO_FD} --block-fd ${BLOCK_FD} --seccomp ${SECCOMP_FD} --`),
  ];
}

function skillArguments(skills: readonly SkillMount[]): string[] {
  if (skills.length === 0) return [];
  const mounts = skills.flatMap(({ name, copy }) => [
    '--ro-bind',
    `${SKILL_COPIES}/${filesOfCopy(copy)}`,
    `${SKILLS_PATH}/${name}`,
  ]);
  return ['--perms', '0755', '--dir', SKILLS_PATH, ...mounts];
}

/** None of the arguments contains a space. */
const split = (line: string): string[] => line.split(' ');

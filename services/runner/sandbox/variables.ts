import type { Command, SandboxSpec } from './sandbox.ts';

/** Paths as commands see them. */
export const WORKSPACE_PATH = '/workspace';
export const HOME_PATH = '/home/agent';
/** Holds one directory for each skill of the command. */
export const SKILLS_PATH = '/skills';

/** Returns all environment variables of a command. It inherits none of the runner. */
export function environmentVariables(spec: SandboxSpec, command: Command): Record<string, string> {
  return {
    HOME: HOME_PATH,
    USER: 'agent',
    LOGNAME: 'agent',
    SHELL: '/bin/bash',
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    TMPDIR: '/tmp',
    ...spec.variables,
    ...command.variables,
  };
}

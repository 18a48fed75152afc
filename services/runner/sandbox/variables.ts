import type { Command, SandboxSpec } from './sandbox.ts';

export const WORKSPACE = '/workspace';
export const HOME = '/home/agent';

/** What a command finds in its environment: nothing of the runner's own. */
export function variablesOf(spec: SandboxSpec, command: Command): Record<string, string> {
  return {
    HOME,
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

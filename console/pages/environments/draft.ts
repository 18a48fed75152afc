import type { Environment } from '../../gen/types.gen.ts';
import { readTexts, writeObject } from '../../parts/editor/json.ts';
import { type FieldProblems, wholeNumber } from '../../parts/editor/problems.ts';

type Sandbox = Environment['sandbox'];
type Network = Environment['network'];

/** The editable fields of an environment. */
export type EnvironmentBody = Pick<
  Environment,
  'name' | 'sandbox' | 'network' | 'tenancy' | 'idle' | 'variables'
>;

/** EnvironmentBody as the values of the form fields. */
export interface EnvironmentDraft {
  name: string;
  provider: Sandbox['provider'];
  image: string;
  cpuMillis: string;
  memoryMib: string;
  pids: string;
  diskMib: string;
  workspaceMib: string;
  commandTimeout: string;
  networkMode: Network['mode'];
  /** One host per line. */
  allowedHosts: string;
  tenancy: Environment['tenancy'];
  idleTimeout: string;
  idleAction: Environment['idle']['action'];
  variables: string;
}

/** Initial values, equal to those of the default environment. */
export const EMPTY_ENVIRONMENT_DRAFT: EnvironmentDraft = {
  name: '',
  provider: 'auto',
  image: '',
  cpuMillis: '',
  memoryMib: '',
  pids: '',
  diskMib: '',
  workspaceMib: '',
  commandTimeout: '120',
  networkMode: 'none',
  allowedHosts: '',
  tenancy: 'session',
  idleTimeout: '900',
  idleAction: 'suspend',
  variables: '',
};

export function environmentDraftOf({
  name,
  sandbox,
  network,
  tenancy,
  idle,
  variables,
}: Environment): EnvironmentDraft {
  return {
    name,
    provider: sandbox.provider,
    image: sandbox.image ?? '',
    cpuMillis: sandbox.cpu_millis?.toString() ?? '',
    memoryMib: sandbox.memory_mib?.toString() ?? '',
    pids: sandbox.pids?.toString() ?? '',
    diskMib: sandbox.disk_mib?.toString() ?? '',
    workspaceMib: sandbox.workspace_mib?.toString() ?? '',
    commandTimeout: String(sandbox.command_timeout_seconds),
    networkMode: network.mode,
    allowedHosts: network.allowed_hosts.join('\n'),
    tenancy,
    idleTimeout: String(idle.timeout_seconds),
    idleAction: idle.action,
    variables: writeObject(variables),
  };
}

/** Parses a draft. `problems` maps JSON Pointers to validation errors. */
export function readEnvironmentDraft(draft: EnvironmentDraft): {
  body: EnvironmentBody;
  problems: FieldProblems;
} {
  const problems: FieldProblems = {};
  const note = (pointer: string, problem: string | undefined) => {
    if (problem !== undefined) problems[pointer] = problem;
  };
  const number = (pointer: string, text: string, min: number, max: number, optional = false) => {
    const { value, problem } = wholeNumber(text, { min, max, optional });
    note(pointer, problem);
    return value;
  };
  const limit = (pointer: string, text: string, min: number, max: number) =>
    number(`/sandbox/${pointer}`, text, min, max, true) ?? null;
  if (!/^[a-z0-9-]{1,64}$/.test(draft.name)) note('/name', 'Enter 1–64 characters: a–z, 0–9 and -.');
  const variables = readTexts(draft.variables);
  note('/variables', variables.problem);
  const body: EnvironmentBody = {
    name: draft.name,
    sandbox: {
      provider: draft.provider,
      image: draft.image.trim() || null,
      cpu_millis: limit('cpu_millis', draft.cpuMillis, 10, 1_000_000),
      memory_mib: limit('memory_mib', draft.memoryMib, 16, 4_194_304),
      pids: limit('pids', draft.pids, 2, 1_000_000),
      disk_mib: limit('disk_mib', draft.diskMib, 1, 4_194_304),
      workspace_mib: limit('workspace_mib', draft.workspaceMib, 1, 4_194_304),
      command_timeout_seconds:
        number('/sandbox/command_timeout_seconds', draft.commandTimeout, 1, 86_400) ?? 1,
    },
    network: {
      mode: draft.networkMode,
      allowed_hosts: draft.networkMode === 'limited' ? linesOf(draft.allowedHosts) : [],
    },
    tenancy: draft.tenancy,
    idle: {
      timeout_seconds: number('/idle/timeout_seconds', draft.idleTimeout, 1, 2_592_000) ?? 1,
      action: draft.idleAction,
    },
    variables: variables.value ?? {},
  };
  return { body, problems };
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

import { Type } from 'typebox';
import { PROVIDERS } from '../../lib/sandboxes.ts';
import type { Sandbox } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import {
  AnyObject,
  count,
  id,
  NULL,
  nullable,
  serializeTime,
  serializeTimeOrNull,
  text,
  time,
} from './common.ts';

const SANDBOX_STATUSES = ['provisioning', 'ready', 'suspended', 'restoring', 'lost', 'released'] as const;

const provider = Type.Enum(Object.keys(PROVIDERS), {
  description: 'The sandbox provider that runs commands.',
});

/** The sandbox of a session, as shown in the session. */
export const SandboxOfSession = Type.Object(
  { sandbox_id: id('sbx', 'the sandbox of the last command'), provider },
  { title: 'SessionSandbox' },
);

export const SandboxShape = Type.Object(
  {
    sandbox_id: id('sbx', 'the sandbox'),
    provider,
    isolation: Type.Enum(['kernel', 'simulation'], {
      description: '`kernel`: isolated by the kernel. `simulation`: a simulated shell.',
    }),
    status: Type.Enum([...SANDBOX_STATUSES]),
    reason: nullable(text('The reason for the status, if known.'), NULL),
    tenancy: Type.Enum(['session', 'agent', 'assistant'], {
      description: 'Which sessions share the sandbox.',
    }),
    tenant_id: text('ses_…, agt_… or ast_…: the session, agent or assistant to which the sandbox belongs.', {
      examples: ['ses_01KAK3V9Q6W1X2Y3Z4A5B6C7D8'],
    }),
    owner_id: id('usr', 'the user whose commands it runs'),
    runner_id: id('rnr', 'the runner that hosts it'),
    environment_id: nullable(id('env', 'the environment from which it was created')),
    environment_version: nullable(count('The version of the environment.')),
    limits: AnyObject('The effective limits and how each of them is enforced.'),
    created_at: time('The creation time.'),
    updated_at: time('The time of the last report from the runner.'),
    ended_at: nullable(time('The time at which it ended; null while it exists.'), NULL),
  },
  { title: 'Sandbox' },
);

export function serializeSandbox(sandbox: Sandbox | undefined) {
  return {
    sandbox_id: sandbox?.sandboxId,
    provider: sandbox?.provider,
    isolation: sandbox?.isolation,
    status: sandbox?.status,
    reason: sandbox?.reason || null,
    tenancy: sandbox?.tenancy,
    tenant_id: sandbox?.tenantId,
    owner_id: sandbox?.ownerId,
    runner_id: sandbox?.runnerId,
    environment_id: sandbox?.environmentId || null,
    environment_version: sandbox?.environmentVersion || null,
    limits: serializeLimits(sandbox?.limitsJson),
    created_at: serializeTime(sandbox?.createdAt),
    updated_at: serializeTime(sandbox?.updatedAt),
    ended_at: serializeTimeOrNull(sandbox?.endedAt),
  };
}

/** Converts member names from camel case to snake case. */
function serializeLimits(json: string | undefined): Record<string, unknown> {
  const limits = JSON.parse(json || '{}') as Record<string, unknown>;
  const underscored = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(limits).map(([name, value]) => [underscored(name), value]));
}

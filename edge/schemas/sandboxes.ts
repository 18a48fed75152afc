import { Type } from 'typebox';
import { PROVIDERS } from '../../lib/sandboxes.ts';
import type { Sandbox } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { AnyObject, count, id, NULL, nullable, shownTime, shownTimeOrNull, text, time } from './common.ts';

export const SANDBOX_STATUSES = [
  'provisioning',
  'ready',
  'suspended',
  'restoring',
  'lost',
  'released',
] as const;

const provider = Type.Enum(Object.keys(PROVIDERS), { description: 'What runs its commands.' });

/** As far as it concerns the session that works in it. */
export const SandboxOfSession = Type.Object(
  { sandbox_id: id('sbx', 'the sandbox of its last command'), provider },
  { title: 'SessionSandbox' },
);

export const SandboxShape = Type.Object(
  {
    sandbox_id: id('sbx', 'the sandbox'),
    provider,
    isolation: Type.Enum(['kernel', 'simulation'], {
      description: 'What keeps it apart from everything else.',
    }),
    status: Type.Enum([...SANDBOX_STATUSES]),
    reason: nullable(text('Why it is in that status, where that is known.'), NULL),
    tenancy: Type.Enum(['session', 'agent', 'assistant'], { description: 'Who shares it.' }),
    tenant_id: text('ses_…, agt_… or ast_…: whose it is.', { examples: ['ses_01KAK3V9Q6W1X2Y3Z4A5B6C7D8'] }),
    owner_id: id('usr', 'for whom it runs'),
    runner_id: id('rnr', 'where it is'),
    environment_id: nullable(id('env', 'the environment it was made for')),
    environment_version: nullable(count('The version of the environment.')),
    limits: AnyObject('The limits that are in force, and how each of them is kept.'),
    created_at: time('When it was made.'),
    updated_at: time('When something was last heard of it.'),
    ended_at: nullable(time('When it ended; null as long as it is there.'), NULL),
  },
  { title: 'Sandbox' },
);

export function shownSandbox(sandbox: Sandbox | undefined) {
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
    limits: shownLimits(sandbox?.limitsJson),
    created_at: shownTime(sandbox?.createdAt),
    updated_at: shownTime(sandbox?.updatedAt),
    ended_at: shownTimeOrNull(sandbox?.endedAt),
  };
}

/** Members in the manner of this API, whatever they are called where they come from. */
function shownLimits(json: string | undefined): Record<string, unknown> {
  const limits = JSON.parse(json || '{}') as Record<string, unknown>;
  const underscored = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(limits).map(([name, value]) => [underscored(name), value]));
}

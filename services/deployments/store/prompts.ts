import { type DatabaseSession, statement } from '../../../lib/db/database.ts';

/** The SQL of the key of a prompt, whose text is a parameter. */
export const digestOf = (parameter: string) => `sha256(convert_to(${parameter}, 'UTF8'))`;

const PUT = statement(
  'prompts.put',
  `insert into prompts (deployment_id, digest, text) select $1, ${digestOf('$2')}, $2 on conflict do nothing`,
);

/** Prompts of the given schedules that neither the schedule nor a run uses. */
const SWEEP = statement(
  'prompts.sweep',
  `delete from prompts p where p.deployment_id = any($1)
     and not exists (select from schedules s where s.deployment_id = p.deployment_id and s.prompt_digest = p.digest)
     and not exists (select from runs r where r.deployment_id = p.deployment_id and r.prompt_digest = p.digest)`,
);

/** Keeps a prompt for runs. The row of the schedule must be locked or new. */
export async function putPrompt(tx: DatabaseSession, deploymentId: string, text: string): Promise<void> {
  await tx.change(PUT, [deploymentId, text]);
}

/** Deletes the unused prompts of schedules whose rows are locked, so that no run is queued meanwhile. */
export async function sweepPrompts(tx: DatabaseSession, deploymentIds: readonly string[]): Promise<void> {
  await tx.change(SWEEP, [deploymentIds]);
}

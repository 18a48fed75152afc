import { Refusal, refuse } from '../../../lib/errors.ts';
import { administratorOf, isAdministrator } from '../../../lib/grpc/caller.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import { checkRevision } from '../../../lib/revisions.ts';
import type { AssignmentTarget, VaultsServiceDefinition } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { checkTarget, checkVaultIds, type Target, targetNotFound } from '../domain/assignment.ts';
import type { VaultsHandlerContext } from './context.ts';

type Methods = Pick<
  Handlers<VaultsServiceDefinition>,
  'getAssignments' | 'putAssignments' | 'deleteAssignments'
>;

const NOUN = 'list of vaults';

/** The RPCs for the vaults of agents and assistants. Only administrators change them; managers read them. */
export function assignmentHandlers(context: VaultsHandlerContext): Methods {
  const { assignments, agents, record, publishHint, clock } = context;

  /** Returns the names of the variables that the environment of a target sets. Refused with the 404 of the target. */
  async function environmentVariablesOf(target: Target, call: Call): Promise<Set<string>> {
    const { version } = await agents
      .getAgentVersion({ agentId: target.id, version: 0 }, call)
      .catch((error: unknown) => {
        if (error instanceof Refusal && error.code === 'AGENT_VERSION_NOT_FOUND')
          throw targetNotFound(target);
        throw error;
      });
    const environmentId = version?.runtime?.environmentId ?? '';
    const { environment } = await agents.getEnvironment({ environmentId }, call);
    return new Set(Object.keys(environment?.spec?.variables ?? {}));
  }

  return {
    async getAssignments(request, call) {
      const target = targetOf(request.target);
      const { level } = await agents.getLevel({ agentId: target.id }, call);
      if (level === 'none') throw targetNotFound(target);
      if (level !== 'manage' && !isAdministrator(call))
        throw refuse('FORBIDDEN', `Only managers of the ${target.kind} can see its vaults.`);
      return assignments.assignments(target, call);
    },

    async putAssignments({ target: given, vaultIds, ifRevisions }, call) {
      administratorOf(call);
      const target = targetOf(given);
      checkVaultIds(vaultIds);
      const environmentVariables = await environmentVariablesOf(target, call);
      const check = (revision: number) => checkRevision(NOUN, revision, ifRevisions);
      await record({ action: 'vault.assign', targetId: target.id, data: { vault_ids: vaultIds } }, call);
      const after = await assignments.replace(target, vaultIds, { check, environmentVariables }, call);
      publishHint(target.id);
      return after;
    },

    async deleteAssignments(request, call) {
      const target = targetOf(request.target);
      await assignments.end(target, clock.now(), call);
      publishHint(target.id);
      return {};
    },
  };
}

/** Refused with the 404 of a target whose id is malformed. */
function targetOf(given: AssignmentTarget | undefined): Target {
  const { $case, value } = given?.of ?? { $case: 'agentId', value: '' };
  const target: Target = { kind: $case === 'agentId' ? 'agent' : 'assistant', id: value };
  checkTarget(target);
  return target;
}

import { administratorOf } from '../../../lib/grpc/caller.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { checkRevision } from '../../../lib/revisions.ts';
import {
  type AgentsServiceDefinition,
  CreateEnvironmentRequest,
  CreateEnvironmentResponse,
} from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { checkPage, checkSearch } from '../domain/agent-form.ts';
import {
  applyEnvironmentPatch,
  DEFAULT_ENVIRONMENT,
  type Environment,
  environmentNotFound,
  newEnvironment,
} from '../domain/environment.ts';
import { checkEnvironment, normalizeEnvironment } from '../domain/environment-form.ts';
import { checkPreconditions } from '../domain/version.ts';
import type { AgentsHandlerContext } from './context.ts';
import { environmentFormOf, environmentPatchOf } from './requests.ts';

type Methods = Pick<
  Handlers<AgentsServiceDefinition>,
  | 'createEnvironment'
  | 'listEnvironments'
  | 'getEnvironment'
  | 'updateEnvironment'
  | 'deleteEnvironment'
  | 'listEnvironmentVersions'
>;

const NOUN = 'environment';

/** The RPCs for environments. Only administrators manage environments; all users share them. */
export function environmentHandlers(context: AgentsHandlerContext): Methods {
  const { environments, runners, record, clock, ids, publishHint, waitForCaches } = context;

  return {
    async createEnvironment(request, call) {
      const { userId } = administratorOf(call);
      const form = normalizeEnvironment(environmentFormOf(request));
      checkEnvironment(form, await runners.list(clock.now(), call));
      const environment = newEnvironment(form, ids('env'), userId, clock.now());
      const creation = {
        key: request.idempotencyKey,
        request: CreateEnvironmentRequest.encode({ ...request, idempotencyKey: '' }),
        answer: CreateEnvironmentResponse.encode({ environment, replayed: false }).finish(),
      };
      const { environmentId, name } = environment;
      await record({ action: 'environment.create', targetId: environmentId, data: { name } }, call);
      const { answer, replayed } = await environments.create(environment, creation, call);
      return { ...CreateEnvironmentResponse.decode(answer), replayed };
    },

    async listEnvironments({ page, q }, call) {
      const { userId } = administratorOf(call);
      checkSearch(q);
      const { items, nextCursor } = await environments.list(userId, q, checkPage(page), call);
      return { environments: items, page: { nextCursor } };
    },

    async getEnvironment({ environmentId }, call) {
      administratorOf(call);
      const environment = await environments.environment(environmentId || DEFAULT_ENVIRONMENT, call);
      if (!environment) throw environmentNotFound();
      return { environment };
    },

    async updateEnvironment(request, call) {
      const { userId } = administratorOf(call);
      const patch = normalizeEnvironment(environmentPatchOf(request));
      const reporting = await runners.list(clock.now(), call);
      checkEnvironment(patch, reporting);
      const change = (environment: Environment) => {
        checkPreconditions(NOUN, { ...environment, revision: environment.version }, request);
        // A new sandbox has to match the existing network, and a new network the existing sandbox.
        if (patch.sandbox || patch.network)
          checkEnvironment({ ...environment.spec, ...present(patch) }, reporting);
        return applyEnvironmentPatch(environment, patch, clock.now());
      };
      const data = { changes: Object.keys(present(patch)) };
      await record({ action: 'environment.update', targetId: request.environmentId, data }, call);
      const { before, after } = await environments.change(userId, request.environmentId, change, call);
      const isSwitched = patch.enabled !== undefined;
      // Publish even if nothing changed: an equal request may be in progress, or its answer may have been lost.
      if (after !== before || isSwitched) publishHint('environments.changed', after.environmentId);
      if (isSwitched) await waitForCaches();
      return { environment: after };
    },

    async deleteEnvironment({ environmentId, ifRevisions }, call) {
      administratorOf(call);
      const check = (version: number) => checkRevision(NOUN, version, ifRevisions);
      await record({ action: 'environment.delete', targetId: environmentId }, call);
      await environments.delete(environmentId, check, clock.now(), call);
      publishHint('environments.changed', environmentId);
      return {};
    },

    async listEnvironmentVersions({ environmentId, page }, call) {
      const { userId } = administratorOf(call);
      const pageRequest = checkPage(page);
      if (!(await environments.environment(environmentId, call))) throw environmentNotFound();
      const { items, nextCursor } = await environments.versions(userId, environmentId, pageRequest, call);
      return { versions: items, page: { nextCursor } };
    },
  };
}

function present<Patch extends object>(patch: Patch): Partial<Patch> {
  return Object.fromEntries(
    Object.entries(patch).filter(([, value]) => value !== undefined),
  ) as Partial<Patch>;
}

import { administratorOf } from '../../../lib/grpc/caller.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import {
  type AgentsServiceDefinition,
  CreateEnvironmentRequest,
  CreateEnvironmentResponse,
} from '../../../proto/gen/ahs/agents/v1/agents.ts';
import {
  changedEnvironment,
  type Environment,
  environmentNotFound,
  newEnvironment,
} from '../domain/environment.ts';
import { checkEnvironment, tidyEnvironment } from '../domain/environment-form.ts';
import { checkPage, checkSearch } from '../domain/form.ts';
import { checkVersion } from '../domain/version.ts';
import { environmentOf, environmentPatchOf } from '../requests.ts';
import type { HandlerContext } from './context.ts';

type Methods = Pick<
  Handlers<AgentsServiceDefinition>,
  | 'createEnvironment'
  | 'listEnvironments'
  | 'getEnvironment'
  | 'updateEnvironment'
  | 'deleteEnvironment'
  | 'listEnvironmentVersions'
>;

/** Environments are kept by administrators, for all. */
export function environmentHandlers(context: HandlerContext): Methods {
  const { environments, record, clock, ids, hint, settle } = context;

  return {
    async createEnvironment(request, call) {
      const { userId } = administratorOf(call);
      const form = tidyEnvironment(environmentOf(request));
      checkEnvironment(form);
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
      const environment = await environments.environment(environmentId, call);
      if (!environment) throw environmentNotFound();
      return { environment };
    },

    async updateEnvironment(request, call) {
      const { userId } = administratorOf(call);
      const patch = tidyEnvironment(environmentPatchOf(request));
      checkEnvironment(patch);
      const change = (environment: Environment) => {
        checkVersion('environment', environment, request.ifVersion);
        // A part fits, or does not, to what is there of the other one.
        if (patch.sandbox || patch.network) checkEnvironment({ ...environment.spec, ...present(patch) });
        return changedEnvironment(environment, patch, clock.now());
      };
      const data = { changes: Object.keys(present(patch)) };
      await record({ action: 'environment.update', targetId: request.environmentId, data }, call);
      const { before, after } = await environments.change(userId, request.environmentId, change, call);
      const isSwitched = patch.enabled !== undefined;
      // Said even if nothing seems to change: an equal request may be under way, or its answer lost.
      if (after !== before || isSwitched) hint('environments.changed', after.environmentId);
      if (isSwitched) await settle();
      return { environment: after };
    },

    async deleteEnvironment({ environmentId }, call) {
      administratorOf(call);
      await record({ action: 'environment.delete', targetId: environmentId }, call);
      await environments.delete(environmentId, clock.now(), call);
      hint('environments.changed', environmentId);
      return {};
    },

    async listEnvironmentVersions({ environmentId, page }, call) {
      const { userId } = administratorOf(call);
      const asked = checkPage(page);
      if (!(await environments.environment(environmentId, call))) throw environmentNotFound();
      const { items, nextCursor } = await environments.versions(userId, environmentId, asked, call);
      return { versions: items, page: { nextCursor } };
    },
  };
}

function present<Patch extends object>(patch: Patch): Partial<Patch> {
  return Object.fromEntries(
    Object.entries(patch).filter(([, value]) => value !== undefined),
  ) as Partial<Patch>;
}

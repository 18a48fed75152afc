import { refuse, refuseField } from '../../../lib/errors.ts';
import { callerOf, databaseOptionsOf } from '../../../lib/grpc/caller.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import type { Secret } from '../../../lib/secret.ts';
import {
  CreateDeploymentRequest,
  CreateDeploymentResponse,
  DeploymentsServiceDefinition,
  type Deployment as Message,
} from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { checkProvider, newConfig } from '../domain/channels/config.ts';
import { checkDeploymentType, type Deployment, type DeploymentType } from '../domain/deployments.ts';
import { checkMetadata, checkName, checkSettings } from '../domain/schedules/check.ts';
import { refuseSchedule } from '../domain/schedules/refusal.ts';
import { checkPromptPrefix } from '../domain/webhooks.ts';
import type { DeploymentCreation } from '../store/deployments.ts';
import { openCredentialsOf } from './channels/sealed-credentials.ts';
import type { DeploymentsHandlerContext } from './context.ts';

type Methods = Pick<Handlers<DeploymentsServiceDefinition>, 'createDeployment'>;

/** Deployments of one agent. */
const MAX_DEPLOYMENTS = 10_000;

/** The parts that differ between the types. */
interface CreationDetails {
  message: Message;
  /** Null for other types than webhooks. */
  sealedSecret: string | null;
  /** The secret that is returned once. */
  secret: Secret | undefined;
  insertDetails: DeploymentCreation['insertDetails'];
}

type PrepareCreation = (
  request: CreateDeploymentRequest,
  deployment: Deployment,
  call: Call,
) => Promise<CreationDetails>;

export function creationHandlers(context: DeploymentsHandlerContext): Methods {
  const { store, schedules, channels, messages, changes, channelChanges, agents, record, clock, ids } =
    context;
  const { sessionCheck, refreshBots, limits, newSecret, sealer, wakeTickers, wakeWorkers } = context;

  /** Returns the name of the agent. */
  async function requireDeployable(agentId: string, call: Call): Promise<string> {
    const { agent } = await agents.getAgent({ agentId }, call);
    if (agent?.level !== 'manage') throw refuse('FORBIDDEN', 'Only managers of the agent can deploy it.');
    return agent.name;
  }

  async function requireFreePlace(agentId: string, call: Call): Promise<void> {
    if ((await store.countOfAgent(agentId, MAX_DEPLOYMENTS, call)) < MAX_DEPLOYMENTS) return;
    throw refuse(
      'QUOTA_EXCEEDED',
      `The agent has ${MAX_DEPLOYMENTS} deployments, which is the limit. Delete one first.`,
    );
  }

  const prepare: Readonly<Record<DeploymentType, PrepareCreation>> = {
    async webhook({ agentId }, deployment, call) {
      const agentName = await requireDeployable(agentId, call);
      await requireFreePlace(agentId, call);
      const { shared, sealed } = newSecret(deployment.deploymentId);
      const message = messages.webhook(deployment, agentName);
      return { message, sealedSecret: sealed, secret: shared, insertDetails: undefined };
    },

    async schedule({ agentId, schedule: request }, deployment, call) {
      if (!request) throw refuseSchedule('', 'must have the settings of a schedule');
      const { createdAt, createdBy: ownerId } = deployment;
      const settings = checkSettings(request, createdAt, limits);
      const agentName = await requireDeployable(agentId, call);
      if (settings.sessionId) await sessionCheck(settings.sessionId, { ownerId, agentId }, call);
      await requireFreePlace(agentId, call);
      const schedule = changes.create(deployment, settings);
      return {
        message: messages.newSchedule({ deployment, schedule }, agentName),
        sealedSecret: null,
        secret: undefined,
        insertDetails: (tx) => schedules.insert(tx, schedule, ownerId),
      };
    },

    async channel({ agentId, channel: request }, deployment, call) {
      if (!request) throw refuseField('/provider', 'is required');
      const provider = checkProvider(request.provider);
      const config = newConfig(provider, request.config);
      const given = openCredentialsOf(request.credentials, sealer, 'createDeployment', call);
      const created = channelChanges.create(deployment, provider, config, given);
      const agentName = await requireDeployable(agentId, call);
      await requireFreePlace(agentId, call);
      await refreshBots(provider, call);
      return {
        message: messages.newChannel(created, agentName, created.connection),
        sealedSecret: null,
        secret: created.sharedSecret,
        insertDetails: (tx) => channels.insert(tx, created),
      };
    },
  };

  function newDeployment(request: CreateDeploymentRequest, call: Call): Deployment {
    const { userId } = callerOf(call);
    const type = checkDeploymentType(request.type);
    const isWebhook = type === 'webhook';
    if (!isWebhook) checkMetadata(request.metadata);
    const now = clock.now();
    return {
      deploymentId: ids('dep'),
      createdBy: userId,
      agentId: request.agentId,
      type,
      status: 'enabled',
      promptPrefix: isWebhook ? checkPromptPrefix(request.promptPrefix) : undefined,
      name: isWebhook ? '' : checkName(request.name),
      metadata: isWebhook ? {} : request.metadata,
      revision: isWebhook ? 0 : 1,
      createdAt: now,
      updatedAt: now,
    };
  }

  /** Callers of the previous release cannot open a sealed secret. */
  function secretFor(
    { acceptsSealedSecret }: CreateDeploymentRequest,
    secret: Secret | undefined,
    call: Call,
  ) {
    if (!secret) return { sealedSharedSecret: undefined };
    if (!acceptsSealedSecret) return { sharedSecret: secret.reveal(), sealedSharedSecret: undefined };
    const sealed = { contract: DeploymentsServiceDefinition, method: 'createDeployment', ...call } as const;
    return { sealedSharedSecret: sealer.seal({ shared_secret: secret }, sealed) };
  }

  return {
    async createDeployment(request, call) {
      const deployment = newDeployment(request, call);
      const { type, deploymentId, agentId } = deployment;
      const { message, sealedSecret, secret, insertDetails } = await prepare[type](request, deployment, call);
      const creation = {
        deployment,
        sealedSecret,
        insertDetails,
        idempotencyKey: request.idempotencyKey,
        request: CreateDeploymentRequest.encode(comparable(request)),
        response: encodedResponse(message),
      };
      await record(
        { action: 'deployment.create', targetId: deploymentId, data: { agent_id: agentId } },
        call,
      );
      const { answer, replayed } = await store.create(creation, databaseOptionsOf(call));
      if (replayed) return { ...CreateDeploymentResponse.decode(answer), replayed };
      if (type === 'schedule') wakeTickers(deploymentId);
      if (type === 'channel') wakeWorkers(deploymentId);
      return { deployment: message, ...secretFor(request, secret, call), replayed };
    },
  };
}

/** The members that two requests with the same key have in common. The box of the credentials differs in each request. */
function comparable(request: CreateDeploymentRequest): CreateDeploymentRequest {
  const { channel } = request;
  return {
    ...request,
    idempotencyKey: '',
    // A repetition can come from an edge of another release.
    acceptsSealedSecret: undefined,
    channel: channel && { ...channel, credentials: undefined },
  };
}

function encodedResponse(deployment: Message): Uint8Array {
  return CreateDeploymentResponse.encode({
    deployment,
    replayed: false,
    sealedSharedSecret: undefined,
  }).finish();
}

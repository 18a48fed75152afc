import { expect } from 'vitest';
import { createPeerSealer, secretsIn } from '../../../../lib/grpc/sealed-for-peer.ts';
import { createIds } from '../../../../lib/ids.ts';
import { Secret } from '../../../../lib/secret.ts';
import type { ChannelChange, NewChannel } from '../../../../proto/gen/ahs/deployments/v1/channels.ts';
import {
  type CreateDeploymentRequest,
  type CreateDeploymentResponse,
  DeploymentsServiceDefinition,
} from '../../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { createFakeClock, type FakeClock } from '../../../support/clock.ts';
import { TRANSPORTS } from '../../../support/context.ts';
import { AGENT, OWNER, openDeploymentsSystem } from '../system.ts';

export const asOwner = { caller: OWNER };

export const CREDENTIALS = {
  slack: { bot_token: 'xoxb-1-2-slackbotsecret', app_token: 'xapp-1-A1-appsecret' },
  slackHttp: { bot_token: 'xoxb-1-2-slackbotsecret', signing_secret: '0123456789abcdef0123456789abcdef' },
  telegram: { bot_token: '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw' },
  discord: { bot_token: 'discord-bot-token-secret', application_id: '1234567890' },
  http: {},
} as const;

type Credentials = Readonly<Record<string, string>>;

interface ChannelOptions
  extends Partial<Pick<CreateDeploymentRequest, 'agentId' | 'name' | 'idempotencyKey'>> {
  metadata?: Record<string, string>;
  config?: NewChannel['config'];
  credentials?: Credentials;
}

interface UpdateOptions {
  name?: string;
  metadata?: Record<string, string>;
  config?: ChannelChange['config'];
  credentials?: Credentials;
  revisions?: number[];
  type?: string;
}

export type ChannelSystem = Awaited<ReturnType<typeof openChannelSystem>>;

/** A system with a fake clock, and the steps that most tests of channels share. */
export async function openChannelSystem(options: Parameters<typeof openDeploymentsSystem>[1] = {}) {
  const clock = (options.clock as FakeClock | undefined) ?? createFakeClock();
  const system = await openDeploymentsSystem(TRANSPORTS[0] ?? 'call streams', { ...options, clock });
  const { edge, context } = system;
  const ids = createIds(clock);
  const edgeSealer = createPeerSealer('edge', context.serviceSecret);

  function sealed(credentials: Credentials | undefined, method: 'createDeployment' | 'updateDeployment') {
    const requestId = ids('req');
    if (!credentials) return { requestId, box: undefined };
    const secrets = Object.entries(credentials).map(([name, value]) => [name, new Secret(value)] as const);
    const call = { contract: DeploymentsServiceDefinition, method, peer: 'deployments', requestId } as const;
    return { requestId, box: edgeSealer.seal(Object.fromEntries(secrets), call) };
  }

  /** Also returns the secret of the provider http. */
  async function requestCreation(provider: string, { credentials, config, ...more }: ChannelOptions = {}) {
    const { requestId, box } = sealed(credentials, 'createDeployment');
    const request: CreateDeploymentRequest = {
      ...{ agentId: AGENT, type: 'channel', name: 'Support', metadata: {}, idempotencyKey: '', ...more },
      ...{ schedule: undefined, acceptsSealedSecret: true },
      channel: {
        provider,
        config,
        credentials: box,
        credentialNames: Object.keys(credentials ?? {}).toSorted(),
      },
    };
    const response = await edge.createDeployment(request, { ...asOwner, requestId });
    return { ...response, sharedSecret: sharedSecretOf(response, requestId) };
  }

  function sharedSecretOf({ sealedSharedSecret }: CreateDeploymentResponse, requestId: string) {
    if (!sealedSharedSecret) return undefined;
    const call = {
      contract: DeploymentsServiceDefinition,
      method: 'createDeployment',
      peer: 'deployments',
      requestId,
    } as const;
    return secretsIn(edgeSealer.open(sealedSharedSecret, call)).shared_secret?.reveal();
  }

  /** Creates a channel with valid credentials. */
  async function create(provider: Exclude<keyof typeof CREDENTIALS, 'slackHttp'>, more: ChannelOptions = {}) {
    const credentials = provider === 'http' ? undefined : CREDENTIALS[provider];
    const { deployment, sharedSecret } = await requestCreation(provider, { credentials, ...more });
    if (!deployment) throw new Error('no channel was created');
    const { agentId, deploymentId } = deployment;
    return { deployment, deploymentId, reference: { agentId, deploymentId }, sharedSecret };
  }

  async function read(deploymentId: string) {
    const { deployment } = await edge.getDeployment({ agentId: '', deploymentId }, asOwner);
    if (!deployment?.channel) throw new Error('the deployment is no channel');
    return { ...deployment, channel: deployment.channel };
  }

  async function update(deploymentId: string, changes: UpdateOptions) {
    const { credentials, config, metadata, revisions, name, type } = changes;
    const { requestId, box } = sealed(credentials, 'updateDeployment');
    const { deployment } = await edge.updateDeployment(
      {
        ...{ agentId: '', deploymentId, name, type, schedule: undefined },
        metadata: metadata && { entries: metadata },
        channel: config || box ? { config, credentials: box } : undefined,
        ifRevisions: revisions && { revisions },
      },
      { ...asOwner, requestId },
    );
    if (!deployment?.channel) throw new Error('the deployment is no channel');
    return { ...deployment, channel: deployment.channel };
  }

  return {
    ...system,
    ...{ clock, create, requestCreation, read, update },
    /** The client of a channel worker. */
    worker: system.connection.as('channels'),
    enable: (deploymentId: string) => edge.enableDeployment({ agentId: '', deploymentId }, asOwner),
    disable: (deploymentId: string) => edge.disableDeployment({ agentId: '', deploymentId }, asOwner),
    remove: (deploymentId: string) =>
      edge.deleteDeployment({ agentId: '', deploymentId, ifRevisions: undefined }, asOwner),
    [Symbol.asyncDispose]: () => system[Symbol.asyncDispose](),
  };
}

/** A refusal with this code and, unless it is empty, a detail with this pointer. */
export function refusal(code: string, pointer = '') {
  return pointer === '' ? { code } : { code, details: [expect.objectContaining({ pointer })] };
}

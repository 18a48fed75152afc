import { describe, expect, it } from 'vitest';
import { settings } from '../../edge/config.ts';
import { openEdge } from '../../edge/server.ts';
import { readSettings } from '../../lib/env/read-settings.ts';
import type { Call } from '../../lib/grpc/contract.ts';
import { createPeerSealer } from '../../lib/grpc/sealed-for-peer.ts';
import { Secret } from '../../lib/secret.ts';
import { AuthServiceDefinition } from '../../proto/gen/ahs/auth/v1/auth.ts';
import {
  type CreateDeploymentRequest,
  type CreateDeploymentResponse,
  DeploymentsServiceDefinition,
} from '../../proto/gen/ahs/deployments/v1/deployments.ts';
import { standaloneContext } from '../../scripts/reference/access.ts';
import { createContext } from '../support/context.ts';
import { fakeService } from '../support/fake-service.ts';
import { identity } from '../support/identity.ts';

const SECRET = 'whsec_canary';
const context = createContext('');
const deployment = {
  deploymentId: `dep_${'0'.repeat(26)}`,
  agentId: `agt_${'0'.repeat(26)}`,
  agentName: 'Order desk',
  type: 'webhook',
  authenticationType: 'hmac',
  promptPrefix: undefined,
  status: 'enabled',
  triggerUrl: 'https://agents.example.org/trigger',
  createdBy: `usr_${'0'.repeat(26)}`,
  createdAt: new Date(0),
  updatedAt: new Date(0),
  name: '',
  revision: 0,
  metadata: {},
  schedule: undefined,
  scheduleStatus: undefined,
};
const NONE = { deployment, sharedSecret: undefined, sealedSharedSecret: undefined, replayed: false };

function sealedFor(call: { requestId: string | undefined }, peer = 'edge') {
  const target = {
    contract: DeploymentsServiceDefinition,
    method: 'createDeployment',
    peer,
    requestId: call.requestId,
  } as const;
  const sealer = createPeerSealer('deployments', context.serviceSecret);
  return sealer.seal({ shared_secret: new Secret(SECRET) }, target);
}

/** Creates a webhook through an edge whose deployments service responds so. */
async function create(respond: (request: CreateDeploymentRequest, call: Call) => CreateDeploymentResponse) {
  const requests: CreateDeploymentRequest[] = [];
  const createDeployment = async (request: CreateDeploymentRequest, call: Call) => {
    requests.push(request);
    return respond(request, call);
  };
  const standalone = standaloneContext();
  const clients = {
    ...standalone.clients,
    auth: fakeService(AuthServiceDefinition, { identify: async () => identity() }, 'edge', context),
    deployments: fakeService(DeploymentsServiceDefinition, { createDeployment }, 'edge', context),
  };
  const sealer = createPeerSealer('edge', context.serviceSecret);
  const config = { ...readSettings(settings, { SERVICE_PORT: '0' }, []), authMode: 'local' as const };
  const edge = await openEdge({ ...standalone, clients, sealer }, config);
  try {
    const response = await fetch(`${edge.url}/api/v1/admin/agents/${deployment.agentId}/deployments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"type":"webhook"}',
    });
    return { status: response.status, body: await response.json(), requests };
  } finally {
    await edge.stop?.();
  }
}

describe('POST /admin/agents/{agent_id}/deployments', () => {
  it('opens the secret that the deployments service sealed for the edge', async () => {
    const { body, requests } = await create((_, call) => ({ ...NONE, sealedSharedSecret: sealedFor(call) }));
    expect(body).toMatchObject({ data: { shared_secret: SECRET } });
    expect(requests[0]?.acceptsSealedSecret).toBe(true);
  });

  it('returns the secret of a deployments service of the previous release', async () => {
    const { body } = await create(() => ({ ...NONE, sharedSecret: SECRET }));
    expect(body).toMatchObject({ data: { shared_secret: SECRET } });
  });

  it('returns no secret in a replay', async () => {
    const { body } = await create(() => ({ ...NONE, replayed: true }));
    expect(body).toMatchObject({ data: { shared_secret: null } });
  });

  it.each<[string, (call: Call) => CreateDeploymentResponse['sealedSharedSecret']]>([
    ['for another request', () => sealedFor({ requestId: 'req_other' })],
    ['for another module', (call) => sealedFor(call, 'agents')],
    ['and changed', (call) => ({ box: sealedFor(call).box.subarray(1) })],
  ])('returns PEER_REJECTED without details for a secret that was sealed %s', async (_, sealed) => {
    const { status, body } = await create((__, call) => ({ ...NONE, sealedSharedSecret: sealed(call) }));
    expect(status).toBe(503);
    expect(body).toMatchObject({
      code: 'PEER_REJECTED',
      message: 'A sealed member of the call cannot be opened.',
    });
    expect(JSON.stringify(body)).not.toContain(SECRET);
  });
});

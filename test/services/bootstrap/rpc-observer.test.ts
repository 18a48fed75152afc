import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import { createPeerSealer } from '../../../lib/grpc/sealed-for-peer.ts';
import type { Observation } from '../../../lib/grpc/transport.ts';
import { createLog } from '../../../lib/log.ts';
import { createMetrics } from '../../../lib/metrics.ts';
import { Secret } from '../../../lib/secret.ts';
import { VaultsServiceDefinition } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { createRpcObserver } from '../../../services/bootstrap/rpc-observer.ts';

const CANARY = 'canary-of-a-secret';

/** Returns the log lines of an observation at the level debug. */
function logOf(observation: Partial<Observation>): string {
  let output = '';
  const destination = new Writable({
    write(chunk, _encoding, done) {
      output += chunk;
      done();
    },
  });
  const observe = createRpcObserver(createMetrics(), createLog({ level: 'debug', destination }));
  observe({
    service: 'VaultsService',
    method: 'createCredential',
    request: {},
    peer: 'edge',
    caller: undefined,
    code: 'OK',
    durationMs: 1,
    traceId: '',
    spanId: '',
    requestId: 'req_1',
    ...observation,
  });
  return output;
}

describe('the log of calls', () => {
  it.each(['OK', 'INTERNAL', 'DEPENDENCY_UNAVAILABLE', 'VAULT_SEALED', 'INVALID_REQUEST'])(
    'contains no member of a request but its ids when a call ends with %s',
    (code) => {
      const call = {
        contract: VaultsServiceDefinition,
        method: 'createCredential',
        peer: 'vaults',
        requestId: 'req_1',
      } as const;
      const secret = createPeerSealer('edge', 'a secret').seal({ token: new Secret(CANARY) }, call);
      const request = { agentId: 'agt_1', label: CANARY, secret, sharedSecret: CANARY, value: CANARY };
      const line = logOf({
        code,
        request,
        cause: refuse('INTERNAL', 'failed', { cause: new Secret(CANARY) }),
      });
      expect(line).toContain('"agent_id":"agt_1"');
      expect(line).not.toContain(CANARY);
      for (const encoding of ['base64', 'base64url', 'hex'] as const)
        expect(line).not.toContain(secret.box.toString(encoding).slice(0, 30));
      expect(line).not.toContain('"box"');
    },
  );

  it('warns of VAULT_SEALED with its cause', () => {
    const line = logOf({ code: 'VAULT_SEALED', cause: new Error('Decrypt: UNAVAILABLE') });
    expect(JSON.parse(line)).toMatchObject({ level: 'warn', err: { message: 'Decrypt: UNAVAILABLE' } });
  });
});

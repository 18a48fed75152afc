import { describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import type { Endpoint } from '../../../lib/grpc/transport.ts';
import { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import { ALL_TRANSPORTS, connect, createContext } from '../../support/context.ts';

const details = Array.from({ length: 2_000 }, (_, index) => ({
  pointer: `/members/${index}`,
  message: 'must be shorter',
}));

/** A service that refuses every call with a long message and many details. */
const endpoint: Endpoint = {
  contract: AuthServiceDefinition,
  async unary() {
    throw refuse('INVALID_REQUEST', 'm'.repeat(1024 * 1024), { details, retryAfterSeconds: 7 });
  },
  async *stream() {},
};

describe.each(ALL_TRANSPORTS)('error trailer, %s', (transport) => {
  it('carries as much of the message and details as fits', async () => {
    await using connection = await connect(AuthServiceDefinition, endpoint, transport, createContext(''));
    const refusal = await connection
      .as('edge')
      .identify({ bearer: '', login: '' })
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      code: 'INVALID_REQUEST',
      message: 'm'.repeat(4_000),
      retryAfterSeconds: 7,
    });
    const { details: kept } = refusal as { details: object[] };
    expect(kept.length).toBeGreaterThan(500);
    expect(kept).toEqual(details.slice(0, kept.length));
  });
});

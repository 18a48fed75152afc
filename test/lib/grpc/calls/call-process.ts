/** A process that serves the auth service over call streams. It prints its port. `ask` is answered, `hold` never is. */
import { systemClock } from '../../../../lib/clock.ts';
import { serveGrpc } from '../../../../lib/grpc/server.ts';
import { AuthServiceDefinition } from '../../../../proto/gen/ahs/auth/v1/auth.ts';
import { fakeEndpoint } from '../../../support/fake-service.ts';

const [serviceSecret = ''] = process.argv.slice(2);
const endpoint = fakeEndpoint(
  AuthServiceDefinition,
  {
    getUser: ({ userId }) =>
      userId === 'hold' ? new Promise(() => {}) : Promise.resolve({ user: undefined }),
  },
  'edge',
  { serviceSecret, clock: systemClock },
);
const { port } = await serveGrpc('127.0.0.1:0', [endpoint]);
console.log(port);

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import { openAuth } from '../../../services/auth/service.ts';
import { connect, createContext, TRANSPORTS } from '../../support/context.ts';
import { createDatabase } from '../../support/database.ts';

describe.each(TRANSPORTS)('auth, %s', (transport) => {
  const stack = new AsyncDisposableStack();
  let connection: Awaited<ReturnType<typeof open>>;

  async function open() {
    const database = stack.use(await createDatabase());
    const context = createContext(database.url);
    const auth = stack.adopt(await openAuth(context, { pool: 1 }), (service) => service.stop());
    return stack.use(await connect(AuthServiceDefinition, auth.endpoint, transport, context));
  }

  beforeAll(async () => {
    connection = await open();
  });
  afterAll(() => stack.disposeAsync());

  it('identifies everybody as the local administrator', async () => {
    const { user } = await connection.as('edge').identify({});
    expect(user).toEqual({
      userId: 'usr_00000000000000000000000001',
      displayName: 'Local administrator',
      roles: ['administrator'],
      enabled: true,
    });
  });

  it('refuses a user it does not know', async () => {
    const asked = connection.as('edge').getUser({ userId: 'usr_7ZZZZZZZZZZZZZZZZZZZZZZZZZ' });
    await expect(asked).rejects.toMatchObject({ code: 'USER_NOT_FOUND' });
  });

  it('refuses a service that the table does not name', async () => {
    await expect(connection.as('runner').identify({})).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  it('refuses a peer without the shared secret', async () => {
    const stranger = connection.as('edge', 'another secret of sufficient length');
    await expect(stranger.identify({})).rejects.toMatchObject({ code: 'PEER_REJECTED' });
  });
});

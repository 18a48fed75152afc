import { describe, expect, it } from 'vitest';
import { FilesServiceDefinition, type WriteContentsRequest } from '../../../proto/gen/ahs/files/v1/files.ts';
import { ALL_TRANSPORTS, connect, createContext } from '../../support/context.ts';
import { fakeEndpoint } from '../../support/fake-service.ts';

const MESSAGE: WriteContentsRequest = { kind: { $case: 'bytes', value: Buffer.from('a') } };

describe.each(ALL_TRANSPORTS)('request streams over %s', (transport) => {
  /** Sends a message and then waits until `leave` aborts, or ends the stream if it is undefined. */
  async function send(leave: AbortController | undefined): Promise<{ count: number; error: unknown }> {
    const context = createContext('');
    const received = Promise.withResolvers<{ count: number; error: unknown }>();
    const endpoint = fakeEndpoint(
      FilesServiceDefinition,
      {
        async writeContents(requests) {
          let count = 0;
          try {
            for await (const _ of requests) {
              count++;
              leave?.abort();
            }
            received.resolve({ count, error: undefined });
          } catch (error) {
            received.resolve({ count, error });
            throw error;
          }
          return { contents: [] };
        },
      },
      'edge',
      context,
    );
    await using connected = await connect(FilesServiceDefinition, endpoint, transport, context);
    async function* messages(): AsyncGenerator<WriteContentsRequest> {
      yield MESSAGE;
      if (leave) await new Promise(() => {});
    }
    const call = connected.as('edge').writeContents(messages(), leave && { signal: leave.signal });
    await (leave ? expect(call).rejects.toMatchObject({ code: 'CANCELLED' }) : call);
    return await received.promise;
  }

  it('end for the handler when the client has sent its last message', async () => {
    expect(await send(undefined)).toEqual({ count: 1, error: undefined });
  });

  it('fail for the handler when the client cancels the call before its last message', async () => {
    const { count, error } = await send(new AbortController());
    expect(count).toBe(1);
    expect(error).toBeInstanceOf(Error);
  });
});

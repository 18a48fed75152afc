import { createFileRegistry, fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, type FileDescriptorSet } from '@bufbuild/protobuf/wkt';
import { createChannel, createClient } from 'nice-grpc';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REFLECTION_DEFINITIONS } from '../../../lib/grpc/reflection.ts';
import { type GrpcServer, serveGrpc } from '../../../lib/grpc/server.ts';
import type { Endpoint } from '../../../lib/grpc/transport.ts';
import { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import type {
  ServerReflectionRequest,
  ServerReflectionResponse,
} from '../../../proto/gen/grpc/reflection/v1/reflection.ts';

type Question = ServerReflectionRequest['messageRequest'];

const UNIMPLEMENTED = 12;
const LIST: Question = { $case: 'listServices', value: '' };
const endpoint: Endpoint = {
  contract: AuthServiceDefinition,
  async unary() {
    return {};
  },
  async *stream() {},
};
const serve = (hasReflection: boolean) =>
  serveGrpc('127.0.0.1:0', [endpoint], async () => {}, { hasReflection });

/** A stream of questions that stays open until the test closes it. */
function ask(port: number, definition: (typeof REFLECTION_DEFINITIONS)[number], questions: Question[]) {
  const channel = createChannel(`127.0.0.1:${port}`);
  const open = Promise.withResolvers<void>();
  async function* requests() {
    for (const messageRequest of questions) yield { host: '', messageRequest };
    await open.promise;
  }
  const answers = createClient(definition, channel).serverReflectionInfo(requests());
  return {
    answers: answers[Symbol.asyncIterator](),
    [Symbol.dispose]: () => {
      open.resolve();
      channel.close();
    },
  };
}

describe.each(REFLECTION_DEFINITIONS)('$fullName/ServerReflectionInfo', (definition) => {
  let server: GrpcServer;
  beforeAll(async () => {
    server = await serve(true);
  });
  afterAll(() => server.stop(100));

  async function answerTo(question: Question): Promise<ServerReflectionResponse['messageResponse']> {
    using stream = ask(server.port, definition, [question]);
    const { value } = await stream.answers.next();
    return value?.messageResponse;
  }

  it('lists the services of the process', async () => {
    const names = ['ahs.auth.v1.AuthService', 'ahs.calls.v1.CallsService', 'grpc.health.v1.Health'];
    expect(await answerTo(LIST)).toEqual({
      $case: 'listServicesResponse',
      value: {
        service: [...names, 'grpc.reflection.v1.ServerReflection'].map((name) => ({ name })),
      },
    });
  });

  it.each<[string, Question]>([
    ['the name of a service', { $case: 'fileContainingSymbol', value: 'ahs.auth.v1.AuthService' }],
    ['the name of a method', { $case: 'fileContainingSymbol', value: 'ahs.auth.v1.AuthService.GetUser' }],
    ['the name of a file', { $case: 'fileByFilename', value: 'ahs/auth/v1/auth.proto' }],
  ])('returns the file and its imports for %s', async (_, question) => {
    const answer = await answerTo(question);
    if (answer?.$case !== 'fileDescriptorResponse') throw new Error(`unexpected: ${JSON.stringify(answer)}`);
    const file = answer.value.fileDescriptorProto.map((bytes) =>
      fromBinary(FileDescriptorProtoSchema, bytes),
    );
    // A registry needs the imports of a file before the file.
    file.reverse();
    const set = { $typeName: 'google.protobuf.FileDescriptorSet', file } satisfies FileDescriptorSet;
    const service = createFileRegistry(set).getService('ahs.auth.v1.AuthService');
    expect(service?.methods.map(({ name }) => name)).toContain('GetUser');
  });

  it.each<[string, Question]>([
    [
      'a contract of another process',
      { $case: 'fileContainingSymbol', value: 'ahs.agents.v1.AgentsService' },
    ],
    ['an unknown file', { $case: 'fileByFilename', value: 'ahs/auth/v2/auth.proto' }],
    ['an unknown type', { $case: 'allExtensionNumbersOfType', value: 'ahs.auth.v1.Nothing' }],
  ])('answers NOT_FOUND for %s', async (_, question) => {
    expect(await answerTo(question)).toMatchObject({ $case: 'errorResponse', value: { errorCode: 5 } });
  });
});

describe('server reflection', () => {
  const [definition] = REFLECTION_DEFINITIONS;

  it('is not offered without the setting', async () => {
    const server = await serve(false);
    using stream = ask(server.port, definition, [LIST]);
    await expect(stream.answers.next()).rejects.toMatchObject({ code: UNIMPLEMENTED });
    await server.stop(100);
  });

  it('ends open streams when the process stops', async () => {
    const server = await serve(true);
    using stream = ask(server.port, definition, [LIST]);
    await stream.answers.next();
    const stopped = server.stop(60_000);
    expect((await stream.answers.next()).done).toBe(true);
    await stopped;
  });
});

import { Server, ServerCredentials, type ServiceDefinition, status } from '@grpc/grpc-js';
import { decrypt, encrypt } from '../../../lib/aead.ts';
import type { Contract } from '../../../lib/grpc/contract.ts';
import {
  type DecryptRequest,
  type DecryptResponse,
  type EncryptRequest,
  type EncryptResponse,
  KeyManagementServiceDefinition,
  type StatusResponse,
} from '../../../proto/gen/kubernetes/kms/v2/api.ts';

/** The keys of a KMS. New texts are encrypted with the current one. */
export interface KmsKeys {
  current: string;
  byId: Record<string, Buffer>;
}

export interface KmsBehaviour {
  status(): Promise<StatusResponse>;
  encrypt(request: EncryptRequest): Promise<EncryptResponse>;
  decrypt(request: DecryptRequest): Promise<DecryptResponse>;
}

export interface KmsPlugin extends AsyncDisposable {
  socket: string;
  /** Replaces the responses of one method; undefined restores them. */
  override(behaviour: Partial<KmsBehaviour>): void;
  /** The methods that were called, in order. */
  calls: (keyof KmsBehaviour)[];
}

const ANNOTATION = 'encryption.ahs.example';

/** A KMS v2 plugin of Kubernetes that encrypts with AES-256-GCM. */
function behaviourOf(readKeys: () => KmsKeys): KmsBehaviour {
  return {
    status: async () => ({ version: 'v2', healthz: 'ok', keyId: readKeys().current }),
    async encrypt({ plaintext }) {
      const { current, byId } = readKeys();
      const ciphertext = encrypt(byId[current]!, plaintext, current);
      return { ciphertext, keyId: current, annotations: { [ANNOTATION]: Buffer.from([0, 255]) } };
    },
    async decrypt({ ciphertext, keyId, annotations }) {
      const key = readKeys().byId[keyId];
      if (!key) throw new Error(`unknown key ${keyId}`);
      if (!annotations[ANNOTATION]?.equals(Buffer.from([0, 255]))) throw new Error('annotations differ');
      return { plaintext: decrypt(key, ciphertext, keyId) };
    },
  };
}

/** Serves the plugin on a unix socket. The keys are read for each call. */
export async function startKmsPlugin(socket: string, readKeys: () => KmsKeys): Promise<KmsPlugin> {
  const normal = behaviourOf(readKeys);
  let overridden: Partial<KmsBehaviour> = {};
  const calls: (keyof KmsBehaviour)[] = [];
  const server = new Server();
  const names = ['status', 'encrypt', 'decrypt'] as const;
  const handlers = names.map((name) => [
    name,
    ({ request }: { request: never }, answer: (error: object | null, response?: unknown) => void) => {
      calls.push(name);
      const serve = overridden[name] ?? normal[name];
      serve(request).then(
        (response) => answer(null, response),
        (error: Error) => answer({ code: status.INTERNAL, details: error.message }),
      );
    },
  ]);
  server.addService(serviceDefinition(KeyManagementServiceDefinition), Object.fromEntries(handlers));
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    );
  });
  return {
    socket,
    calls,
    override: (behaviour) => (overridden = { ...overridden, ...behaviour }),
    [Symbol.asyncDispose]: async () => server.forceShutdown(),
  };
}

function serviceDefinition({ fullName, methods }: Contract): ServiceDefinition {
  const definitions = Object.entries(methods).map(([name, method]) => [
    name,
    {
      path: `/${fullName}/${method.name}`,
      requestStream: false,
      responseStream: false,
      requestSerialize: (message: unknown) => Buffer.from(method.requestType.encode(message).finish()),
      requestDeserialize: (bytes: Buffer) => method.requestType.decode(bytes),
      responseSerialize: (message: unknown) => Buffer.from(method.responseType.encode(message).finish()),
      responseDeserialize: (bytes: Buffer) => method.responseType.decode(bytes),
    },
  ]);
  return Object.fromEntries(definitions);
}

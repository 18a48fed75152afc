import { administratorOf } from '../../../lib/grpc/caller.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import { type McpConnection, McpError } from '../../../lib/mcp/open.ts';
import type {
  TestCredentialResponse,
  VaultsServiceDefinition,
} from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { type Credential, requireShared } from '../domain/credential.ts';
import { credentialHeaders } from '../domain/credential-headers.ts';
import type { VaultsHandlerContext } from './context.ts';
import { createFinders } from './find-credential.ts';

type Methods = Pick<Handlers<VaultsServiceDefinition>, 'testCredential'>;
type TestResult = Omit<TestCredentialResponse, 'checkedAt'>;

/** An administrator waits for the answer. */
const TIMEOUT_SECONDS = 20;
const MAX_BYTES = 4 * 1024 * 1024;

/** The RPC that tests a credential with its server. */
export function credentialTestHandlers(context: VaultsHandlerContext): Methods {
  const { connectMcp, opener, record, clock } = context;
  const { findVault, findCredential, findSealed, openSecret } = createFinders(context);

  /** Reads the catalogue of a server, because some servers demand no credential for the connection. */
  async function readFrom(
    url: string,
    transport: string,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<TestResult> {
    let connection: McpConnection | undefined;
    try {
      const endpoint = { url, transport, headers, timeoutSeconds: TIMEOUT_SECONDS, maxBytes: MAX_BYTES };
      connection = await connectMcp(endpoint, signal);
      await connection.readCatalogue(signal);
      return { status: 'valid', httpStatus: 200, detail: 'The server accepts the credential.' };
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      const status = error.problem === 'unauthorized' ? 'refused' : 'unreachable';
      return { status, httpStatus: error.httpStatus, detail: error.message };
    } finally {
      await connection?.close();
    }
  }

  async function testWith(
    url: string,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<TestResult> {
    const result = await readFrom(url, 'streamable_http', headers, signal);
    // A server of the deprecated transport answers a POST to its URL with such a status.
    const isOther = result.httpStatus === 404 || result.httpStatus === 405;
    if (result.status !== 'unreachable' || !isOther) return result;
    const deprecated = await readFrom(url, 'sse', headers, signal);
    return deprecated.status === 'unreachable' ? result : deprecated;
  }

  async function resultOf(credential: Credential, call: Call): Promise<TestResult> {
    const { mcpServerUrl: url, publicMembers } = credential;
    if (publicMembers?.$case === 'oauth') {
      const outcome = await opener.refresh(await findSealed(credential, call), call);
      if (outcome === 'unavailable') return NO_TOKEN;
      if (outcome === 'ended') return ENDED;
      if (url === '') return NEW_TOKEN;
    }
    const secrets = await openSecret(credential, call);
    if (!secrets) return ENDED;
    return url === '' ? NOT_SENT : testWith(url, credentialHeaders(credential, secrets), call.signal);
  }

  return {
    async testCredential(address, call) {
      administratorOf(call);
      const { vaultId, credentialId } = address;
      const credential = await findCredential(address, call);
      requireShared(await findVault(vaultId, call));
      const data = { vault_id: vaultId };
      await record({ action: 'credential.test', targetId: credentialId, data }, call);
      const result = await resultOf(credential, call);
      return { ...result, checkedAt: clock.now() };
    },
  };
}

const NOT_SENT: TestResult = {
  status: 'unknown',
  httpStatus: undefined,
  detail: 'The secret can be opened. It was not sent to a server.',
};
const NEW_TOKEN: TestResult = {
  status: 'valid',
  httpStatus: undefined,
  detail: 'The issuer gives access tokens.',
};
const NO_TOKEN: TestResult = {
  status: 'unreachable',
  httpStatus: undefined,
  detail: 'The issuer gave no access token.',
};
const ENDED: TestResult = {
  status: 'refused',
  httpStatus: undefined,
  detail: 'The issuer refuses to give access tokens.',
};

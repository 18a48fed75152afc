import { refuse } from '../../../lib/errors.ts';
import { FieldProblems } from '../../../lib/field-problems.ts';
import { administratorOf } from '../../../lib/grpc/caller.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import { type SealedForPeer, secretsIn } from '../../../lib/grpc/sealed-for-peer.ts';
import { checkRevision } from '../../../lib/revisions.ts';
import type { Secret } from '../../../lib/secret.ts';
import {
  CreateCredentialRequest,
  CreateCredentialResponse,
  VaultsServiceDefinition,
} from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { type Credential, newCredential, requireShared } from '../domain/credential.ts';
import { checkLabel, readIdentity } from '../domain/credential-form.ts';
import { checkPage } from '../domain/page.ts';
import { readSecrets } from '../domain/secret-form.ts';
import { requestWithSecrets } from '../request-digest.ts';
import { STALE } from '../store/credentials.ts';
import type { VaultsHandlerContext } from './context.ts';
import { credentialFormOf, credentialMessage } from './credential-messages.ts';
import { createFinders } from './find-credential.ts';

type Methods = Pick<
  Handlers<VaultsServiceDefinition>,
  'createCredential' | 'listCredentials' | 'getCredential' | 'updateCredential' | 'deleteCredential'
>;

const NOUN = 'credential';
/** A secret is sealed again when a rotation or another change came between. More attempts need a rotation in each. */
const MAX_ATTEMPTS = 5;

/** The RPCs for credentials. Only administrators use them, and no answer contains a secret. */
export function credentialHandlers(context: VaultsHandlerContext): Methods {
  const { credentials, sealer, peerSealer, rules, record, publishHint, clock, ids, digestKey } = context;
  const { findVault, findCredential } = createFinders(context);

  /** Returns the secret members of a request by name; none when the request has none. */
  function secretsOf(
    method: 'createCredential' | 'updateCredential',
    sealed: SealedForPeer | undefined,
    call: Call,
  ): Record<string, Secret> {
    if (!sealed) return {};
    return secretsIn(peerSealer.open(sealed, { contract: VaultsServiceDefinition, method, ...call }));
  }

  return {
    async createCredential(request, call) {
      const { userId } = administratorOf(call);
      const { vaultId, label, expiresAt } = request;
      requireShared(await findVault(vaultId, call));
      const secrets = secretsOf('createCredential', request.secret, call);
      const problems = new FieldProblems();
      checkLabel(label, problems);
      const identity = readIdentity(credentialFormOf(request), rules, problems);
      const secret = identity && readSecrets(identity.type, secrets, problems);
      problems.throwIfAny();
      if (!identity || !secret) throw refuse('INVALID_REQUEST', 'The credential has no secret.');
      const credential = newCredential(
        identity,
        ids('crd'),
        { vaultId, label, createdBy: userId, expiresAt },
        clock.now(),
      );
      const { credentialId } = credential;
      const publicRequest = CreateCredentialRequest.encode({
        ...request,
        secret: undefined,
        idempotencyKey: '',
      });
      let isRecorded = false;
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const sealed = await sealer.seal(credential, secret);
        const created = { ...credential, fingerprint: sealed.fingerprint, lastFour: sealed.lastFour };
        const creation = {
          key: request.idempotencyKey,
          request: requestWithSecrets(publicRequest, secrets),
          digestKey,
          answer: CreateCredentialResponse.encode({
            credential: credentialMessage(created),
            replayed: false,
          }).finish(),
        };
        if (!isRecorded) {
          const data = { vault_id: vaultId, type: identity.type, label };
          await record({ action: 'credential.create', targetId: credentialId, data }, call);
          isRecorded = true;
        }
        const result = await credentials.create(created, sealed, creation, call);
        if (result === STALE) continue;
        publishHint(credentialId);
        return { ...CreateCredentialResponse.decode(result.answer), replayed: result.replayed };
      }
      throw conflict();
    },

    async listCredentials({ vaultId, page }, call) {
      const { userId } = administratorOf(call);
      const pageRequest = checkPage(page);
      await findVault(vaultId, call);
      const { rows, nextCursor } = await credentials.list(userId, vaultId, pageRequest, call);
      return { credentials: rows.map(credentialMessage), page: { nextCursor } };
    },

    async getCredential(address, call) {
      administratorOf(call);
      return { credential: credentialMessage(await findCredential(address, call)) };
    },

    async updateCredential({ vaultId, credentialId, label, enabled, secret: box, ifRevisions }, call) {
      administratorOf(call);
      const address = { vaultId, credentialId };
      const secrets = secretsOf('updateCredential', box, call);
      const given = await findCredential(address, call);
      const problems = new FieldProblems();
      if (label !== undefined) checkLabel(label, problems);
      const secret = box && readSecrets(given.type, secrets, problems);
      problems.throwIfAny();
      if (secret) requireShared(await findVault(vaultId, call));
      const check = ({ revision }: Credential) => checkRevision(NOUN, revision, ifRevisions);
      check(given);
      let before = given;
      let isRecorded = false;
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const next = { ...before, generation: before.generation + 1 };
        const sealed = secret && (await sealer.seal(next, secret));
        if (!isRecorded) {
          const members = { label, enabled, secret };
          const changes = Object.entries(members).flatMap(([name, value]) =>
            value === undefined ? [] : [name],
          );
          const data = { vault_id: vaultId, changes };
          await record({ action: 'credential.update', targetId: credentialId, data }, call);
          isRecorded = true;
        }
        const patch = { label, enabled, secret: sealed };
        const after = await credentials.change(address, check, patch, clock.now(), call);
        if (after !== STALE) {
          publishHint(credentialId);
          return { credential: credentialMessage(after) };
        }
        before = await findCredential(address, call);
      }
      throw conflict();
    },

    async deleteCredential({ vaultId, credentialId, ifRevisions }, call) {
      administratorOf(call);
      const address = { vaultId, credentialId };
      await findCredential(address, call);
      const check = ({ revision }: Credential) => checkRevision(NOUN, revision, ifRevisions);
      const data = { vault_id: vaultId };
      await record({ action: 'credential.delete', targetId: credentialId, data }, call);
      await credentials.delete(address, check, call);
      publishHint(credentialId);
      return {};
    },
  };
}

function conflict() {
  return refuse('DEPENDENCY_UNAVAILABLE', 'Concurrent changes prevented the operation. Try again.', {
    retryAfterSeconds: 1,
  });
}

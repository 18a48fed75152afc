import { type Api, createApi, dataOfCreated } from '../../../support/api.ts';
import { type Bench, pause } from '../../bench.ts';
import type { Footprint } from '../../subjects/probe.ts';
import { startSingleProcess } from '../../subjects/subjects.ts';

export interface IdleCredentials {
  credentials: number;
  /** Growth of the process in bytes. */
  grown: Footprint;
}

const CREDENTIALS = 1_000;
/** The limit of a vault. */
const PER_VAULT = 200;
/** Requests at the same time. */
const SENDERS = 4;
const SETTLE_MS = 1_000;

/**
 * f': the memory of idle credentials. Each is in a vault of its own, so its data key is held, too, and was opened once. One
 * process runs all services, so the figure includes what the edge keeps.
 */
export async function measureIdleCredentials(bench: Bench): Promise<IdleCredentials> {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startSingleProcess(database.url);
  const api = createApi(subject.origin);
  const credentials = Math.max(100, Math.ceil(CREDENTIALS * bench.scale));
  await warmUp(api, credentials);
  await pause(SETTLE_MS);
  const before = await subject.footprint();
  await createCredentials(api, credentials);
  await pause(SETTLE_MS);
  const after = await subject.footprint();
  const grown = {
    heap: after.heap - before.heap,
    resident: after.resident - before.resident,
    lasting: after.lasting - before.lasting,
  };
  const mib = (bytes: number) => `${(bytes / 1_024 / 1_024).toFixed(1)} MiB`;
  bench.print(
    "f'",
    `${credentials} idle credentials: +${mib(grown.lasting)}, of which ${mib(grown.heap)} are objects; ` +
      `${mib(grown.resident)} with the growth of the young generation`,
  );
  return { credentials, grown };
}

/** Sends as many requests of each kind as the measurement, which excludes allocations that do not depend on the credentials. */
async function warmUp(api: Api, count: number): Promise<void> {
  const vaults: string[] = [];
  await repeat(count, async (index) => void vaults.push(await createVault(api, `first-${index}`)));
  await repeat(count, (index) => createCredential(api, vaults[Math.floor(index / PER_VAULT)] ?? ''));
}

async function createCredentials(api: Api, count: number): Promise<void> {
  await repeat(count, async (index) => createCredential(api, await createVault(api, `idle-${index}`)));
}

async function repeat(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const send = async () => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
}

async function createVault(api: Api, name: string): Promise<string> {
  return String(dataOfCreated(await api.post('/admin/vaults', { name })).vault_id);
}

async function createCredential(api: Api, vaultId: string): Promise<void> {
  const path = `/admin/vaults/${vaultId}/credentials`;
  const credential = { type: 'environment_variable', name: 'TOKEN', allowed_hosts: ['api.example.com'] };
  const created = dataOfCreated(await api.post(path, { ...credential, value: `secret-of-${vaultId}` }));
  const { status } = await api.post(`${path}/${created.credential_id}/test`);
  if (status !== 200) throw new Error(`the test of a credential was answered with ${status}`);
}

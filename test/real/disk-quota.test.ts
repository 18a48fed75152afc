import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statfsSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi, type Webhook } from '../support/api.ts';
import { freePort } from '../support/port.ts';
import { type Program, runProgram } from '../support/program.ts';
import { asUnprivilegedUser, UNPRIVILEGED_UID } from '../support/unprivileged-user.ts';
import { until } from '../support/wait.ts';

const MIB = 1024 * 1024;
const DISK_BYTES = 1_500 * MIB;
/** Space for the database, which grows during the tests. */
const GROWTH_BYTES = 100 * MIB;
const TIMEOUT_SECONDS = 20;
/** Time for the end of a command after its timeout. */
const END_MS = 20_000;

/** Programs that use up the disk. Each also runs longer than the disk has space. */
const ABUSES: Record<string, string> = {
  dd: 'dd if=/dev/zero of=big bs=1M',
  'fallocate in a loop': 'i=0; while fallocate -l 100M f$i; do i=$((i+1)); done',
  'dd and fallocate in an endless loop':
    'i=0; while :; do dd if=/dev/zero of=d$i bs=1M count=50 2>/dev/null; fallocate -l 50M f$i 2>/dev/null; i=$((i+1)); done',
  'a background process': '(dd if=/dev/zero of=behind bs=1M 2>/dev/null &) ; sleep 4',
  'a sparse file that is filled later':
    'truncate -s 20G sparse; ls -ls sparse; dd if=/dev/zero of=sparse bs=1M conv=notrunc',
  '300,000 empty files':
    'perl -e \'for $i (0..299) { mkdir "d$i" or die; for (1..1000) { open(F, ">d$i/$_") or die } }\'',
};

/**
 * The copy reaches a limit, or the file storage on the same disk refuses its files. Where the runner monitors the space,
 * commands cannot reserve any.
 */
const OUTCOME =
  /were discarded, because .*(limit|nearly full)|were not saved: |fallocate failed: Operation not supported/;

interface ToolResult {
  output: string;
  is_error: boolean;
}

/** The service with its embedded database on a small disk of its own. */
class SmallDisk implements AsyncDisposable {
  readonly #base = mkdtempSync(join(tmpdir(), 'ahs-small-disk-'));
  readonly #mount = join(this.#base, 'disk');
  #program: Program | undefined;
  /** How the service ended by itself. */
  problem: string | undefined;
  api!: Api;

  async start(isRoot: boolean): Promise<void> {
    const image = join(this.#base, 'image');
    writeFileSync(image, '');
    truncateSync(image, DISK_BYTES);
    mkdirSync(this.#mount);
    // Without a reserve for root, which this process could fill.
    execFileSync('mke2fs', ['-q', '-t', 'ext4', '-m', '0', image]);
    execFileSync('mount', ['-o', 'loop', image, this.#mount]);
    const data = join(this.#mount, 'data');
    mkdirSync(data, { mode: 0o700 });
    execFileSync('chmod', ['755', this.#base]);
    const prefix = isRoot ? [] : asUnprivilegedUser(UNPRIVILEGED_UID, data);
    const port = await freePort();
    const env = {
      SERVICE_DATA_DIR: data,
      SERVICE_PORT: String(port),
      SERVICE_LOG_LEVEL: 'warn',
      // Commands reach these limits within the time of the test.
      SERVICE_WORKSPACE_MAX_FILES: '20000',
      SERVICE_SANDBOX_DISK_MIB: '400',
    };
    const program = runProgram(env, [], prefix);
    this.#program = program;
    void program.exited.then((code) => {
      this.problem = `the service has ended with ${code ?? 'a signal'}: ${program.output()}`;
    });
    this.api = createApi(`http://127.0.0.1:${port}`);
    const isReady = async () =>
      (await fetch(`${this.api.origin}/readyz`).catch(() => undefined))?.ok ?? false;
    await until('the service is ready', isReady);
  }

  /** Fills the disk to the last block. Returns a function that frees the space. */
  fill(): () => void {
    const filler = join(this.#mount, 'filler');
    spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=1M']);
    spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4k', 'oflag=append', 'conv=notrunc']);
    return () => rmSync(filler);
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.#mount);
    return bavail * bsize;
  }

  get output(): string {
    return this.#program?.output() ?? '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#program?.kill('SIGTERM');
    await this.#program?.exited;
    // The kernel unmounts the copies of the service after its end.
    const isUnmounted = () => spawnSync('umount', [this.#mount]).status === 0;
    await until('the disk is unmounted', isUnmounted);
    rmSync(this.#base, { recursive: true, force: true });
  }
}

describe.each([
  ['root', 'loop file system', true],
  ['an ordinary user', 'monitored by the runner', false],
] as const)('a command that fills the disk of the database, under %s', (_, method, isRoot) => {
  const disk = new SmallDisk();
  let api: Api;
  let agent: string;
  let webhook: Webhook;

  beforeAll(async () => {
    await disk.start(isRoot);
    api = disk.api;
    const environment = await api.post('/admin/environments', {
      name: 'quick',
      sandbox: { provider: 'bubblewrap', command_timeout_seconds: TIMEOUT_SECONDS },
    });
    const { environment_id } = environment.body.data;
    agent = await api.createAgent({ model: 'rehearsal/shell', environment_id });
    webhook = await api.createWebhook(agent);
  });
  afterAll(() => disk[Symbol.asyncDispose]());
  afterEach(() => expect(disk.problem).toBeUndefined());

  async function start(script: string): Promise<{ session: string; turn: string }> {
    const { body } = await api.post(`/agents/${agent}/conversations`, { message: `$ ${script}` });
    return { session: String(body.data.session_id), turn: String(body.data.turn_id) };
  }

  async function resultOf(session: string): Promise<ToolResult | undefined> {
    const { body } = await api.get(`/sessions/${session}/events?limit=100`);
    const events = body.data as { type: string; data: ToolResult }[];
    return events.find(({ type }) => type === 'agent.tool_result')?.data;
  }

  async function run(script: string, waitMs?: number): Promise<ToolResult> {
    const { session } = await start(script);
    return until('the command has ended', () => resultOf(session), waitMs);
  }

  async function verboseOf(role: string): Promise<string> {
    const response = await fetch(`${api.origin}/readyz?verbose`);
    const { data } = (await response.json()) as { data: { in_force?: { role: string; in_force: string }[] } };
    return data.in_force?.find((fact) => fact.role === role)?.in_force ?? '';
  }

  it('is limited by the method that the banner and /readyz?verbose name', async () => {
    const limits = await verboseOf('copy limits');
    expect(limits).toContain(method);
    expect(limits).toContain('on the file system of the database and the stored files');
    expect(disk.output).toContain(method);
    expect(disk.output).toContain('SERVICE_SANDBOX_DIRECTORY');
  });

  it.each(Object.entries(ABUSES))('leaves the service working: %s', async (_name, script) => {
    const freeBefore = disk.freeBytes;
    const { output } = await run(script, TIMEOUT_SECONDS * 1_000 + END_MS);
    const notes = output.slice(-500);
    expect(notes, disk.output.slice(-2_000)).toMatch(OUTCOME);
    expect(await run('echo alive')).toMatchObject({ output: 'alive\n', is_error: false });
    expect((await api.trigger(webhook, 'echo')).status).toBe(200);
    await until('the disk is free again', () => disk.freeBytes > freeBefore - GROWTH_BYTES);
  });

  it('does not end the commands of other users', async () => {
    const patient = await start('sleep 3; echo patient > file; cat file');
    await run('dd if=/dev/zero of=big bs=1M', END_MS);
    const result = await until('the other command has ended', () => resultOf(patient.session), END_MS);
    expect(result).toMatchObject({ output: 'patient\n', is_error: false });
  });

  it('lets administrators read and end sandboxes while the disk is full, and accepts writes when it has space again', async () => {
    await run('echo exists');
    const empty = disk.fill();
    const write = () => api.post(`/agents/${agent}/conversations`, { message: 'x'.repeat(100_000) });
    await until('a write is refused', async () => (await write()).status === 507);
    const sandboxes = await api.get('/admin/sandboxes');
    expect(sandboxes).toMatchObject({ status: 200 });
    const [sandbox] = sandboxes.body.data as { sandbox_id: string }[];
    const namesCopies = async () => (await verboseOf('copy space')).includes('largest: sbx_');
    await until('/readyz?verbose names the largest copies', namesCopies);
    const ended = await api.post(`/admin/sandboxes/${sandbox?.sandbox_id}/terminate`);
    expect({ status: ended.status, body: ended.body }).toMatchObject({ status: 202 });
    empty();
    await until('writes are accepted again', async () => (await write()).status === 201);
  });
});

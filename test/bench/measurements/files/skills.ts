import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { systemClock } from '../../../../lib/clock.ts';
import { createIds } from '../../../../lib/ids.ts';
import { createLog } from '../../../../lib/log.ts';
import { createMetrics } from '../../../../lib/metrics.ts';
import type { CheckoutResponse } from '../../../../proto/gen/ahs/files/v1/files.ts';
import { openProviders } from '../../../../services/runner/sandbox-providers/open-providers.ts';
import { SkillCopies } from '../../../../services/runner/workspace/skill-copies.ts';
import type { FilesClient } from '../../../../services/runner/workspace/workspace-client.ts';
import { skillFile, tarGzOf } from '../../../services/agents/skills/archives.ts';
import { runScript, sandboxSpec } from '../../../services/runner/sandbox/run-script.ts';
import { DEFAULT_LIMITS } from '../../../services/runner/sandbox/space-fixture.ts';
import { type Bench, pause, percentile } from '../../bench.ts';
import type { Subject } from '../../subjects/subject.ts';
import { startSingleProcess } from '../../subjects/subjects.ts';

/** Times in milliseconds. */
export interface Skills {
  uploadMs: number;
  /** Unpacking the same archive, hashing its files and writing them to the disk, in one process. */
  bareUploadMs: number;
  /** Largest growth of the process's resident memory during an upload, in bytes. */
  grown: number;
  provider: string;
  /** The first command of a runner with the skill, which copies it. */
  firstMs: number;
  /** A later command in the same sandbox with the skill, and without it. */
  laterMs: number;
  bareCommandMs: number;
}

const FILES = 2_000;
const TOTAL_BYTES = 20 * 1024 * 1024;
const FILE_BYTES = Math.ceil(TOTAL_BYTES / FILES);
const UPLOADS = 5;
const COMMANDS = 40;
const LOOK_MS = 20;
const GIB_IN_MIB = 1_024;

/** k': a skill of 20 MiB in 2,000 files is uploaded, and bound into a sandbox. */
export async function measureSkills(bench: Bench): Promise<Skills> {
  const uploads = await measureUploads(bench);
  const commands = await measureCommands(bench);
  const shown = (ms: number) => `${ms.toFixed(1)} ms`;
  bench.print(
    "k'",
    `a skill of 20 MiB: upload ${shown(uploads.uploadMs)}, unpacked to disk ${shown(uploads.bareUploadMs)}; ` +
      `${commands.provider}: first command ${shown(commands.firstMs)}, later ${shown(commands.laterMs)}, ` +
      `without the skill ${shown(commands.bareCommandMs)}`,
  );
  return { ...uploads, ...commands };
}

async function measureUploads(bench: Bench): Promise<Pick<Skills, 'uploadMs' | 'bareUploadMs' | 'grown'>> {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startSingleProcess(database.url);
  await using scratch = await temporaryDirectory();
  const [ours, bare, growth]: [number[], number[], number[]] = [[], [], []];
  for (let time = 0; time < Math.max(2, UPLOADS * bench.scale); time++) {
    const archive = await archiveOf(`bench-${time}`);
    bare.push(await elapsed(() => unpack(archive, join(scratch.path, `${time}`))));
    const before = await residentOf(subject);
    let isOver = false;
    const uploading = elapsed(() => upload(subject, archive)).finally(() => {
      isOver = true;
    });
    let most = before;
    while (!isOver) {
      most = Math.max(most, await residentOf(subject));
      await pause(LOOK_MS);
    }
    ours.push(await uploading);
    growth.push(most - before);
  }
  return { uploadMs: percentile(ours, 0.5), bareUploadMs: percentile(bare, 0.5), grown: Math.max(...growth) };
}

/** The contents are text of random letters, which are compressed to three quarters. */
async function archiveOf(name: string): Promise<Buffer> {
  const files = Array.from({ length: FILES - 1 }, (_, at) => ({ name: `f${at}.txt`, data: content() }));
  return tarGzOf([{ name: 'SKILL.md', data: skillFile(name) }, ...files]);
}

const content = () => randomBytes(FILE_BYTES).toString('base64').slice(0, FILE_BYTES);

async function upload({ origin }: Subject, archive: Buffer): Promise<void> {
  const response = await fetch(`${origin}/api/v1/admin/skills`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/gzip' },
    body: new Uint8Array(archive),
  });
  if (response.status !== 201) throw new Error(`the upload was answered with ${response.status}`);
  await response.arrayBuffer();
}

async function unpack(archive: Buffer, directory: string): Promise<void> {
  await mkdir(directory);
  const entries = Readable.from([archive]).pipe(createGunzip()).pipe(extract());
  for await (const entry of entries) {
    const bytes = await buffer(entry);
    createHash('sha256').update(bytes).digest();
    await writeFile(join(directory, entry.header.name), bytes);
  }
}

async function residentOf(subject: Subject): Promise<number> {
  const [first] = await subject.usage();
  return first?.usage.rss ?? Number.NaN;
}

/** Commands of the strongest provider of this machine, in this process. With and without the skill by turns. */
async function measureCommands({
  scale,
}: Bench): Promise<Omit<Skills, 'uploadMs' | 'bareUploadMs' | 'grown'>> {
  await using scratch = await temporaryDirectory();
  const log = createLog({ level: 'silent' });
  const clock = systemClock;
  const ids = createIds(clock);
  const providers = await openProviders(
    {
      ...{ directory: scratch.path, firstUid: 1_900_000_000, readableDirectories: [], hiddenPaths: [] },
      ...{ limits: DEFAULT_LIMITS, totalMib: undefined, skillCopiesMib: GIB_IN_MIB },
    },
    { clock, ids, log, metrics: createMetrics() },
  );
  const { skillDirectory: directory, available } = providers;
  const provider = available[0];
  if (!directory || !provider) throw new Error('this machine has no sandbox provider');
  const copies = new SkillCopies({ directory, files: { checkout } as unknown as FilesClient, clock, log });
  const sandbox = await provider.create(sandboxSpec());
  try {
    const withSkill = async () => {
      using skills = await copies.acquire({ turn: TURN, signal: new AbortController().signal });
      await runScript(sandbox, 'test -f /skills/bench/f1', { skills: skills.mounts });
    };
    await runScript(sandbox, 'true');
    const firstMs = await elapsed(withSkill);
    const [later, bare]: [number[], number[]] = [[], []];
    for (let time = 0; time < Math.max(5, COMMANDS * scale); time++) {
      bare.push(await elapsed(() => runScript(sandbox, 'test -f /etc/passwd')));
      later.push(await elapsed(withSkill));
    }
    return {
      ...{ provider: provider.name, firstMs },
      ...{ laterMs: percentile(later, 0.5), bareCommandMs: percentile(bare, 0.5) },
    };
  } finally {
    await sandbox.destroy();
    providers.close?.();
  }
}

const TURN = {
  ...{ lease: { sessionId: 'ses_1', turnId: 'trn_1', fence: 1 }, agentId: 'agt_1', ownerId: 'usr_1' },
  skills: [{ id: 'skl_1', name: 'bench', version: 1, description: '', workspaceId: 'wsp_1' }],
  environmentId: '',
  trace: { traceId: '', spanId: '', sampled: false } as never,
};

async function* checkout(): AsyncGenerator<CheckoutResponse> {
  const head = { workspaceId: 'wsp_1', version: 1, whole: true, files: FILES, bytes: TOTAL_BYTES };
  yield { kind: { $case: 'head', value: head } };
  for (let at = 0; at < FILES; at++) {
    const file = { path: `f${at}`, kind: 'file', size: FILE_BYTES, sha256: '', target: '' };
    yield { kind: { $case: 'entry', value: { ...file, modifiedAt: undefined, executable: false } } };
    yield { kind: { $case: 'bytes', value: Buffer.alloc(FILE_BYTES, at) } };
  }
}

async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

async function temporaryDirectory() {
  const path = await mkdtemp(join(tmpdir(), 'ahs-bench-skills-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
